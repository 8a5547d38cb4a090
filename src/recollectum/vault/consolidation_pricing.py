"""What reading conversations would cost, before anybody is asked anything."""

from collections.abc import Iterator, Sequence

from recollectum.domain.language_model import Estimate, Prompt
from recollectum.models.language import LanguageModel
from recollectum.vault.consolidation_thinking import asks
from recollectum.vault.consolidation_working import load
from recollectum.vault.footing import Footing
from recollectum.vault.transcript import existing


def priced(footing: Footing, model: LanguageModel, session_ids: Sequence[str]) -> Estimate:
    """The most that the first questions about these conversations cost; one conversation is held at a time."""
    # The clients of providers take a while to load, and here one is loaded already.
    from recollectum.models.costs import estimate_cost  # noqa: PLC0415
    from recollectum.models.language_registry import prices  # noqa: PLC0415

    settings = footing.settings.language_model
    asked = (prompt for session_id in session_ids for prompt in _asked(footing, model, session_id))
    return estimate_cost(asked, prices(settings), max_output_tokens=settings.max_output_tokens)


def _asked(footing: Footing, model: LanguageModel, session_id: str) -> Iterator[Prompt]:
    session = footing.read(lambda tx, _: existing(tx, session_id))
    snapshot = load(footing, session_id, session.message_count)
    if snapshot is not None and snapshot.conversation:
        yield from asks(snapshot, model, footing.settings.consolidation.instructions)
