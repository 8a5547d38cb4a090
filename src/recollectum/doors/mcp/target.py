"""Reads the home and the person from flags and environment, without opening the home."""

import getpass
from collections.abc import Mapping
from pathlib import Path

from recollectum.domain.access.owner import Owner, OwnerKind
from recollectum.domain.errors import InvalidInput
from recollectum.domain.records import dataclass
from recollectum.home.paths import Home, home_root

USER_VARIABLE = "RECOLLECTUM_USER"
KEY_VARIABLE = "RECOLLECTUM_API_KEY"


@dataclass(frozen=True, slots=True, kw_only=True)
class McpTarget:
    """The home and the person from the line and the environment."""

    user: str | None = None
    home: str | None = None
    environ: Mapping[str, str]

    @property
    def place(self) -> Home:
        """The home; it need not exist."""
        return Home(home_root(Path(self.home) if self.home is not None else None, self.environ))

    @property
    def key(self) -> str | None:
        """The API key of the caller, if there is one."""
        return self.environ.get(KEY_VARIABLE) if self.user is None else None

    def person(self) -> Owner:
        """Return the person: the flag's, the variable's, the setting's, or this account's."""
        named = self.user or self.environ.get(USER_VARIABLE) or self._by_settings() or _account_name()
        return Owner.parse(named if ":" in named or named == OwnerKind.GLOBAL else f"{OwnerKind.USER}:{named}")

    def _by_settings(self) -> str:
        # Only if nothing else names a person: the settings are several files.
        from recollectum.settings.load import load  # noqa: PLC0415

        return load(self.place, cwd=Path.cwd(), environ=self.environ).settings.default_user


def _account_name() -> str:
    try:
        return getpass.getuser()
    except (OSError, KeyError):
        raise InvalidInput("this account has no name; name a user with --user, or set default_user") from None
