"""Opens the home of a service of the Agent Development Kit, and finds the vaults of its users and apps."""

from typing import TYPE_CHECKING
from urllib.parse import unquote, urlsplit

from recollectum.domain.errors import InvalidInput

if TYPE_CHECKING:
    from recollectum.engine import Recollectum
    from recollectum.vault.vault import Vault


class ServiceHome:
    """A home that a program opened, or one that a URI names and that this service opens and closes.

    `recollectum:///path/of/home` names a folder, `recollectum://` the usual home.
    """

    def __init__(self, home: "Recollectum | None", uri: str | None) -> None:
        self._mine = home is None
        self.home = _open(uri) if home is None else home

    def user(self, user_id: str) -> "Vault":
        """Return the vault of a user."""
        return self.home.vault(f"user:{user_id}")

    def app(self, app_name: str) -> "Vault":
        """Return the vault of an app, which all its users share."""
        return self.home.vault(f"agent:{app_name}")

    def users(self) -> list[str]:
        """Return the ids of all users with a vault that this program may see."""
        return [owner.name for owner in self.home.list_owners() if owner.kind == "user" and owner.agent is None]

    def close(self) -> None:
        """Close the home, if this service opened it."""
        if self._mine:
            self.home.close()


def _open(uri: str | None) -> "Recollectum":
    # Imported here: a program that passes its open home has it already.
    from recollectum.engine import Recollectum  # noqa: PLC0415

    parts = urlsplit(uri or "recollectum://")
    if parts.netloc:
        raise InvalidInput(
            f"{uri!r} names a host; write recollectum:///path/of/home, or recollectum:// for the usual one"
        )
    return Recollectum(unquote(parts.path) or None)
