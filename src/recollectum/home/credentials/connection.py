"""Says which server this machine uses instead of vaults in its own home: by variables, or as `connect` stored it.

A key goes only to the server that it was given for: the key in the variable to the server in the variable, a stored key
to the address that it was stored with.
"""

import contextlib
import json
import os
import stat
from collections.abc import Mapping
from dataclasses import field
from pathlib import Path
from typing import cast
from urllib.parse import SplitResult, urlsplit

from recollectum.domain.errors import HomeError, InvalidInput
from recollectum.domain.records import dataclass
from recollectum.home.files import make_private_folder, write_atomic
from recollectum.home.paths import Home, check_not_foreign

URL_VARIABLE = "RECOLLECTUM_URL"
KEY_VARIABLE = "RECOLLECTUM_API_KEY"
#: A file with the certificate authorities that are trusted instead of those of the system.
CA_VARIABLE = "RECOLLECTUM_CA_FILE"
_PORTS = {"https": 443, "http": 80}
_LONGEST = 2000


@dataclass(frozen=True, slots=True, kw_only=True)
class Connection:
    """A server, and the key that is sent to it."""

    #: Such as `https://memory.example.org:8443`: no path, no slash at the end.
    url: str
    key: str = field(repr=False)
    #: The file of certificate authorities; None for those of the system.
    ca_file: str | None = None
    #: Whether `connect` stored it; else the variables name it.
    stored: bool = False
    #: Whose key it is, as the server said when it was stored; None where that is not known.
    person: str | None = None

    @property
    def host(self) -> str:
        """The name or address, without brackets."""
        return urlsplit(self.url).hostname or ""

    @property
    def port(self) -> int:
        """The port."""
        place = urlsplit(self.url)
        return place.port or _PORTS[place.scheme]

    @property
    def is_tls(self) -> bool:
        """Whether it is HTTPS."""
        return self.url.startswith("https:")


def find_connection(home: Home, environ: Mapping[str, str]) -> Connection | None:
    """Return the server that this machine uses; None when it uses the vaults of the home."""
    named = environ.get(URL_VARIABLE, "").strip()
    stored = _read(_file(home))
    if not named:
        return stored
    url, ca_file = check_url(named), environ.get(CA_VARIABLE, "").strip() or None
    given = environ.get(KEY_VARIABLE, "").strip()
    if given:
        return Connection(url=url, key=check_secret(given), ca_file=ca_file)
    if stored is not None and stored.url == url:
        return Connection(url=url, key=stored.key, ca_file=ca_file or stored.ca_file, person=stored.person)
    raise InvalidInput(
        f"{URL_VARIABLE} names the server {url}, but there is no key for it; set {KEY_VARIABLE}, "
        f"or run: recollectum connect {url}"
    )


def check_person(connection: Connection, user: str | None) -> None:
    """Raise for a program that was set up for another person than the one of the key: their texts must not mix."""
    if user is None or connection.person in (user, f"user:{user}"):
        return
    raise InvalidInput(
        f"--user {user[:60]!r} is not known to be the person of the key for {connection.url}; "
        "set the agent up again, such as: recollectum mcp install claude-code"
    )


def check_url(text: str) -> str:
    """Return the address of a server in its plain form; raise for one that no key may be sent to."""
    shown = text[:100]
    try:
        place = urlsplit(text)
        port = place.port
    except ValueError:
        raise InvalidInput(f"{shown!r} is not the address of a server; write https://HOST:PORT") from None
    if "@" in place.netloc:
        # Not shown: there may be a password in it.
        raise InvalidInput("the address of the server holds a name or a password; write https://HOST:PORT alone")
    if not _is_plain(text, place):
        raise InvalidInput(f"{shown!r} is not the address of a server; write https://HOST:PORT, without a path")
    host = cast("str", place.hostname)
    if place.scheme == "http" and not is_loopback(host):
        raise InvalidInput(
            f"{shown!r} is not encrypted, so no key is sent there; use https: the server takes --tls-cert and "
            "--tls-key, or a proxy in front of it does"
        )
    bare = f"[{host}]" if ":" in host else host
    return f"{place.scheme}://{bare}" if port in (None, _PORTS[place.scheme]) else f"{place.scheme}://{bare}:{port}"


def _is_plain(text: str, place: SplitResult) -> bool:
    """Return whether an address is a scheme, a host and a port, and nothing else."""
    bare = text.isascii() and text.isprintable() and " " not in text and len(text) <= _LONGEST
    rest = place.path.strip("/") or place.query or place.fragment
    return bare and place.scheme in _PORTS and bool(place.hostname) and not rest


def check_secret(secret: str) -> str:
    """Return a key that can be sent in a header."""
    if not secret.isascii() or not secret.isprintable() or " " in secret or not 8 <= len(secret) <= _LONGEST:
        raise InvalidInput("this is not an API key; take it as `recollectum keys create` printed it, in one line")
    return secret


def is_loopback(host: str) -> bool:
    """Return whether a name or an address is this machine."""
    if host.casefold() == "localhost":
        return True
    from ipaddress import ip_address  # noqa: PLC0415 - a program that uses its own home does not need it

    try:
        return ip_address(host).is_loopback
    except ValueError:
        return False


def store_connection(home: Home, connection: Connection) -> Path:
    """Store the server and its key, readable by this account alone; return the file."""
    check_not_foreign(home.root)
    make_private_folder(home.root)
    fields = {
        "url": connection.url,
        "key": connection.key,
        "ca_file": connection.ca_file,
        "person": connection.person,
    }
    write_atomic(_file(home), json.dumps(fields).encode() + b"\n")
    return _file(home)


def remove_connection(home: Home) -> bool:
    """Remove what was stored; return whether there was anything."""
    with contextlib.suppress(FileNotFoundError):
        _file(home).unlink()
        return True
    return False


def _file(home: Home) -> Path:
    return home.root / "connection.json"


def _read(path: Path) -> Connection | None:
    try:
        handle = os.open(path, os.O_RDONLY | getattr(os, "O_CLOEXEC", 0))
    except (FileNotFoundError, NotADirectoryError):
        return None
    except OSError as error:
        raise HomeError(f"{path} cannot be read ({error.strerror}); correct its owner or mode") from None
    with os.fdopen(handle, "rb") as file:
        if os.name == "posix" and stat.S_IMODE(os.fstat(handle).st_mode) & 0o077:
            raise HomeError(f"other accounts can read the key in {path}; make a new key, and run: recollectum connect")
        data = file.read(_LONGEST * 4)
    try:
        found = cast("Mapping[str, object]", json.loads(data))
        url, key, ca_file, person = found["url"], found["key"], found.get("ca_file"), found.get("person")
    except (ValueError, KeyError, TypeError):
        url = key = ca_file = person = None
    if not (isinstance(url, str) and isinstance(key, str) and isinstance(ca_file, str | None)):
        raise HomeError(f"{path} is not as it was written; run again: recollectum connect URL")
    whose = person if isinstance(person, str) else None
    return Connection(url=check_url(url), key=check_secret(key), ca_file=ca_file, stored=True, person=whose)
