"""The thinking of a reading: a snapshot in, findings out; no transaction is open while it lasts."""

from collections.abc import Iterator
from typing import TYPE_CHECKING

from recollectum.domain.language_model import Prompt
from recollectum.models.language import LanguageModel
from recollectum.vault.consolidation_snapshot import Snapshot

if TYPE_CHECKING:
    from recollectum.distil.reading import Distilled


def think(snapshot: Snapshot, model: LanguageModel | None, instructions: str) -> "Distilled":
    """What a conversation says that is worth keeping; a ModelError when the model did not do its work."""
    # Only now: a program that consolidates nothing has no use for the reader.
    from recollectum.distil.echo import Served  # noqa: PLC0415
    from recollectum.distil.reading import distil  # noqa: PLC0415

    return distil(
        snapshot.conversation,
        snapshot.known,
        model=model,
        instructions=instructions or None,
        barred=snapshot.barred,
        served=Served(snapshot.forgotten),
        imported=snapshot.foreign,
    )


def asks(snapshot: Snapshot, model: LanguageModel, instructions: str) -> Iterator[Prompt]:
    """What the model would be asked about a conversation, in the order of asking."""
    from recollectum.distil.echo import Served  # noqa: PLC0415 - as above
    from recollectum.distil.reading import questions  # noqa: PLC0415

    return questions(
        snapshot.conversation,
        snapshot.known,
        model=model,
        instructions=instructions or None,
        barred=snapshot.barred,
        served=Served(snapshot.forgotten),
    )
