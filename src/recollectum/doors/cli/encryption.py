"""`recollectum encryption`: who holds the key, and what to do when it is lost."""

from typing import Annotated

import typer

from recollectum.domain.errors import NotFound
from recollectum.doors.cli.asking import new_passphrase, secret
from recollectum.doors.cli.flags import Run, command, new_group
from recollectum.doors.cli.output import answer, listing
from recollectum.doors.cli.target import home_of, opened, opened_keys, say_holder
from recollectum.home.keys.holders import OFF, Holder, HolderKind

app = new_group("See who holds the key, make a recovery code, and get the key back.")


@command(app, "status")
def status(run: Run) -> None:
    """Say in plain words who holds the key, even when it cannot be had."""
    home = home_of(run)
    if not home.keys_file.exists():
        if not home.catalog_file.exists():
            raise NotFound(f"there is no home at {home.root} yet; make it with: recollectum init")
        _answer_holder(run, OFF)
        return
    with opened_keys(run) as keys:
        _answer_holder(run, keys.holder())


@command(app, "new-code")
def new_code(run: Run) -> None:
    """Make a recovery code and show it once; the one before it opens nothing any more."""
    with opened(run) as recollectum:
        code = recollectum.encryption().new_recovery_code()
    lines = ["Recovery code:", "", f"    {code}", "", "Write it on paper and keep it away from this machine."]
    answer(run, {"recovery_code": code}, [*lines, "It is shown this once, and any earlier code is void."])


@command(app, "recover")
def recover(
    run: Run,
    *,
    passphrase: Annotated[
        bool, typer.Option("--passphrase", help="Hold the key by a new passphrase from now on.")
    ] = False,
) -> None:
    """Get the key back with the recovery code, which is asked for, or read from stdin."""
    with opened_keys(run) as keys:
        code = secret("Recovery code")
        holder = keys.recover(code, passphrase=new_passphrase() if passphrase else None)
    answer(run, {"encryption": holder}, ["The key is back.", say_holder(holder)])


@command(app, "passphrase")
def passphrase(run: Run) -> None:
    """Hold the key by a passphrase from now on, or change it; it is asked for, or read from stdin."""
    with opened(run) as recollectum:
        holder = recollectum.encryption().hold_by(HolderKind.PASSPHRASE, passphrase=new_passphrase())
    note = "Set RECOLLECTUM_PASSPHRASE, or type it when you are asked."
    answer(run, {"encryption": holder}, [say_holder(holder), note])


def _answer_holder(run: Run, holder: Holder) -> None:
    made = holder.recovery_code_made_at
    code = None if holder.kind is HolderKind.OFF else made or "not made; make one with: recollectum encryption new-code"
    answer(run, {"encryption": holder}, [say_holder(holder), *listing([("recovery code", code)])])
