"""`recollectum import`: recognises what other programs keep, shows it, asks, and imports it."""

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from recollectum.doors.cli.commands.sessions.own_bundles import is_own_bundle, load_own_bundle
from recollectum.doors.cli.terminal.embedding import embed_new
from recollectum.doors.cli.terminal.errors import FAILED, Misuse
from recollectum.doors.cli.terminal.flags import Run, command
from recollectum.doors.cli.terminal.output import answer, byte_progress, note, plural, step_progress, tell
from recollectum.doors.cli.terminal.prompts import confirm
from recollectum.doors.cli.terminal.sanitise import one_line
from recollectum.doors.cli.terminal.target import open_vault

if TYPE_CHECKING:
    from recollectum.doors.remote.vault import ServedVault
    from recollectum.vault.imports.service import ForeignImport, ImportContent, ImportPreview, ImportResult
    from recollectum.vault.vault import Vault

_MOST_DAMAGE = 20


def add_to(app: typer.Typer) -> None:
    """Add the command."""
    command(app, "import")(import_)


def import_(
    run: Run,
    paths: Annotated[
        list[str] | None, typer.Argument(metavar="PATH", help="Files, folders, zip exports or SQLite databases.")
    ] = None,
    *,
    discover: Annotated[
        bool, typer.Option("--discover", help="Look where the agents on this machine keep their files.")
    ] = False,
    person: Annotated[
        list[str] | None, typer.Option(metavar="NAME", help="Only of this person of the other program; repeatable.")
    ] = None,
    mapping: Annotated[
        str | None,
        typer.Option("--map", metavar="text=FIELD,…", help="Fields of a plain CSV, JSONL or Markdown file."),
    ] = None,
    mine: Annotated[
        bool, typer.Option("--mine", help="They are your own: each text gets the trust of its speaker.")
    ] = False,
    foreign: Annotated[
        bool, typer.Option("--foreign", help="They are not your own: all text gets the trust `unknown`.")
    ] = False,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Only show what would be imported.")] = False,
    yes: Annotated[bool, typer.Option("--yes", help="Do not ask.")] = False,
) -> None:
    """Import conversations and memories of other programs; what is here already is not doubled."""
    _check(paths, discover=discover, mine=mine, foreign=foreign)
    if paths and is_own_bundle([Path(path) for path in paths], mine=mine):
        load_own_bundle(run, Path(paths[0]), dry_run=dry_run, yes=yes)
        return
    fields = _fields(mapping)
    with open_vault(run, create=True) as vault:
        wanted = _discovered(run, vault, paths) if discover else [Path(path) for path in paths or ()]
        if not wanted:
            note("there are no files of an agent that Recollectum knows")
            return
        with byte_progress(_sized(wanted)) as advance:
            found = vault.admin.imports.preview(wanted, mapping=fields, progress=advance)
        if dry_run:
            answer(run, {"found": _preview_document(found)}, _preview_lines(found))
            return
        if not yes:
            for line in _preview_lines(found):
                note(line)
        if not confirm(_question(found), yes=yes):
            note("nothing was imported")
            raise typer.Exit(FAILED)
        total = sum(one.messages + one.memories for one in found.contents)
        with step_progress(run, "importing", total) as advance:
            done = vault.admin.imports.run(found, people=person, mine=mine, foreign=foreign, progress=advance)
        _tell(run, found, done)
        embed_new(run, vault)


def _check(paths: list[str] | None, *, discover: bool, mine: bool, foreign: bool) -> None:
    if mine and foreign:
        raise Misuse("--mine and --foreign contradict each other; give one of them")
    if not paths and not discover:
        raise Misuse("name a PATH to import, or give --discover")


def _discovered(run: Run, vault: "Vault | ServedVault", paths: list[str] | None) -> list[Path]:
    if paths:
        raise Misuse("--discover takes no PATH; give one or the other")
    home = run.environ.get("HOME") or run.environ.get("USERPROFILE")
    return vault.admin.imports.list_places(home, environ=run.environ)


def _sized(paths: list[Path]) -> list[str]:
    """Return the paths if all of them are files, whose sizes say how much there is to read."""
    return [str(path) for path in paths] if all(path.is_file() for path in paths) else []


def _fields(mapping: str | None) -> dict[str, str] | None:
    """Return the mapping of a line such as `text=content,role=author`."""
    if mapping is None:
        return None
    pairs = [pair.partition("=") for pair in mapping.split(",")]
    if any(not name.strip() or not field.strip() for name, _, field in pairs):
        raise Misuse(f"--map {mapping!r} is not a list of NAME=FIELD; write it as text=content,role=author,time=ts")
    return {name.strip(): field.strip() for name, _, field in pairs}


def _question(found: "ImportPreview") -> str:
    messages, memories = sum(one.messages for one in found.contents), sum(one.memories for one in found.contents)
    counts = ((messages, "message"), (memories, "memory"))
    told = " and ".join(plural(count, noun) for count, noun in counts if count) or "nothing"
    return f"{told} of {plural(len(found.contents), 'file')} would be imported"


def _preview_lines(found: "ImportPreview") -> Iterator[str]:
    for one in found.contents:
        yield one_line(f"{one.path}: {_described(one)}")
        yield from _asides(one.left_out, len(one.damage))
    if found.people:
        yield one_line(f"people: {', '.join(found.people)}")
    if found.unknown:
        yield f"{plural(found.unknown, 'file')} of no known form left out"
    for path, why in found.unreadable:
        yield one_line(f"{path}: {why}")


def _described(one: "ImportContent") -> str:
    counts = [plural(one.messages, "message")] if one.messages or not one.memories else []
    counts += [plural(one.memories, "memory")] if one.memories else []
    talks = f" in {plural(one.conversations, 'conversation')}" if one.messages and one.conversations > 1 else ""
    return f"{one.form}: {', '.join(counts)}{talks}"


def _asides(left_out: Mapping[str, int], damaged: int) -> Iterator[str]:
    for what, count in left_out.items():
        yield f"  {plural(count, what)} left out"
    if damaged:
        yield f"  {plural(damaged, 'damaged part')} left out"


def _preview_document(found: "ImportPreview") -> dict[str, object]:
    return {
        "contents": found.contents,
        "people": found.people,
        "unknown": found.unknown,
        "unreadable": found.unreadable,
        "import_id": found.import_id,
    }


def _tell(run: Run, found: "ImportPreview", done: "ImportResult") -> None:
    for one in done.files:
        for part in one.damage[:_MOST_DAMAGE]:
            note(one_line(f"{one.path} {part.place}: {part.reason}"))
    for path, why in found.unreadable:
        note(one_line(f"{path}: {why}"))
    tell(done.notice)
    document = {
        "imports": done.files,
        "import_id": done.import_id,
        "undone_by": done.undone_by,
        "notice": done.notice,
    }
    answer(run, document, map(_result_line, done.files))
    if done.import_id:
        note(f"to undo it: recollectum undo import {done.import_id}")
    elif done.undone_by:
        note(f"this import was undone before; to bring it back: recollectum quarantine release {done.undone_by}")


def _result_line(one: "ForeignImport") -> str:
    counts = (
        (one.added, "message", "added"),
        (one.memories, "memory", "added"),
        (one.known, "message", "known already"),
        (one.known_memories, "memory", "known already"),
        (one.echoes, "message", "left out as an echo of memory"),
        (len(one.damage), "damaged part", "left out"),
        *((count, what, "left out") for what, count in one.left_out.items()),
    )
    told = [f"{plural(count, noun)} {what}" for count, noun, what in counts if count]
    moved = f"; the file is now {one.moved_to}" if one.moved_to else ""
    return one_line(f"{one.path}: {one.form}: {', '.join(told) or 'nothing to import'}{moved}")
