"""A vault that was once searched with another model."""

from typing import cast

from recollectum import Recollectum
from recollectum.storage.tables.index import generations
from recollectum.storage.tables.index.generations import GenerationState
from recollectum.vault.runtime import VaultRuntime

OLD = '["elsewhere","old-model","",384,"plain",""]'


def add_previous_generation(owner: str) -> None:
    """Leave the generation of an older model beside the current one."""
    with Recollectum() as r:
        runtime = cast("VaultRuntime", vars(r.vault(owner))["_runtime"])
        runtime.write(lambda tx, reading: generations.add(tx, OLD, GenerationState.PREVIOUS, reading.now))
