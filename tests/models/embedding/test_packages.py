"""The packages with local models: their files are those whose digests are written down, and one is chosen by name."""

import hashlib
import re
import subprocess
import sys
import tomllib
from hashlib import sha256
from pathlib import Path

import pytest

from recollectum.domain.errors import SettingsError
from recollectum.models.embedding.local import LocalEmbedder
from recollectum.models.embedding.packages import MODEL_PACKAGES, ModelPackage, find_package

ROOT = Path(__file__).parents[3]
BY_NAME = pytest.mark.parametrize("package", MODEL_PACKAGES, ids=lambda package: package.model)
#: The bytes that a model may take.
LARGEST = {"recollectum-embed": 35_000_000, "recollectum-embed-quick": 21_000_000, "gte-small": 35_000_000}


@BY_NAME
def test_each_file_is_the_one_whose_digest_is_written_down(package: ModelPackage) -> None:
    model = package.open()
    for path, digest in ((model.model, model.model_sha256), (model.tokenizer, model.tokenizer_sha256)):
        data = path.read_bytes()
        assert hashlib.sha256(data).hexdigest() == digest
        notice = path.with_name("NOTICE").read_text()
        assert digest in notice
        assert f"{len(data):,} bytes" in notice


@BY_NAME
def test_the_shape_of_its_vectors_is_known_and_its_file_is_small(package: ModelPackage) -> None:
    model = package.open()
    assert (model.name, model.dimensions, model.max_tokens) == (package.model, 384, 512)
    assert model.model.stat().st_size <= LARGEST[package.model]


@BY_NAME
def test_its_identity_is_its_name_and_the_digest_of_both_files(package: ModelPackage) -> None:
    model = package.open()
    identity = LocalEmbedder(model).identity
    digest = sha256(f"{model.model_sha256}{model.tokenizer_sha256}".encode()).hexdigest()
    assert (identity.provider, identity.model, identity.digest) == ("local", package.model, digest)


@BY_NAME
def test_it_is_built_alone_with_its_licence_and_installed_by_its_extra(package: ModelPackage) -> None:
    distribution = package.module.replace("_", "-")
    project = tomllib.loads((ROOT / "packages" / distribution / "pyproject.toml").read_text())
    assert (project["project"]["name"], project["project"]["dependencies"]) == (distribution, [])
    source = ROOT / "packages" / distribution
    assert all((source / path).is_file() for path in project["project"]["license-files"])
    assert project["tool"]["hatch"]["build"]["targets"]["wheel"] == {"packages": [f"src/{package.module}"]}
    extras = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["optional-dependencies"]
    named = {extra for extra, needs in extras.items() if distribution in {re.split(r"[<>=]", one)[0] for one in needs}}
    assert named == ({package.extra} if package.extra else set())


def test_the_packages_of_the_repository_are_the_known_ones() -> None:
    folders = {path.name for path in (ROOT / "packages").iterdir() if (path / "pyproject.toml").exists()}
    assert folders == {package.module.replace("_", "-") for package in MODEL_PACKAGES}


def test_an_unknown_name_is_refused_with_the_known_ones() -> None:
    with pytest.raises(SettingsError) as error:
        find_package("bge-small")
    assert str(error.value) == (
        "embedding.model is 'bge-small', which the local embedder does not have; use 'recollectum-embed', "
        "'recollectum-embed-quick' or 'gte-small', or name its provider in embedding.provider"
    )


_CHOOSES = """
import sys
for name in {missing!r}:
    sys.modules[name] = None
from recollectum.models.embedding.packages import find_package, local_is_installed
print(find_package("").model, local_is_installed())
"""


@pytest.mark.process
@pytest.mark.parametrize(
    ("missing", "chosen"),
    [
        ([], "recollectum-embed True"),
        (["recollectum_gte_small"], "recollectum-embed True"),
        (["recollectum_embed"], "recollectum-embed-quick True"),
        (["recollectum_embed", "recollectum_embed_quick"], "gte-small True"),
        (["recollectum_embed", "recollectum_embed_quick", "recollectum_gte_small"], "recollectum-embed False"),
        (["onnxruntime"], "recollectum-embed False"),
    ],
)
def test_without_a_name_the_first_that_is_installed_is_chosen(missing: list[str], chosen: str) -> None:
    program = _CHOOSES.format(missing=missing)
    run = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert run.stdout == f"{chosen}\n"
