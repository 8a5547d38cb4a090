"""`recollectum import --mine BUNDLE`: makes the vaults of a person's own bundle again, as they were."""

from collections.abc import Sequence
from pathlib import Path

import typer

from recollectum.doors.cli.terminal.errors import FAILED, Misuse
from recollectum.doors.cli.terminal.flags import Run, parse_owner
from recollectum.doors.cli.terminal.output import answer, note, plural, working
from recollectum.doors.cli.terminal.prompts import ask_secret, confirm
from recollectum.doors.cli.terminal.sanitise import one_line
from recollectum.doors.cli.terminal.target import open_or_create_home


def is_own_bundle(paths: Sequence[Path], *, mine: bool) -> bool:
    """Return whether the paths are one bundle that its owner wants as it was; refuse what cannot be imported."""
    # Imported here: other imports need no cipher.
    from recollectum.upkeep.bundle.container import is_bundle  # noqa: PLC0415
    from recollectum.upkeep.bundle.encrypted_file import is_encrypted  # noqa: PLC0415

    bundles = [path for path in paths if is_bundle(path)]
    if any(path.is_file() and is_encrypted(path) for path in bundles) and not mine:
        raise Misuse("an encrypted bundle is imported with --mine, as it was; decrypt it to import it as foreign text")
    if bundles and mine and len(paths) > 1:
        raise Misuse("your own bundle is imported alone; name one PATH")
    return bool(bundles) and mine


def load_own_bundle(run: Run, path: Path, *, dry_run: bool, yes: bool) -> None:
    """Make the vaults of a bundle again, after a look and a question."""
    from recollectum.upkeep.bundle.load import load_bundle, read_bundle  # noqa: PLC0415 - see above

    asked: list[str] = []

    def passphrase() -> str:
        if not asked:
            asked.append(ask_secret("Passphrase of the bundle"))
        return asked[0]

    owners = [parse_owner(run.user)] if run.user else None
    found = [str(one.owner) for one in read_bundle(path, passphrase).vaults if not owners or one.owner in owners]
    words = one_line(f"the vaults of {', '.join(found) or 'nobody'} would be made again as they were")
    if dry_run:
        answer(run, {"found": {"owners": found}}, [words])
        return
    if not confirm(words, yes=yes):
        note("nothing was imported")
        raise typer.Exit(FAILED)
    with open_or_create_home(run) as recollectum, working(run, "importing"):
        done = load_bundle(recollectum.admin, path, owners=owners, passphrase=passphrase)
    counts = f"{plural(done.memories, 'memory')} and {plural(done.messages, 'message')}"
    answer(run, {"loaded": done}, [f"{plural(len(done.owners), 'vault')} made again, with {counts}"])
