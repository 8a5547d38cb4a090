"""A vault that was once searched with another model."""

from typing import cast

from recollectum import Recollectum
from recollectum.storage.tables import generations
from recollectum.storage.tables.generations import GenerationState
from recollectum.vault.footing import Footing

OLD = '["elsewhere","old-model","",384,"plain",""]'


def add_previous_generation(owner: str) -> None:
    """Leave the generation of an older model beside the current one."""
    with Recollectum() as r:
        footing = cast("Footing", vars(r.vault(owner))["_footing"])
        footing.write(lambda tx, reading: generations.add(tx, OLD, GenerationState.PREVIOUS, reading.now))
