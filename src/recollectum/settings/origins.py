"""Where a value came from: the scopes in their order, lowest first."""

from dataclasses import dataclass
from enum import StrEnum


class SettingsScope(StrEnum):
    """The places settings come from; a later one wins over an earlier one."""

    BUILT_IN = "built-in"
    SYSTEM_DEFAULTS = "system defaults"
    USER = "user"
    WORKSPACE = "workspace"
    SYSTEM = "system"
    ENVIRONMENT = "environment"
    OVERRIDE = "override"


@dataclass(frozen=True, slots=True)
class Origin:
    """One place: its scope, and the file or variable."""

    scope: SettingsScope
    source: str = ""

    def __str__(self) -> str:
        """The scope, and the file or variable where there is one."""
        return f"{self.scope} ({self.source})" if self.source else str(self.scope)
