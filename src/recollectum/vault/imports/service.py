"""Previews and runs imports of what other programs keep: conversations and memories."""

import builtins
import hashlib
import os
from collections import Counter
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import field
from datetime import UTC, datetime
from pathlib import Path

from recollectum.domain.access.caller import Scope
from recollectum.domain.errors import Conflict, InvalidInput
from recollectum.domain.ids import check_indexed, derived_id
from recollectum.domain.memory import State
from recollectum.domain.message import Message
from recollectum.domain.notice import NO_NOTICE, Notice, total
from recollectum.domain.records import dataclass
from recollectum.domain.trust import Trust
from recollectum.home.files import explain
from recollectum.policy.actions import Action
from recollectum.storage.tables.trail import quarantines
from recollectum.vault.files.foreign_sources import (
    DamagedPart,
    ForeignConversation,
    ForeignItem,
    ForeignMemory,
    ForeignSource,
    ImportReader,
    OmittedPart,
    Progress,
)
from recollectum.vault.gate import operation
from recollectum.vault.imports.writing import MOST_DAMAGE, ImportChoice, ImportTally, ImportTarget, ImportWriter
from recollectum.vault.intake.trust import check_shared_trust
from recollectum.vault.service import VaultService

#: The person of conversations that name nobody.
NOBODY = ""
_MOST_NAMES = 10
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


@dataclass(frozen=True, slots=True, kw_only=True)
class ImportContent:
    """What one file or database holds."""

    path: str
    #: What it is, such as `Claude Code transcript`.
    form: str
    conversations: int
    messages: int
    memories: int
    #: How many conversations and lists of memories each person has, where the program knows several people.
    people: Mapping[str, int]
    #: What cannot be imported, such as images, with its count.
    left_out: Mapping[str, int]
    #: The first damaged parts, at most 1,000.
    damage: tuple[DamagedPart, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class ImportPreview:
    """What was found at some paths, and what an import would read."""

    contents: tuple[ImportContent, ...]
    #: Files of no known form in folders.
    unknown: int
    #: Files that cannot be read, each with the reason.
    unreadable: tuple[tuple[str, str], ...]
    #: The id of the import; the same content has the same id, so that a second run continues the first.
    import_id: str
    sources: tuple[ForeignSource, ...] = field(repr=False, compare=False)

    @property
    def people(self) -> tuple[str, ...]:
        """The people of the other programs, sorted; empty where they know only one."""
        return tuple(sorted({name for one in self.contents for name in _named(one.people)}))


@dataclass(frozen=True, slots=True, kw_only=True)
class ForeignImport:
    """The result of importing one file or database."""

    path: str
    form: str
    conversations: int
    #: Messages that were added, and that were here already.
    added: int
    known: int
    #: Memories that were added, and that were here already.
    memories: int
    known_memories: int
    #: Messages that were left out because they repeat what memory served.
    echoes: int
    left_out: Mapping[str, int]
    #: The first damaged parts, at most 1,000.
    damage: tuple[DamagedPart, ...]
    notice: Notice = NO_NOTICE
    #: Where the file was moved after its import; None where it stays.
    moved_to: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ImportResult:
    """The result of an import."""

    files: tuple[ForeignImport, ...]
    #: The id that undoes it; None when nothing was new.
    import_id: str | None
    #: The quarantine of an earlier run that was undone: releasing it brings its content back.
    undone_by: str | None = None
    #: What was done to the texts.
    notice: Notice = NO_NOTICE


def _ignore(_: int) -> None:
    """Ignore progress."""


def _named(people: Mapping[str, int]) -> list[str]:
    return [name for name in people if name != NOBODY]


class Imports(VaultService):
    """Imports into one vault."""

    # Files are read with the rights of this process, so write permission for a vault is not enough.
    @operation(Action.FILE_FOLLOW, Scope.USER)
    def list_places(
        self, home: str | os.PathLike[str] | None = None, *, environ: Mapping[str, str] | None = None
    ) -> builtins.list[Path]:
        """Return the files and folders that agents on this machine keep, below a person's home directory.

        `environ` has the variables that tell an agent to keep its files elsewhere, such as `CLAUDE_CONFIG_DIR`.
        """
        place = Path(home) if home is not None else Path.home()
        return self._runtime.home.import_reader().discover(place, environ or {})

    @operation(Action.FILE_FOLLOW, Scope.USER)
    def preview(
        self,
        paths: Sequence[str | os.PathLike[str]],
        *,
        mapping: Mapping[str, str] | None = None,
        progress: Callable[[int], None] | None = None,
    ) -> ImportPreview:
        """Return what is in files, folders, archives and databases of other programs; nothing is written.

        A `mapping` names the fields of plain CSV, JSONL or Markdown: `text`, and if there are, `role`, `time`, `id`,
        `conversation`, `person` and `title`. `progress` gets the number of bytes that were read.
        """
        return preview_import(self._runtime.home.import_reader(), paths, mapping, progress)

    @operation(Action.FILE_FOLLOW, Scope.USER, also=(Action.SESSION_WRITE, Action.MEMORY_WRITE))
    def run(
        self,
        found: ImportPreview,
        *,
        people: Iterable[str] | None = None,
        mine: bool = False,
        foreign: bool = False,
        progress: Callable[[int], None] | None = None,
    ) -> ImportResult:
        """Import what a preview found; what is here already is not doubled, and a second run continues the first.

        Text has the trust `imported`. With `mine` the person says that it is their own, and each text has the trust of
        its speaker; with `foreign` none of it is trusted. Where a program knows several people, `people` names those
        whose conversations are imported. `progress` gets the number of messages and memories that are done.
        """
        self._check(mine=mine, foreign=foreign)
        chosen = choose_people(found, people)
        choice = ImportChoice(
            import_id=import_id_of(found, chosen, mine=mine, foreign=foreign), people=chosen, mine=mine, foreign=foreign
        )
        for source in found.sources:
            if source.moves_to is not None and source.moves_to.exists():
                raise Conflict(
                    f"{source.moves_to} exists already, so {source.path.name} cannot be moved there; move it away"
                )
        done: builtins.list[ForeignImport] = []
        for source, content in zip(found.sources, found.contents, strict=True):
            target = source.moves_to
            into = ImportTarget(self._runtime, choice, whole=target is not None, progress=progress or _ignore)
            writer = ImportWriter(into)
            with closing(source.items(_ignore)) as items:
                tally = writer.write(items)
            # What nobody chose is only in the file, which then stays as it is.
            complete = chosen is None or chosen.issuperset(_named(content.people))
            done.append(_report(source, tally, _moved(source.path, target) if target and complete else None))
        self._runtime.session_cache.clear()
        new = any(one.added or one.memories for one in done)
        return ImportResult(
            files=tuple(done),
            import_id=choice.import_id if new else None,
            undone_by=None if new else self._undone_by(choice.import_id),
            notice=total(one.notice for one in done),
        )

    @operation(Action.SESSION_WRITE, Scope.USER, also=(Action.MEMORY_WRITE,))
    def add(self, found: ImportPreview, *, mine: bool = False, foreign: bool = False) -> ImportResult:
        """Import a part of what was read on another machine; what is here already is not doubled.

        The parts of one import have the same id, and are undone together. `mine` and `foreign` are as for `run`.
        """
        self._check(mine=mine, foreign=foreign)
        import_id = check_indexed(found.import_id, "import_id")
        choice = ImportChoice(import_id=import_id, mine=mine, foreign=foreign)
        done: builtins.list[ForeignImport] = []
        for source in found.sources:
            writer = ImportWriter(ImportTarget(self._runtime, choice, whole=False, progress=_ignore))
            done.append(_report(source, writer.write(source.items(_ignore)), None))
        self._runtime.session_cache.clear()
        new = any(one.added or one.memories for one in done)
        return ImportResult(
            files=tuple(done),
            import_id=import_id if new else None,
            undone_by=None if new else self._undone_by(import_id),
            notice=total(one.notice for one in done),
        )

    def _check(self, *, mine: bool, foreign: bool) -> None:
        check_shared_trust(self.gate.owner, Trust.IMPORTED)
        if mine and foreign:
            raise InvalidInput("an import cannot be both mine and foreign; choose one")
        if mine and not self.gate.own:
            raise InvalidInput("only the owner of a vault can say that an import is their own; import it without mine")

    def _undone_by(self, import_id: str) -> str | None:
        source = f"import:{import_id}"
        standing = self._runtime.read(lambda tx, _: quarantines.standing_ones(tx))
        return next((one.id for one in standing if (one.source, one.went) == (source, State.SOFT_DELETED)), None)


@dataclass(frozen=True, slots=True)
class HandedInSource:
    """What a program on another machine read, as a source without a file."""

    handed_in: Sequence[ForeignItem]
    path: Path = Path()
    name: str = ""
    size: int = 0
    moves_to: Path | None = None

    def items(self, progress: Progress) -> Generator[ForeignItem]:
        """Yield everything, in order."""
        del progress
        yield from self.handed_in


def handed_in(items: Sequence[ForeignItem], import_id: str) -> ImportPreview:
    """Return what a program on another machine read, for `add`."""
    source = HandedInSource(items)
    return ImportPreview(contents=(), unknown=0, unreadable=(), import_id=import_id, sources=(source,))


def preview_import(
    reader: ImportReader,
    paths: Sequence[str | os.PathLike[str]],
    mapping: Mapping[str, str] | None,
    progress: Callable[[int], None] | None,
) -> ImportPreview:
    """Return what a reader finds at some paths, and the id that its import has."""
    found = reader.find([Path(path) for path in paths], mapping)
    digest = hashlib.blake2b(digest_size=16)
    contents: list[ImportContent] = []
    began: datetime | None = None
    for source in found.known:
        count = _Count(source)
        count.read(source.items(progress or _ignore))
        began = min(filter(None, (began, count.began)), default=None)
        digest.update(count.digest.digest())
        contents.append(count.content())
    return ImportPreview(
        contents=tuple(contents),
        unknown=found.unknown,
        unreadable=found.unreadable,
        import_id=derived_id("imp", began or _EPOCH, digest.hexdigest()),
        sources=found.known,
    )


def choose_people(found: ImportPreview, people: Iterable[str] | None) -> frozenset[str] | None:
    """Return the people whose conversations are imported; None for everybody, where a program knows only one."""
    if people is None:
        for one in found.contents:
            # One program that knows several people; the same person may have another name in each program.
            if len(names := _named(one.people)) > 1:
                listed = ", ".join(names[:_MOST_NAMES])
                raise InvalidInput(
                    f"{one.path} holds conversations of {len(names)} people: {listed}; name those to import "
                    "(--person NAME)"
                )
        return None
    named = frozenset(people)
    if unknown := sorted(named - set(found.people)):
        known = ", ".join(found.people[:_MOST_NAMES]) or "nobody by name"
        raise InvalidInput(f"it holds nothing of {unknown[0]!r}; it knows {known}")
    return named


class _Count:
    """Counts what a source holds, and digests what identifies it."""

    def __init__(self, source: ForeignSource) -> None:
        self.digest = hashlib.blake2b(source.name.encode(), digest_size=16)
        self.began: datetime | None = None
        self._source = source
        self._counts: Counter[str] = Counter()
        self._seen: set[str] = set()
        self._people: Counter[str] = Counter()
        self._left_out: Counter[str] = Counter()
        self._damage: list[DamagedPart] = []

    def read(self, items: Iterator[ForeignItem]) -> None:
        """Read a source to its end."""
        for item in items:
            match item:
                case ForeignConversation():
                    if item.session.id not in self._seen:
                        self._people[item.person or NOBODY] += 1
                        self._seen.add(item.session.id)
                    self.began = min(self.began or item.session.created_at, item.session.created_at)
                    self.digest.update(item.session.id.encode())
                case Message():
                    self._counts["messages"] += 1
                    self.digest.update(item.id.encode())
                case ForeignMemory():
                    self._counts["memories"] += 1
                    self.digest.update(item.native_id.encode("utf-8", "surrogatepass"))
                case OmittedPart():
                    self._left_out[item.what] += item.count
                case DamagedPart():
                    self._damage += [item] if len(self._damage) < MOST_DAMAGE else []

    def content(self) -> ImportContent:
        """Return what was counted."""
        return ImportContent(
            path=str(self._source.path),
            form=self._source.name,
            conversations=len(self._seen),
            messages=self._counts["messages"],
            memories=self._counts["memories"],
            people=dict(sorted(self._people.items())),
            left_out=dict(self._left_out),
            damage=tuple(self._damage),
        )


def import_id_of(found: ImportPreview, people: frozenset[str] | None, *, mine: bool, foreign: bool) -> str:
    """Return the id of the import: of the content, and of the choices about it."""
    if people is None and not mine and not foreign:
        return found.import_id
    seed = "\x1f".join((found.import_id, *sorted(people or ()), str(mine), str(foreign)))
    return derived_id("imp", _EPOCH, seed)


def _report(source: ForeignSource, tally: ImportTally, moved: Path | None) -> ForeignImport:
    return ForeignImport(
        path=str(source.path),
        form=source.name,
        conversations=tally.counts["conversations"],
        added=tally.counts["added"],
        known=tally.counts["known"],
        memories=tally.counts["memories"],
        known_memories=tally.counts["known_memories"],
        echoes=tally.counts["echoes"],
        left_out=dict(tally.left_out),
        damage=tuple(tally.damage),
        notice=tally.notice,
        moved_to=str(moved) if moved else None,
    )


def _moved(path: Path, target: Path) -> Path:
    """Move a file after its import; a crash before this is repaired by the next import, which finds nothing new."""
    try:
        path.rename(target)
    except OSError as error:
        raise explain(error, target) from error
    return target
