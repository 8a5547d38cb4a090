"""Finds the home or the server, the user and the vault that a command is about, and opens them."""

import getpass
import shlex
from collections.abc import Generator
from contextlib import closing, contextmanager
from dataclasses import replace
from difflib import get_close_matches
from pathlib import Path
from typing import TYPE_CHECKING

from recollectum.domain.access.owner import Owner, OwnerKind
from recollectum.domain.errors import HomeError, InvalidInput, KeyProblem, NotFound
from recollectum.doors.cli.terminal.flags import Run, format_owner, parse_owner
from recollectum.doors.cli.terminal.output import note
from recollectum.doors.cli.terminal.prompts import ask_secret, is_interactive, warn_of_short_passphrase
from recollectum.home.credentials.connection import (
    CA_VARIABLE,
    URL_VARIABLE,
    Connection,
    find_connection,
    store_connection,
)
from recollectum.home.keys.holders import PASSPHRASE_VARIABLE, HolderKind, KeyHolder
from recollectum.home.paths import Home, home_root
from recollectum.settings.load import LoadedSettings, load
from recollectum.upkeep.presence import check_made, has_keys, is_made, place_of_keys

if TYPE_CHECKING:
    from recollectum.doors.remote.vault import KeyHolderInfo, ServedVault
    from recollectum.engine import KeyStore, Recollectum
    from recollectum.vault.memories.history import Totals
    from recollectum.vault.vault import Vault

USER_VARIABLE = "RECOLLECTUM_USER"
KEY_VARIABLE = "RECOLLECTUM_API_KEY"


def place_of(run: Run) -> Home:
    """Return the home that the line or the environment names, also where a server is used instead of its vaults."""
    return Home(home_root(Path(run.home) if run.home is not None else None, run.environ))


def home_of(run: Run) -> Home:
    """Return the home that the line or the environment names; it need not exist. Raise where a server is used."""
    connection = connection_of(run)
    if connection is None:
        return place_of(run)
    cure = "leave it with: recollectum connect --off" if connection.stored else f"unset {URL_VARIABLE}"
    raise HomeError(
        f"this command needs the home itself, but this machine uses the server {connection.url}; "
        f"run it on the machine of the server, or {cure}"
    )


def connection_of(run: Run) -> Connection | None:
    """Return the server that is used instead of the vaults of the home; None when there is none."""
    return find_connection(place_of(run), run.environ)


def settings_of(run: Run) -> LoadedSettings:
    """Return the effective settings, without opening the home."""
    return load(home_of(run), cwd=Path.cwd(), environ=run.environ)


def connect_to(run: Run, url: str, key: str, ca_file: str | None) -> Connection:
    """Ask a server whose key it is, and store both in the home; nothing is stored when it refuses."""
    named = ca_file or run.environ.get(CA_VARIABLE, "").strip()
    authority = str(Path(named).expanduser().absolute()) if named else None
    connection = Connection(url=url, key=key, ca_file=authority, stored=True)
    connection = replace(connection, person=str(holder_of(connection).person))
    home = place_of(run)
    store_connection(home, connection)
    if is_made(home):
        note(f"the memories in {home.root} stay there; to use them again: recollectum connect --off")
    return connection


def holder_of(connection: Connection) -> "KeyHolderInfo":
    """Return whose key it is, as the server says."""
    # Imported here: most machines have their own home.
    from recollectum.doors.remote.vault import open_served_vault  # noqa: PLC0415

    with closing(open_served_vault(connection)) as vault:
        return vault.me()


@contextmanager
def open_home(run: Run, *, create: bool = False) -> "Generator[Recollectum]":
    """Open the home and check its user; a missing home is created only for the default user."""
    home = home_of(run)
    made = is_made(home)
    if not made and (not create or run.user is not None or run.environ.get(KEY_VARIABLE)):
        check_made(home)
    with open_or_create_home(run) as recollectum:
        if not made:
            _tell_of_new_home(recollectum)
        if run.user is not None:
            check_user(recollectum, run)
        yield recollectum


def open_or_create_home(run: Run) -> "Recollectum":
    """Open the home, or create it; ask for the passphrase if that is missing."""
    from recollectum.engine import Recollectum  # noqa: PLC0415 - the engine costs 150 ms, which `--help` must not pay

    root, passphrase = home_of(run).root, run.environ.get(PASSPHRASE_VARIABLE)
    new = not has_keys(home_of(run))
    try:
        opened = Recollectum(root, environ=run.environ)
        if new and passphrase and has_keys(opened.home):
            warn_of_short_passphrase(passphrase)
        return opened
    except KeyProblem:
        if not is_interactive() or not _wants_passphrase(run):
            raise
    return Recollectum(root, environ={**run.environ, PASSPHRASE_VARIABLE: ask_secret("Passphrase")})


@contextmanager
def open_key_store(run: Run) -> "Generator[KeyStore]":
    """Open the key store alone, which works even when the key is lost."""
    from recollectum.engine import open_keys  # noqa: PLC0415 - the engine costs 150 ms, which `--help` must not pay

    home = home_of(run)
    if not has_keys(home):
        raise KeyProblem(f"there is no key store at {place_of_keys(home)}; nothing in this home is encrypted by one")
    keys = open_keys(home.root, environ=run.environ)
    try:
        yield keys
    finally:
        keys.close()


@contextmanager
def open_vault(run: Run, *, create: bool = False) -> "Generator[Vault | ServedVault]":
    """Open the user's vault: on the server where this machine uses one, else in the home."""
    connection = connection_of(run)
    if connection is None:
        with open_user_vault(run, create=create) as vault:
            yield vault
        return
    # Imported here: most machines have their own home.
    from recollectum.doors.remote.vault import open_served_vault  # noqa: PLC0415

    with closing(open_served_vault(connection, None if run.user is None else parse_owner(run.user))) as served:
        yield served


def totals_of(vault: "Vault | ServedVault") -> "Totals | None":
    """Return how much a vault holds; None for one on a server, which counts nothing for its clients."""
    from recollectum.doors.remote.vault import ServedVault  # noqa: PLC0415 - only a long list needs it

    return None if isinstance(vault, ServedVault) else vault.admin.totals()


@contextmanager
def open_user_vault(run: Run, *, create: bool = False) -> "Generator[Vault]":
    """Open the user's vault in the home; with `create`, the default user's is created when missing."""
    with open_home(run, create=create) as recollectum:
        yield recollectum.vault(check_user(recollectum, run, create=create))


@contextmanager
def open_person_vault(run: Run, owner: Owner) -> "Generator[Vault | ServedVault]":
    """Open a vault of a person who is to be erased; a server erases only the person of the key."""
    if connection_of(run) is not None:
        with open_vault(run) as served:
            _check_own(served, owner)
            yield served
        return
    with open_home(run) as recollectum:
        if recollectum.caller.operator:
            recollectum.people.get(owner)
        mine = [one for one in recollectum.list_owners() if one.person == owner.person]
        yield recollectum.vault(mine[0] if mine else owner)


def _check_own(vault: "Vault | ServedVault", owner: Owner) -> None:
    from recollectum.doors.remote.vault import ServedVault  # noqa: PLC0415 - see above

    if isinstance(vault, ServedVault) and (mine := vault.me().person) != owner:
        raise InvalidInput(
            f"over a server you erase yourself alone, and your key is of {format_owner(mine)}; "
            "to erase somebody else, run it on the machine of the server"
        )


def check_user(recollectum: "Recollectum", run: Run, *, create: bool = False) -> Owner:
    """Return the owner of the vault; raise for an unknown user, with the nearest name."""
    owner = user_of(recollectum, run)
    if not recollectum.caller.operator:
        return owner
    if owner.kind is OwnerKind.GLOBAL or (create and run.user is None):
        return owner
    try:
        recollectum.people.get(owner)
    except NotFound:
        raise _unknown(recollectum, owner) from None
    return owner


def user_of(recollectum: "Recollectum", run: Run) -> Owner:
    """Return the owner of the vault: the flag's, the key's, the variable's, the setting's, or this account's."""
    if run.user is not None:
        return parse_owner(run.user)
    if recollectum.caller.person is not None:
        return recollectum.caller.person
    named = run.environ.get(USER_VARIABLE) or recollectum.settings.default_user
    return parse_owner(named or account_name())


def account_name() -> str:
    """Return the name of this account."""
    try:
        return getpass.getuser()
    except (OSError, KeyError):
        raise InvalidInput("this account has no name; name a user with --user, or set default_user") from None


def describe_key_holder(holder: KeyHolder) -> str:
    """Return who holds the key, as a sentence."""
    if holder.kind is HolderKind.OFF:
        return "The home is not encrypted: anyone who has the files can read them."
    wrapped = f" The keys that it wraps are in {holder.keys}." if holder.keys else ""
    return f"The key is {holder.words}.{wrapped}"


def _wants_passphrase(run: Run) -> bool:
    with open_key_store(run) as keys:
        return keys.holder().kind is HolderKind.PASSPHRASE


def _tell_of_new_home(recollectum: "Recollectum") -> None:
    holder = recollectum.encryption().holder()
    note(f"Made a home at {recollectum.home.root}. {describe_key_holder(holder)}")
    if holder.kind is not HolderKind.OFF:
        note("If that key is lost, all memories are lost; make a recovery code: recollectum encryption new-code")


def _unknown(recollectum: "Recollectum", owner: Owner) -> NotFound:
    name = format_owner(owner)
    names = [format_owner(person.owner) for person in recollectum.people.list()]
    near = get_close_matches(name, names, n=1)
    hint = f"did you mean {near[0]!r}? " if near else ""
    return NotFound(f"there is no {owner.kind} {name!r}; {hint}add it with: recollectum users add {shlex.quote(name)}")
