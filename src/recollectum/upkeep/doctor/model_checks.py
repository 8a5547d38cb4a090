"""Checks the embedding model: which one the settings give, and whether its files are those that were shipped."""

from collections.abc import Iterator

from recollectum.domain.errors import ModelMissing, SettingsError
from recollectum.home.install_command import install_command
from recollectum.models.embedding.local import LocalEmbedder
from recollectum.models.embedding.packages import MODEL_PACKAGES, find_package, local_is_installed
from recollectum.settings.model import EmbeddingSettings
from recollectum.upkeep.doctor.home_checks import HealthFinding, Severity, fine

TOPIC = "search"


def how_to_get_more() -> str:
    """Return how to get more than search by words; `recollectum status` and `recollectum init` say it too."""
    return f"for semantic search run: {install_command('recollectum[local]')}"


def embedding_model(settings: EmbeddingSettings) -> Iterator[HealthFinding]:
    """Check the local model, and name the provider of any other; nothing is sent."""
    if settings.provider == "none":
        yield fine(TOPIC, "words only: embedding.provider is none")
    elif settings.provider not in ("auto", "local"):
        yield fine(TOPIC, f"semantic, and by words; texts are sent to the provider {settings.provider}")
    elif settings.provider == "auto" and not settings.model and not local_is_installed():
        yield HealthFinding(
            topic=TOPIC,
            severity=Severity.NOTE,
            words="words only, because no embedding model is installed",
            cure=how_to_get_more(),
        )
    else:
        yield _local(settings)


def _local(settings: EmbeddingSettings) -> HealthFinding:
    try:
        package = find_package(settings.model)
        LocalEmbedder(package.open()).check()
    except (ModelMissing, SettingsError) as error:
        words, _, cure = str(error).partition("; ")
        return HealthFinding(topic=TOPIC, severity=Severity.WARNING, words=words, cure=cure)
    others = [one.model for one in MODEL_PACKAGES if one.is_installed and one != package]
    also = f"; also installed: {', '.join(others)}" if others else ""
    return fine(TOPIC, f"semantic, by {package.model} on this machine, and by words; its files are as shipped{also}")
