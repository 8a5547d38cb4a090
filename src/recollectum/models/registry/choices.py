"""Lists the models that the settings can name: which is in use, which could be, and what each still needs."""

from collections.abc import Callable, Iterator, Mapping
from enum import StrEnum
from urllib.parse import urlsplit

from recollectum.domain.errors import ModelError
from recollectum.domain.records import dataclass
from recollectum.models.embedding.packages import MODEL_PACKAGES, find_package, local_is_installed
from recollectum.models.language.llama import find_model, need_runtime
from recollectum.models.registry.embedding import EMBEDDING_PROVIDERS
from recollectum.models.registry.language import LANGUAGE_PROVIDERS
from recollectum.settings.model import EmbeddingSettings, LanguageModelSettings, Settings

#: Whether there is a key under the name of this environment variable.
HasKey = Callable[[str], bool]

_HERE = "this machine"
_NONE = "none"


class ModelUse(StrEnum):
    """What a model is for."""

    EMBEDDING = "embedding"
    LANGUAGE = "language"
    RERANK = "rerank"


#: The setting that chooses the model of each use.
CHOSEN_BY = {
    ModelUse.EMBEDDING: "embedding.provider",
    ModelUse.LANGUAGE: "language_model.provider",
    ModelUse.RERANK: "recall.rerank",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelChoice:
    """One model, or the choice to use none."""

    use: ModelUse
    provider: str
    #: Empty where the settings must name it first.
    model: str = ""
    active: bool = False
    #: Where texts are computed: this machine, or the host that they are sent to.
    place: str = _HERE
    #: None for a server on this machine, which is not called here.
    ready: bool | None = True
    #: What is missing; empty when nothing is.
    needs: str = ""
    #: Whether its provider charges for it.
    paid: bool = False


def list_choices(settings: Settings, environ: Mapping[str, str], has_key: HasKey) -> list[ModelChoice]:
    """Return every choice for each use; nothing is loaded, and nothing is sent."""

    def known(variable: str) -> bool:
        return bool(variable) and (bool(environ.get(variable)) or has_key(variable))

    return [
        *_embedders(settings.embedding, known),
        *_language_models(settings.language_model, known),
        *_rerankers(settings),
    ]


def _embedders(settings: EmbeddingSettings, known: HasKey) -> Iterator[ModelChoice]:
    chosen = settings.provider
    if chosen == "auto":
        chosen = "local" if settings.model or local_is_installed() else _NONE
    yield ModelChoice(use=ModelUse.EMBEDDING, provider=_NONE, active=chosen == _NONE)
    named = settings.model if chosen == "local" else ""
    in_use = named or find_package("").model
    for package in MODEL_PACKAGES:
        active = chosen == "local" and package.model == in_use
        try:
            package.open()
            needs = ""
        except ModelError as error:
            needs = _cure(error)
        yield ModelChoice(
            use=ModelUse.EMBEDDING, provider="local", model=package.model, active=active, ready=not needs, needs=needs
        )
    for name, usual in EMBEDDING_PROVIDERS.items():
        yield _remote(
            ModelUse.EMBEDDING, name, settings, chosen, known, (usual.base_url, usual.key_variable, usual.model)
        )


def _language_models(settings: LanguageModelSettings, known: HasKey) -> Iterator[ModelChoice]:
    chosen = settings.provider
    yield ModelChoice(use=ModelUse.LANGUAGE, provider=_NONE, active=chosen == _NONE)
    for name, usual in LANGUAGE_PROVIDERS.items():
        yield _remote(
            ModelUse.LANGUAGE, name, settings, chosen, known, (usual.base_url, usual.key_variable, usual.model)
        )
    model = settings.model if chosen == "local" else ""
    try:
        need_runtime()
        needs = "" if model and find_model(model) else "language_model.model, the path of a GGUF file"
    except ModelError as error:
        needs = _cure(error)
    yield ModelChoice(
        use=ModelUse.LANGUAGE, provider="local", model=model, active=chosen == "local", ready=not needs, needs=needs
    )
    if chosen == "scripted":
        yield ModelChoice(use=ModelUse.LANGUAGE, provider=chosen, active=True)


def _rerankers(settings: Settings) -> Iterator[ModelChoice]:
    chosen, own = settings.recall.rerank, settings.rerank
    yield ModelChoice(use=ModelUse.RERANK, provider="off", active=chosen == "off")
    address, model = own.base_url, own.model
    needs = " and ".join(name for name, value in (("rerank.base_url", address), ("rerank.model", model)) if not value)
    yield ModelChoice(
        use=ModelUse.RERANK,
        provider="remote",
        model=model if chosen == "remote" else "",
        active=chosen == "remote",
        place=_host(address) if address else "a server of yours",
        ready=not needs,
        needs=needs,
        paid=bool(address) and not _is_here(address),
    )
    folder = model if chosen == "local" else ""
    yield ModelChoice(
        use=ModelUse.RERANK,
        provider="local",
        model=folder,
        active=chosen == "local",
        ready=bool(folder),
        needs="" if folder else "rerank.model, the folder of a cross-encoder",
    )


def _remote(
    use: ModelUse,
    name: str,
    settings: EmbeddingSettings | LanguageModelSettings,
    chosen: str,
    known: HasKey,
    usual: tuple[str, str, str],
) -> ModelChoice:
    """Return the choice of a provider, with its usual address, key and model unless it is in use with others."""
    section = CHOSEN_BY[use].partition(".")[0]
    address, variable, model = usual
    if name == chosen:
        # Another server does not get the provider's key unless the settings say so.
        variable = settings.key_variable or ("" if settings.base_url else variable)
        address, model = settings.base_url or address, settings.model or model
    here = _is_here(address)
    missing = [f"the key {variable}"] if variable and not known(variable) else []
    missing += [] if model else [f"{section}.model"]
    # A server on this machine is not called, so nobody knows whether it runs.
    ready = None if here and not missing else not missing
    missing += [f"a server at {address}"] if here else []
    return ModelChoice(
        use=use,
        provider=name,
        model=model,
        active=name == chosen,
        place=_host(address),
        ready=ready,
        needs=" and ".join(missing),
        paid=not here,
    )


def _host(address: str) -> str:
    return _HERE if _is_here(address) else urlsplit(address).hostname or address


def _is_here(address: str) -> bool:
    return urlsplit(address).hostname in ("127.0.0.1", "localhost", "::1")


def _cure(error: ModelError) -> str:
    return str(error).rpartition("run: ")[2] if "run: " in str(error) else str(error)
