"""Searches every file of a home for samples of erased text, in a separate process."""

import json
import sys
from collections.abc import Callable, Collection
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from recollectum.domain.errors import StorageError
from recollectum.storage.copies import is_database_name
from recollectum.vault.purge import search_program
from recollectum.vault.purge.environment import ErasureSamples, PurgeEnvironment


@dataclass(frozen=True, slots=True, kw_only=True)
class ErasureSearchResult:
    """The result of searching every file."""

    samples: int
    files: int
    bytes: int
    #: Sample and file, without those that remaining text explains.
    hits: tuple[tuple[int, str], ...]

    @property
    def hit_files(self) -> tuple[str, ...]:
        """The files in which something was found, relative to the home."""
        return tuple(sorted({name for _, name in self.hits}))


def search_files(
    environment: PurgeEnvironment,
    needles: ErasureSamples,
    own: Collection[str],
    owned: Path | None,
    explains: Callable[[int], bool],
) -> ErasureSearchResult:
    """Search every file except those of other owners; `explains` tells which hits remaining text accounts for.

    `own` are the ids of the vaults in question, `owned` the folder of their owner's files.
    """
    question = {
        "root": str(environment.home.root),
        "skipped": _names_of_other_owners(environment, own, owned),
        "needles": [one.hex() for one in needles.encoded()],
    }
    answer = _run_program(json.dumps(question))
    explained: dict[int, bool] = {}
    hits: list[tuple[int, str]] = []
    for place, name in answer["hits"]:
        # The end of a word is a common word elsewhere: only in a database can it be a term of the index.
        if needles.is_term(place) and not is_database_name(name):
            continue
        if place not in explained:
            explained[place] = explains(place)
        if not explained[place]:
            hits.append((place, name))
    return ErasureSearchResult(samples=len(needles), files=answer["files"], bytes=answer["bytes"], hits=tuple(hits))


def _run_program(question: str) -> dict[str, Any]:
    # Imported here: most programs purge nothing.
    import subprocess  # noqa: PLC0415

    program = [sys.executable, "-I", "-S", str(Path(search_program.__file__))]
    done = subprocess.run(program, input=question, capture_output=True, text=True, check=False)
    if done.returncode:
        raise StorageError(f"the search of the files ended with {done.returncode}; finish the purge again later")
    return json.loads(done.stdout)


def _names_of_other_owners(environment: PurgeEnvironment, own: Collection[str], owned: Path | None) -> list[str]:
    """Return the file name prefixes of other owners, whose files may contain the same words."""
    skipped = environment.engine.upkeep.names_of_others(own)
    owners = environment.home.root / "owners"
    for folder in sorted(owners.iterdir()) if owners.is_dir() else ():
        if folder != owned:
            skipped.append(f"owners/{folder.name}/")
    return skipped
