"""`recollectum credentials`: stores keys and tokens for other services, and never shows them."""

from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated

import typer

from recollectum.domain.access.credential import MAX_SECRET, Credential, CredentialKind, CredentialName, ServiceApiKey
from recollectum.domain.errors import InvalidInput
from recollectum.domain.ids import system_clock
from recollectum.doors.cli.terminal.errors import Misuse
from recollectum.doors.cli.terminal.flags import Run, command, new_group
from recollectum.doors.cli.terminal.output import answer, answer_rows, listing, note, plural
from recollectum.doors.cli.terminal.prompts import ask_secret, binary_stdin, confirm, is_interactive
from recollectum.doors.cli.terminal.sanitise import one_line
from recollectum.doors.cli.terminal.target import home_of, open_home
from recollectum.home.credentials.payload import from_answer
from recollectum.home.credentials.store import Credentials
from recollectum.home.credentials.token_import import import_tokens
from recollectum.upkeep.presence import check_made

app = new_group("Store API keys and OAuth tokens for other services; no command shows one.")

_Name = Annotated[
    str, typer.Argument(metavar="NAME", help="The service, or the environment variable that the API key replaces.")
]
_Kind = Annotated[CredentialKind, typer.Option("--kind", help="What sort of secret it is.")]
_Account = Annotated[
    str | None,
    typer.Option("--account", metavar="ACCOUNT", help="The account at that service; default: the active one."),
]


@command(app, "set")
def set_credential(
    run: Run,
    name: _Name,
    value: Annotated[
        list[str] | None,
        typer.Argument(metavar="SECRET on stdin", hidden=True, help="Refused: do not type a secret here."),
    ] = None,
    *,
    kind: _Kind = CredentialKind.API_KEY,
    account: _Account = None,
) -> None:
    """Save a secret, typed unseen or read from stdin; a token is the JSON that its server answered."""
    # Accepted here so that the parser does not quote it in an error.
    if value or "=" in name:
        raise Misuse(
            "do not write a secret on the command line, where other programs and the shell's history see it; "
            "give only the name here, and the secret at the prompt or on stdin"
        )
    with _credentials(run) as credentials:
        kept = credentials.save(name, _given(kind), account=account)
    answer(
        run, {"credential": kept}, [f"{_spelled(CredentialName(name, kept.account, kind))} is kept in the {kept.held}"]
    )


@command(app, "list")
def list_credentials(run: Run) -> None:
    """List the stored credentials, without the secrets."""
    with _credentials(run) as credentials:
        found = credentials.all()
    rows = [
        (one.service, one.account, one.kind, one.held, "yes" if one.active else "no", one.updated_at) for one in found
    ]
    answer_rows(run, {"credentials": found}, ("name", "account", "kind", "held by", "in use", "set"), rows)
    if not found:
        note("no credentials")


@command(app, "delete")
def delete(
    run: Run,
    name: _Name,
    *,
    kind: _Kind = CredentialKind.API_KEY,
    account: _Account = None,
    yes: Annotated[bool, typer.Option("--yes", help="Do not ask.")] = False,
) -> None:
    """Delete a secret from the keyring or the file."""
    with _credentials(run) as credentials:
        if not confirm(f"this removes the {kind} {name!r} for good", yes=yes):
            answer(run, {"deleted": None}, ["nothing was removed"])
            return
        gone = credentials.delete(name, account=account, kind=kind)
    answer(run, {"deleted": gone}, [f"{_spelled(gone)} is deleted here; revoke it at the service as well"])


@command(app, "accounts")
def accounts(run: Run, name: _Name) -> None:
    """List the accounts of a service, and which one is active."""
    with _credentials(run) as credentials:
        found = credentials.accounts(name)
    document = [{"account": account, "active": active} for account, active in found]
    rows = [(account, "in use" if active else "") for account, active in found]
    answer_rows(run, {"accounts": document}, ("account", "in use"), rows)


@command(app, "use")
def use(
    run: Run, name: _Name, account: Annotated[str, typer.Argument(metavar="ACCOUNT", help="The account to use.")]
) -> None:
    """Make this account of a service the active one."""
    with _credentials(run) as credentials:
        credentials.activate(name, account)
    answer(run, {"active": {"service": name, "account": account}}, [one_line(f"{name}: {account} is in use")])


@command(app, "import")
def import_file(
    run: Run, file: Annotated[str, typer.Argument(metavar="FILE", help="A token file in its older, plain form.")]
) -> None:
    """Import an older token file, and destroy it after everything is stored; it can be run again."""
    with _credentials(run) as credentials:
        done = import_tokens(home_of(run), credentials, Path(file).absolute())
    lines = [
        f"{plural(len(done.names), 'credential')} kept, {len(done.known)} of them known before",
        "the file was overwritten and removed; copies, backups and the drive's spare blocks may still have its bytes",
    ]
    answer(run, {"imported": done.names, "known": done.known}, lines)


@command(app, "status")
def status(run: Run) -> None:
    """Show in plain words how safe the secrets are here, even when the key is not available."""
    from recollectum.engine import open_keys  # noqa: PLC0415 - the engine costs 150 ms, which `--help` must not pay

    home = home_of(run)
    check_made(home)
    keys = open_keys(home.root, environ=run.environ)
    try:
        safety = Credentials(home, keys, environ=run.environ).safety()
    finally:
        keys.close()
    counts = [("in the keyring", safety.in_keyring), ("in the file", safety.in_file)]
    forced = "an environment variable forbids the keyring" if safety.forced else None
    answer(run, {"safety": safety}, [one_line(f"A secret is {safety.words}."), *listing([*counts, ("forced", forced)])])


@contextmanager
def _credentials(run: Run) -> Generator[Credentials]:
    with open_home(run) as recollectum:
        # The key store belongs to the operator, and so does what its key seals.
        yield Credentials(recollectum.home, recollectum.encryption(), environ=run.environ)


def _given(kind: CredentialKind) -> Credential:
    """Return the secret from the prompt or stdin; never from the command line, which other programs can see."""
    if is_interactive():
        text = ask_secret("API key" if kind is CredentialKind.API_KEY else "Token, as JSON on one line")
    else:
        data = binary_stdin().read(4 * MAX_SECRET + 1)
        # Bytes that are not UTF-8 become characters that no secret may have, and are refused with the same error.
        text = data.decode("utf-8", "replace")
        if len(data) > 4 * MAX_SECRET:
            raise InvalidInput("stdin holds more than a secret can have; give the secret alone")
    text = text.strip()
    return ServiceApiKey(text) if kind is CredentialKind.API_KEY else from_answer(text, system_clock)


def _spelled(name: CredentialName) -> str:
    return one_line(str(name))
