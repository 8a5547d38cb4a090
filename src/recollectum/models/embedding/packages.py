"""Knows the packages that carry a local embedding model, and finds the installed ones without importing them."""

from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Protocol, cast

from recollectum.domain.errors import ModelMissing, SettingsError
from recollectum.domain.records import dataclass
from recollectum.home.install_command import install_command, pip_command
from recollectum.models.onnx import LocalModel

#: The modules that compute every local model.
_RUNTIME = ("numpy", "onnxruntime", "tokenizers")


class _Files(Protocol):
    """The constants of a package with a model."""

    NAME: str
    MODEL: Path
    MODEL_SHA256: str
    TOKENIZER: Path
    TOKENIZER_SHA256: str
    DIMENSIONS: int
    MAX_TOKENS: int


@dataclass(frozen=True, slots=True)
class ModelPackage:
    """A package that carries the files of one model."""

    #: The name of the model in `embedding.model`.
    model: str
    module: str
    #: The extra of Recollectum that installs it together with what computes it, if there is one.
    extra: str | None = None

    @property
    def is_installed(self) -> bool:
        """Return whether the package is installed."""
        return find_spec(self.module) is not None

    @property
    def distribution(self) -> str:
        """Return the name under which the package is installed."""
        return self.module.replace("_", "-")

    def open(self) -> LocalModel:
        """Return where the files of the model are; raise ModelMissing, with the cure, for what is not installed."""
        if missing := [name for name in (*_RUNTIME, self.module) if not find_spec(name)]:
            wanted = [f"recollectum[{self.extra}]"] if self.extra else [name.replace("_", "-") for name in missing]
            raise ModelMissing(f"the local embedder needs {' and '.join(missing)}; run: {install_command(*wanted)}")
        files = cast("_Files", import_module(self.module))
        return LocalModel(
            name=files.NAME,
            model=files.MODEL,
            model_sha256=files.MODEL_SHA256,
            tokenizer=files.TOKENIZER,
            tokenizer_sha256=files.TOKENIZER_SHA256,
            dimensions=files.DIMENSIONS,
            max_tokens=files.MAX_TOKENS,
            # Without --force-reinstall pip leaves a damaged file as it is.
            cure=f"run: {pip_command('--force-reinstall', '--no-deps', self.distribution)}",
        )


#: The known models; where no model is named, the first one that is installed is used.
MODEL_PACKAGES = (
    ModelPackage("recollectum-embed", "recollectum_embed", "local"),
    ModelPackage("recollectum-embed-quick", "recollectum_embed_quick"),
    ModelPackage("gte-small", "recollectum_gte_small"),
)


def find_package(model: str) -> ModelPackage:
    """Return the package of a model, or of the first installed one if no name is given; refuse an unknown name."""
    if not model:
        return next((one for one in MODEL_PACKAGES if one.is_installed), MODEL_PACKAGES[0])
    for one in MODEL_PACKAGES:
        if one.model == model:
            return one
    *most, last = (repr(one.model) for one in MODEL_PACKAGES)
    raise SettingsError(
        f"embedding.model is {model!r}, which the local embedder does not have; "
        f"use {', '.join(most)} or {last}, or name its provider in embedding.provider"
    )


def local_is_installed() -> bool:
    """Return whether a local model and what computes it are installed."""
    return all(find_spec(name) for name in _RUNTIME) and any(one.is_installed for one in MODEL_PACKAGES)
