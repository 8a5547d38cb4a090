"""Parses and checks the settings whose value is a text with a form: lists, paths, names, addresses."""

import re
from pathlib import Path

from recollectum.domain.errors import InvalidInput
from recollectum.domain.hit import SourceKind
from recollectum.domain.ids import check_name

#: What a browser sends as the origin of a page, in lower case.
_ORIGIN = re.compile(r"https?://(?:[a-z0-9.-]+|\[[0-9a-f:.]+\])(?::\d{1,5})?")
#: A password among the options of an address.
_PASSWORD_FIELD = re.compile(r"([?&](?:ssl)?password=)[^&]*")


def is_key_file(path: str) -> bool:
    """Return whether a text may name a key file: nothing, or an absolute path."""
    return not path or path.startswith("~/") or Path(path).is_absolute()


def is_user(name: str) -> bool:
    """Return whether a text may name a user: nothing, or a valid name."""
    try:
        return not name or bool(check_name(name, "user"))
    except InvalidInput:
        return False


def split_sources(text: str) -> tuple[SourceKind, ...]:
    """Return the sources in a comma-separated list, each once, in the order of their kinds."""
    named = {SourceKind(part.strip()) for part in text.split(",")}
    return tuple(kind for kind in SourceKind if kind in named)


def is_sources(text: str) -> bool:
    """Return whether a text lists sources."""
    try:
        return bool(split_sources(text))
    except ValueError:
        return False


def is_floor(text: str) -> bool:
    """Return whether a text is `auto` or a number from 0 to 1."""
    try:
        floor = parse_floor(text)
    except ValueError:
        return False
    return floor is None or 0 <= floor <= 1


def parse_floor(text: str) -> float | None:
    """Return the number; None for `auto`."""
    return None if text.strip().casefold() == "auto" else float(text)


def split_agents(text: str) -> dict[str, tuple[int, ...]]:
    """Return the days (active, archive, grace) of each agent in a list such as `coder=30, scratch=7/0/1`."""
    found: dict[str, tuple[int, ...]] = {}
    for part in filter(None, (one.strip() for one in text.split(","))):
        name, mark, days = part.partition("=")
        periods = tuple(int(one) for one in days.split("/"))
        if not mark or not name.strip() or len(periods) > 3 or not all(0 <= one <= 36_500 for one in periods):
            raise ValueError(part)
        found[name.strip()] = periods
    return found


def is_agents(text: str) -> bool:
    """Return whether a text lists agents with their days."""
    try:
        split_agents(text)
    except ValueError:
        return False
    return True


def is_any(_: str) -> bool:
    """Return True: every text is valid."""
    return True


def is_address(url: str) -> bool:
    """Return whether a text may be an address of a server: nothing, or one that begins with http:// or https://."""
    return not url or url.startswith(("https://", "http://"))


def are_origins(listed: str) -> bool:
    """Return whether a text lists origins: a scheme, a host and perhaps a port each, and nothing after them."""
    return all(_ORIGIN.fullmatch(one.strip()) for one in listed.split(",") if one.strip())


def is_database_url(url: str) -> bool:
    """Return whether a text may be the address of a PostgreSQL database, or is empty."""
    return not url or url.startswith(("postgresql://", "postgres://"))


def is_task_url(url: str) -> bool:
    """Return whether a text may name a task store, or is empty; one with credentials or options may not."""
    return not url or (url.startswith(("file:///", "s3://", "gs://", "memory://")) and not set(url) & set("@?#"))


def without_password(url: str) -> str:
    """Return an address of a database with each password in it replaced by stars."""
    scheme, mark, rest = url.partition("://")
    # The last @: a password may hold one that should have been escaped.
    login, at, host = rest.rpartition("@")
    user, colon, _ = login.partition(":")
    shown = f"{scheme}{mark}{user}:***@{host}" if at and colon else url
    return _PASSWORD_FIELD.sub(r"\1***", shown)
