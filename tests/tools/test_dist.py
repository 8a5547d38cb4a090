"""What `make dist` builds can be installed in a clean environment, and works there.

CI tries one Python. The core is installed as a person does it, from our wheel and the registry. For `[all]` only our
wheels are installed: the other packages are those of the development environment, into which pip has installed
`.[all]` just before, and each requirement of the wheel is looked up among them. `INSTALL_PYTHONS=all` installs both in
full, for every Python that is found, and types the journeys of a new user into each; so does a list such as
`INSTALL_PYTHONS="3.12 3.13"`.
"""

import hashlib
import json
import os
import re
import shutil
import subprocess
import sys
import sysconfig
import tarfile
import tomllib
import zipfile
from collections.abc import Iterator
from importlib.metadata import distribution
from pathlib import Path

import pytest
from packaging.requirements import Requirement

from recollectum.upkeep.doctor.model_checks import TOPIC
from tests.docs.pages import ROOT
from tests.docs.test_extras import FRAMEWORKS
from tests.tools.clean_environments import CleanEnvironment, make_environment
from tools.dist import build, main, projects, write_index
from tools.first_start import main as time_first_start
from tools.first_start import readme_example

pytestmark = [pytest.mark.process, pytest.mark.network, pytest.mark.slow]

WANTED = os.environ.get("INSTALL_PYTHONS", "")
VERSIONS = ("3.11", "3.12", "3.13", "3.14")
RECOLLECTUM, EMBED = ROOT, ROOT / "packages" / "recollectum-embed"
MODEL = "recollectum-embed"


def pythons() -> dict[str, str]:
    """The interpreters that are tried, by version: that of the tests, or those that the variable names."""
    if not WANTED:
        return {"{}.{}".format(*sys.version_info): sys.executable}
    asked = VERSIONS if WANTED == "all" else WANTED.split()
    found = {version: _find_python(version) for version in asked}
    return {version: path for version, path in found.items() if path}


def _find_python(version: str) -> str | None:
    made = sorted(Path.home().glob(f".pyenv/versions/{version}.*/bin/python"))
    return str(made[-1]) if made else shutil.which(f"python{version}")


PYTHONS = pythons()


def _built(folder: Path, *made: Path) -> Path:
    for project in made:
        build(project, folder, ["wheel"])
    return folder


def _doctor(environment: CleanEnvironment) -> dict[str, dict[str, str]]:
    done = environment.run("recollectum", "doctor", "--json")
    assert done.returncode == 0, done.stdout + done.stderr
    return {one["topic"]: one for one in json.loads(done.stdout)["findings"]}


def _try(environment: CleanEnvironment) -> dict[str, str]:
    """Run the first commands and the README's example; return what doctor says of search."""
    where = environment.run("python", "-c", "import recollectum; print(recollectum.__file__)").stdout
    assert Path(where.strip()).is_relative_to(environment.folder)
    assert environment.run("recollectum", "init").returncode == 0
    example = environment.run("python", "-c", readme_example())
    assert (example.returncode, example.stderr) == (0, "")
    assert environment.run("recollectum", "remember", "I am vegetarian").returncode == 0
    assert "I am vegetarian" in environment.run("recollectum", "recall", "vegetarian").stdout
    return _doctor(environment)[TOPIC]


@pytest.mark.parametrize("python", PYTHONS)
def test_the_core_is_installed_from_the_wheel_and_works(python: str, tmp_path: Path) -> None:
    dist = _built(tmp_path / "dist", RECOLLECTUM)
    environment = make_environment(tmp_path / "env", dist, PYTHONS[python])
    environment.install("recollectum")
    search = _try(environment)
    assert MODEL not in search["words"]
    assert "'recollectum[local]'" in search["cure"]
    # What is missing is named with the way that this environment has, which has no pip.
    command = f"run: uv pip install --python {environment.python} "
    assert f"needs fastapi and uvicorn; {command}'recollectum[server]'" in _refused(environment, "serve")
    database = {
        "RECOLLECTUM_STORAGE__URL": "postgresql://127.0.0.1/memory",
        "RECOLLECTUM_HOME": str(tmp_path / "other"),
    }
    assert f"{command}'recollectum[postgres]'" in _refused(environment, "init", **database)
    assert f"{command}zstandard" in _refused(environment, "tasks", "save", "t-1", "--data", "{}")
    _travel(environment, search="words")


def _travel(environment: CleanEnvironment, *, search: str) -> None:
    """Type the journeys of a new user into the installed program; CI types them into the one of its own environment."""
    if not WANTED:
        return
    program = {"RECOLLECTUM_PROGRAM": str(environment.folder / "bin" / "recollectum")}
    line = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "tests/journeys"]
    given = {**os.environ, **program, "RECOLLECTUM_JOURNEY_SEARCH": search}
    done = subprocess.run(line, cwd=ROOT, env=given, capture_output=True, text=True, check=False, timeout=1200)
    assert done.returncode == 0, done.stdout[-4000:]


def _refused(environment: CleanEnvironment, *line: str, **environ: str) -> str:
    done = environment.run("recollectum", *line, **environ)
    assert done.returncode != 0
    return done.stderr


@pytest.mark.parametrize("python", PYTHONS)
def test_all_of_it_is_installed_from_the_wheels_and_works(python: str, tmp_path: Path) -> None:
    dist = _built(tmp_path / "dist", RECOLLECTUM, EMBED)
    environment = make_environment(tmp_path / "env", dist, PYTHONS[python])
    if WANTED:
        environment.install("recollectum[all]")
    else:
        environment.install("--no-index", "--no-deps", "recollectum", "recollectum-embed")
        assert list(_missing(environment, "all")) == []
        # A line of a .pth file adds the folder without the .pth files in it, which would add our own source.
        site = next(environment.folder.glob("lib/python*/site-packages"))
        (site / "others.pth").write_text(sysconfig.get_path("purelib") + "\n", encoding="utf-8")
    assert MODEL in _try(environment)["words"]
    recalled = environment.run("recollectum", "recall", "what do I eat?")
    assert "I am vegetarian" in recalled.stdout
    assert environment.run("python", "-c", "import recollectum.doors.server.listening").returncode == 0
    _travel(environment, search="semantic")


def _missing(environment: CleanEnvironment, extra: str) -> Iterator[str]:
    """The requirements of the installed wheel for an extra that the environment of the tests does not have."""
    metadata = next(environment.folder.glob("lib/python*/site-packages/recollectum-*.dist-info/METADATA"))
    for line in re.findall(r"^Requires-Dist: (.*)$", metadata.read_text(encoding="utf-8"), re.MULTILINE):
        one = Requirement(line)
        if one.marker and not one.marker.evaluate({"extra": extra}):
            continue
        if one.name == "recollectum":
            for other in one.extras:
                yield from _missing(environment, other)
        elif not one.specifier.contains(distribution(one.name).version):
            yield line


def test_a_source_distribution_builds_the_same_wheel(tmp_path: Path) -> None:
    for project in projects() if WANTED else [RECOLLECTUM]:
        out = tmp_path / project.name
        build(project, out)
        with tarfile.open(next(out.glob("*.tar.gz"))) as source:
            source.extractall(out, filter="data")
        unpacked = next(path for path in out.iterdir() if path.is_dir())
        build(unpacked, out / "again", ["wheel"])
        first, again = next(out.glob("*.whl")), next((out / "again").glob("*.whl"))
        assert _contents(again) == _contents(first)
        assert any(name.endswith("py.typed") for name in _contents(first))


def _contents(wheel: Path) -> dict[str, str]:
    with zipfile.ZipFile(wheel) as file:
        return {name: hashlib.sha256(file.read(name)).hexdigest() for name in file.namelist()}


def test_the_wheel_offers_the_extras_and_the_links() -> None:
    about = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    assert about["optional-dependencies"].keys() > FRAMEWORKS
    models = [tomllib.loads((one / "pyproject.toml").read_text(encoding="utf-8"))["project"] for one in projects()[1:]]
    assert all(one["urls"]["Homepage"] == about["urls"]["Homepage"] for one in models)
    assert set(about["urls"]) == {"Homepage", "Documentation", "Source", "Issues", "Changelog"}
    tested = [one.rpartition(" ")[2] for one in about["classifiers"] if re.search(r"Python :: 3\.\d+$", one)]
    assert tested == ["3.11", "3.12", "3.13"]


def test_the_index_names_each_distribution_with_its_digest(tmp_path: Path) -> None:
    for name in ("recollectum-1.0-py3-none-any.whl", "recollectum-1.0.tar.gz", "recollectum_embed-1.0.tar.gz"):
        (tmp_path / name).write_bytes(name.encode())
    assert write_index(tmp_path) == ["recollectum", "recollectum-embed"]
    page = (tmp_path / "simple" / "recollectum" / "index.html").read_text(encoding="utf-8")
    links = re.findall(r'href="([^"#]+)#sha256=(\w+)"', page)
    found = {(tmp_path / "simple" / "recollectum" / link).resolve(): digest for link, digest in links}
    assert len(found) == 2
    assert all(hashlib.sha256(path.read_bytes()).hexdigest() == digest for path, digest in found.items())


def test_the_first_start_needs_wheels_and_types_what_the_readme_says(tmp_path: Path) -> None:
    with pytest.raises(SystemExit, match="has no wheel; run: make dist"):
        time_first_start("recollectum", tmp_path)
    compile(readme_example(), "README.md", "exec")


def test_a_folder_with_other_things_is_not_emptied(tmp_path: Path) -> None:
    (tmp_path / "letters.txt").write_text("Dear Ada")
    with pytest.raises(SystemExit, match=r"has 'letters\.txt' in it, which is no distribution"):
        main(tmp_path)
    assert (tmp_path / "letters.txt").exists()
