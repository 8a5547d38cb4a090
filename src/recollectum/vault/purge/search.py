"""Searches every file of a home for samples of erased text, in a separate process."""

import json
import os
import sys
from collections.abc import Callable, Collection
from pathlib import Path, PurePosixPath

from recollectum.domain.errors import StorageError
from recollectum.domain.records import dataclass
from recollectum.storage.copies import copy_name, is_database_name
from recollectum.storage.engine import CATALOG
from recollectum.storage.tables.catalog import vaults
from recollectum.vault.files.owner_files import owner_folder
from recollectum.vault.purge import search_program
from recollectum.vault.purge.environment import PurgeEnvironment
from recollectum.vault.purge.samples import ErasureSamples, revealed_text
from recollectum.vault.purge.search_program import SearchAnswer, SearchQuestion


@dataclass(frozen=True, slots=True, kw_only=True)
class ErasureSearchResult:
    """The result of searching every file."""

    samples: int
    files: int
    bytes: int
    #: Sample and file, without those that remaining text explains.
    hits: tuple[tuple[int, str], ...]
    #: The texts that were found where remaining text contains them.
    excused: tuple[str, ...] = ()
    #: Files that could not be read, each with the reason.
    unread: tuple[str, ...] = ()

    @property
    def hit_files(self) -> tuple[str, ...]:
        """The files in which something was found, relative to the home."""
        return tuple(sorted({name for _, name in self.hits}))


def search_files(
    environment: PurgeEnvironment,
    purge_id: str,
    needles: ErasureSamples,
    own: Collection[str],
    owned: Path | None,
    explains: Callable[[str | bytes, bool], bool],
) -> ErasureSearchResult:
    """Search every file except those of other owners; `explains` tells which samples remaining text accounts for.

    `own` are the ids of the vaults in question, `owned` the folder of their owner's files. `explains` gets a sample,
    and whether it is only the end of a word.
    """
    keys = environment.vault_keys()
    skipped = _names_of_other_owners(environment, own, owned)
    question = SearchQuestion(
        root=environment.home.root,
        skipped=skipped,
        others=sorted({PurePosixPath(one).name for one in skipped if is_database_name(one)}),
        needles=needles.encoded(),
        outlines=needles.outlines,
        outline_key=environment.outline_key(purge_id),
        keys=[*keys.values(), *needles.keys],
        foreign=[place for place, one in enumerate(keys) if one != CATALOG and one not in own],
    )
    answer = _run_program(question)
    # Text that remains in the vault accounts for its own files only; a copy elsewhere is a copy of what was erased.
    kept = [copy_name(one) for one in own]
    kept += [f"{owned.relative_to(environment.home.root).as_posix()}/"] if owned else []
    explained: dict[int, bool] = {}
    hits: list[tuple[int, str]] = []
    excused: set[str] = set()
    for place, name in answer.hits:
        # The end of a word is a common word elsewhere: only in a database can it be a term of the index.
        if needles.is_term(place) and not is_database_name(name):
            continue
        is_term = needles.is_term(place)
        sample = revealed_text(answer.revealed[place]) if place in answer.revealed else needles.at(place)
        if place not in explained:
            explained[place] = explains(sample, is_term)
        if not explained[place] or not (is_term or name.startswith(tuple(kept))):
            hits.append((place, name))
        elif isinstance(sample, str) and not is_term:
            excused.add(sample)
    unread = tuple(f"{name}: {why}" for name, why in sorted(answer.unread.items()))
    return ErasureSearchResult(
        samples=len(needles),
        files=answer.files,
        bytes=answer.size,
        hits=tuple(hits),
        excused=tuple(sorted(excused)),
        unread=unread,
    )


def _run_program(question: SearchQuestion) -> SearchAnswer:
    # Imported here: most programs purge nothing.
    import subprocess  # noqa: PLC0415

    # From where this package lies: it may be installed, or only on the path of this process.
    place = str(Path(search_program.__file__).parents[3])
    done = subprocess.run(
        [sys.executable, "-P", "-m", search_program.__name__],
        input=json.dumps(question.to_json()),
        env={**os.environ, "PYTHONPATH": place},
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode:
        raise StorageError(f"the search of the files ended with {done.returncode}; finish the purge again later")
    return SearchAnswer.from_json(json.loads(done.stdout))


def _names_of_other_owners(environment: PurgeEnvironment, own: Collection[str], owned: Path | None) -> list[str]:
    """Return the file name prefixes of other owners, whose files may contain the same words."""
    skipped = environment.engine.upkeep.names_of_others(own)
    root = environment.home.root
    known = environment.catalog.read(vaults.everything)
    # Only folders of known people: anything else there is nobody's, and is searched.
    folders = {owner_folder(root / "owners", entry.owner) for entry in known if entry.id not in own} - {owned}
    return skipped + sorted(f"{folder.relative_to(root).as_posix()}/" for folder in folders)
