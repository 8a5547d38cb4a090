"""Opens the embedder that the settings name; its model loads with the first text."""

from collections.abc import Callable, Mapping

from recollectum.domain.errors import SettingsError
from recollectum.domain.models.embedder import EmbedderIdentity, Purpose
from recollectum.domain.records import dataclass
from recollectum.models.embedding import gemini, ollama, openai
from recollectum.models.embedding.batching import BatchingEmbedder
from recollectum.models.embedding.cache import CachedEmbedder, LatestVectors
from recollectum.models.embedding.local import LocalEmbedder
from recollectum.models.embedding.packages import find_package, local_is_installed
from recollectum.models.embedding.port import Embedder
from recollectum.models.embedding.remote import EmbeddingDialect, RemoteEmbedder
from recollectum.models.http.client import Connect, JsonClient, KeyHeaders, connect, provider_access
from recollectum.models.http.endpoint import endpoint
from recollectum.models.limits.retry import RetryingEmbedder, RetryPolicy
from recollectum.settings.model import EmbeddingSettings
from recollectum.settings.registry import nearest

#: Tokens in one call: far below the providers' limits, and enough that the round trip does not matter.
_CALL_TOKENS = 20_000


@dataclass(frozen=True, slots=True, kw_only=True)
class _Provider:
    """The defaults of a provider."""

    base_url: str
    model: str
    #: Sent to the provider's own address only: another server must not get the key by default.
    key_variable: str
    key_headers: KeyHeaders
    dialect: Callable[[str, int], EmbeddingDialect]
    max_batch: int = 2048


#: By the name in `embedding.provider`.
EMBEDDING_PROVIDERS = {
    "openai": _Provider(
        base_url=openai.BASE_URL,
        model=openai.MODEL,
        key_variable=openai.KEY_VARIABLE,
        key_headers=openai.key_headers,
        dialect=openai.OpenAI,
    ),
    "gemini": _Provider(
        base_url=gemini.BASE_URL,
        model=gemini.MODEL,
        key_variable=gemini.KEY_VARIABLE,
        key_headers=gemini.key_headers,
        dialect=gemini.Gemini,
        max_batch=gemini.MAX_BATCH,
    ),
    "ollama": _Provider(
        base_url=ollama.BASE_URL,
        model=ollama.MODEL,
        key_variable="",
        key_headers=openai.key_headers,
        dialect=ollama.Ollama,
    ),
}


def open_embedder(
    settings: EmbeddingSettings, environ: Mapping[str, str], *, connect: Connect = connect
) -> Embedder | None:
    """Return the embedder of these settings, or None if search is by words only.

    Nothing is loaded or requested yet. A ModelError means that the embedder is not available now, a SettingsError that
    it never is with these settings.
    """
    found = _bare(settings, environ, connect)
    if found is None or not settings.query_cache_entries:
        return found
    # Passages are many and seldom repeat; they would only evict the queries.
    return CachedEmbedder(found, LatestVectors(settings.query_cache_entries), purposes=[Purpose.QUERY])


def _bare(settings: EmbeddingSettings, environ: Mapping[str, str], connect: Connect) -> Embedder | None:
    match settings.provider:
        case "none":
            return None
        case "auto":
            # A model that somebody named and that is not installed is an error, and not a reason to use none.
            return _local(settings) if settings.model or local_is_installed() else None
        case "local":
            return _local(settings)
        case name if name in EMBEDDING_PROVIDERS:
            return _remote(name, settings, environ, connect)
        case name:
            near = nearest(name, ("auto", "local", "none", *EMBEDDING_PROVIDERS))
            raise SettingsError(f"embedding.provider is {name!r}, which is not a provider; the nearest is {near!r}")


def _local(settings: EmbeddingSettings) -> Embedder:
    return LocalEmbedder(find_package(settings.model).open(), threads=settings.threads)


def _remote(name: str, settings: EmbeddingSettings, environ: Mapping[str, str], connect: Connect) -> Embedder:
    usual = EMBEDDING_PROVIDERS[name]
    place = endpoint(settings.base_url or usual.base_url, plain_http=settings.plain_http == "anywhere")
    variable = settings.key_variable or ("" if settings.base_url else usual.key_variable)
    model = settings.model or usual.model
    dialect = usual.dialect(model, settings.dimensions)
    identity = EmbedderIdentity(
        provider=name,
        model=model,
        digest="",
        dimensions=settings.dimensions,
        form=dialect.prompts.form,
        provider_key=place.provider_key(variable),
    )
    let_in = provider_access(variable, environ, usual.key_headers, named=bool(settings.key_variable))
    wire = JsonClient(place, let_in, timeout_seconds=settings.timeout_seconds, connect=connect)
    return BatchingEmbedder(
        RetryingEmbedder(
            RemoteEmbedder(identity, dialect, wire),
            passages=RetryPolicy(total_seconds=6 * settings.timeout_seconds),
            queries=RetryPolicy(attempts=2, total_seconds=settings.timeout_seconds),
        ),
        texts=min(settings.batch, usual.max_batch),
        tokens=_CALL_TOKENS,
        concurrency=settings.concurrency,
    )
