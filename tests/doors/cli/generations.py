"""A vault that was once searched with another model."""

from typing import cast

from recollect import Recollect
from recollect.storage.tables import generations
from recollect.storage.tables.generations import GenerationState
from recollect.vault.footing import Footing

OLD = '["elsewhere","old-model","",384,"plain",""]'


def add_previous_generation(owner: str) -> None:
    """Leave the generation of an older model beside the current one."""
    with Recollect() as r:
        footing = cast("Footing", vars(r.vault(owner))["_footing"])
        footing.write(lambda tx, reading: generations.add(tx, OLD, GenerationState.PREVIOUS, reading.now))
