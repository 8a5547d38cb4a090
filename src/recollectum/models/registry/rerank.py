"""Opens the reranker that the settings name; it loads with the first question."""

from collections.abc import Mapping
from pathlib import Path

from recollectum.domain.errors import SettingsError
from recollectum.domain.models.language_model import ModelIdentity
from recollectum.models.embedding import openai
from recollectum.models.http.client import Connect, JsonClient, connect, provider_access
from recollectum.models.http.endpoint import endpoint
from recollectum.models.limits.retry import RetryPolicy
from recollectum.models.rerank.cross_encoder import CrossEncoder
from recollectum.models.rerank.port import Reranker
from recollectum.models.rerank.remote import RemoteReranker
from recollectum.settings.model import RerankSettings
from recollectum.settings.registry import nearest

SECTION = "rerank"
_WAYS = ("off", "remote", "local")


def open_reranker(
    way: str,
    settings: RerankSettings,
    environ: Mapping[str, str],
    *,
    connect: Connect = connect,
) -> Reranker | None:
    """Return the reranker that `recall.rerank` names, or None if it is off.

    Nothing is loaded or requested yet. A ModelError means that it is not available now, a SettingsError that it never
    is with these settings.
    """
    match way:
        case "off":
            return None
        case "remote":
            return _remote(settings, environ, connect)
        case "local":
            folder = Path(_needed(settings.model, "model", "name the folder of the model")).expanduser()
            return CrossEncoder(folder, threads=settings.threads, timeout_seconds=settings.timeout_seconds)
        case _:
            raise SettingsError(
                f"recall.rerank is {way!r}, which is not a reranker; the nearest is {nearest(way, _WAYS)!r}"
            )


def _remote(settings: RerankSettings, environ: Mapping[str, str], connect: Connect) -> Reranker:
    address = _needed(settings.base_url, "base_url", "write the reranker's base URL, such as https://host/v1")
    place = endpoint(address, plain_http=settings.plain_http == "anywhere", section=SECTION)
    model = _needed(settings.model, "model", "name the model that reranks")
    variable = settings.key_variable
    let_in = provider_access(variable, environ, openai.key_headers, named=True, section=SECTION)
    identity = ModelIdentity(provider="remote", model=model, provider_key=place.provider_key(variable))
    wire = JsonClient(place, let_in, timeout_seconds=settings.timeout_seconds, connect=connect)
    # A person waits: try at most twice, and the second time only if there is time left.
    return RemoteReranker(identity, wire, RetryPolicy(attempts=2, total_seconds=settings.timeout_seconds))


def _needed(value: str, name: str, cure: str) -> str:
    if not value:
        raise SettingsError(f"{SECTION}.{name} is empty; {cure}")
    return value
