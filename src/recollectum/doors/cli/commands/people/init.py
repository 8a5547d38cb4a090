"""`recollectum init`: creates the home, its key and the user's vault."""

from typing import TYPE_CHECKING

import typer

from recollectum.doors.cli.commands.people.status import describe_search
from recollectum.doors.cli.terminal.flags import Run, command, format_owner
from recollectum.doors.cli.terminal.output import answer
from recollectum.doors.cli.terminal.target import check_user, describe_key_holder, home_of, open_or_create_home, user_of
from recollectum.home.keys.holders import HolderKind, KeyHolder
from recollectum.upkeep.presence import is_made

if TYPE_CHECKING:
    from recollectum.domain.access.owner import Owner
    from recollectum.engine import Recollectum


def add_to(app: typer.Typer) -> None:
    """Add the command to the app."""
    command(app, "init")(init)


def init(run: Run) -> None:
    """Create the home and the user's vault, and show the recovery code once; a second run changes nothing."""
    new_home = not is_made(home_of(run))
    with open_or_create_home(run) as recollectum:
        owner = user_of(recollectum, run) if new_home else check_user(recollectum, run, create=True)
        new_vault = owner not in {known.person for known in recollectum.list_owners()}
        recollectum.vault(owner)
        keys = recollectum.encryption()
        code = keys.new_recovery_code() if new_home and keys.enabled else None
        holder = keys.holder()
        document = {
            "home": recollectum.home.root,
            "created": new_home,
            "user": format_owner(owner),
            "vault_created": new_vault,
            "encryption": holder,
            "recovery_code": code,
        }
        answer(run, document, [*_what_was_made(recollectum, owner, new_home=new_home, new_vault=new_vault), ""])
        if not run.json:
            answer(run, {}, [*_about_the_key(holder, code), "", *_next_steps(describe_search(recollectum))])


def _what_was_made(recollectum: "Recollectum", owner: "Owner", *, new_home: bool, new_vault: bool) -> list[str]:
    root, name = recollectum.home.root, format_owner(owner)
    if not new_home and not new_vault:
        return [f"The home {root} exists already, with a vault for {name}; nothing was changed."]
    first = f"Made the home {root}." if new_home else f"The home {root} exists already."
    return [first, f"Made a vault for {name}." if new_vault else f"There is a vault for {name}."]


def _next_steps(search: str) -> list[str]:
    """Return three lines to type next; the question finds the answer by its words too."""
    return [
        f"Search: {search}.",
        "Next:",
        "    recollectum remember I am vegetarian",
        "    recollectum recall am I vegetarian",
        "    recollectum mcp install claude-code    # or codex, gemini-cli, opencode, cursor",
    ]


def _about_the_key(holder: KeyHolder, code: str | None) -> list[str]:
    lines = [describe_key_holder(holder)]
    if code is not None:
        lines += [
            "",
            "Recovery code:",
            "",
            f"    {code}",
            "",
            "Write it on paper and keep it away from this machine. It is shown this once and kept nowhere.",
            "If the key is lost, `recollectum encryption recover` asks for it; without it nothing can be read again.",
        ]
    elif holder.kind is not HolderKind.OFF and holder.recovery_code_made_at is None:
        lines += ["No recovery code was made yet; make one with: recollectum encryption new-code"]
    return lines
