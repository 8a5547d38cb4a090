"""`recollectum encryption`: shows who holds the key, and recovers it when it is lost."""

from typing import Annotated

import typer

from recollectum.doors.cli.commands.people import rekey
from recollectum.doors.cli.terminal.flags import Run, command, new_group
from recollectum.doors.cli.terminal.output import answer, listing, working
from recollectum.doors.cli.terminal.prompts import ask_new_passphrase, ask_secret
from recollectum.doors.cli.terminal.target import describe_key_holder, home_of, open_home, open_key_store, settings_of
from recollectum.home.database_mark import KeysTarget
from recollectum.home.keys.holders import OFF, HolderKind, KeyHolder
from recollectum.upkeep.presence import check_made, has_keys

app = new_group("Show who holds the key, create a recovery code, recover the key, change the keys, and move them.")


@command(app, "status")
def status(run: Run) -> None:
    """Show in plain words who holds the key, even when it is not available."""
    home = home_of(run)
    if not has_keys(home):
        check_made(home)
        _answer_holder(run, OFF)
        return
    with open_key_store(run) as keys:
        _answer_holder(run, keys.holder())


@command(app, "new-code")
def new_code(run: Run) -> None:
    """Create a recovery code and show it once; the previous code becomes invalid."""
    with open_home(run) as recollectum:
        code = recollectum.encryption().new_recovery_code()
    lines = ["Recovery code:", "", f"    {code}", "", "Write it on paper and keep it away from this machine."]
    answer(run, {"recovery_code": code}, [*lines, "It is shown this once, and any earlier code is invalid."])


@command(app, "recover")
def recover(
    run: Run,
    *,
    passphrase: Annotated[
        bool, typer.Option("--passphrase", help="Protect the key with a new passphrase from now on.")
    ] = False,
) -> None:
    """Recover the key with the recovery code, typed or read from stdin."""
    with open_key_store(run) as keys:
        code = ask_secret("Recovery code")
        holder = keys.recover(code, passphrase=ask_new_passphrase() if passphrase else None)
    answer(run, {"encryption": holder}, ["The key is back.", describe_key_holder(holder)])


@command(app, "passphrase")
def passphrase(run: Run) -> None:
    """Protect the key with a passphrase from now on, or change it; it is typed or read from stdin."""
    with open_home(run) as recollectum:
        holder = recollectum.encryption().hold_by(HolderKind.PASSPHRASE, passphrase=ask_new_passphrase())
    note = "Set RECOLLECTUM_PASSPHRASE, or type it when you are asked."
    answer(run, {"encryption": holder}, [describe_key_holder(holder), note])


@command(app, "move-keys")
def move_keys(
    run: Run,
    target: Annotated[KeysTarget, typer.Argument(help="The keys database of storage.keys_url, or this home.")],
) -> None:
    """Move the wrapped keys into the keys database that several hosts share, or back into this home."""
    from recollectum.upkeep.rekey.key_places import KeysMove  # noqa: PLC0415 - `--help` must not pay for a database

    with working(run, "moving the keys"):
        moved = KeysMove(home=home_of(run), settings=settings_of(run).settings, environ=run.environ).run(target)
    note = (
        "Every host with this storage.keys_url and the same master key can use them."
        if target is KeysTarget.DATABASE
        else "Unset storage.keys_url now. Other hosts cannot open the vaults any more."
    )
    document = {"keys": moved.keys, "place": moved.place, "encryption": moved.holder}
    answer(run, document, [f"{moved.keys} keys are in {moved.place} now.", note])


rekey.add_to(app)


def _answer_holder(run: Run, holder: KeyHolder) -> None:
    made = holder.recovery_code_made_at
    code = None if holder.kind is HolderKind.OFF else made or "not made; make one with: recollectum encryption new-code"
    answer(run, {"encryption": holder}, [describe_key_holder(holder), *listing([("recovery code", code)])])
