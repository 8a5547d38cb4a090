"""Checks whether a home can serve: its keys open, its schema is right and its catalog answers."""

from recollectum.domain.errors import RecollectumError, SchemaEdited, SchemaNewer
from recollectum.storage.engine import CATALOG
from recollectum.storage.tables.catalog import catalog_changes
from recollectum.upkeep.home_admin import HomeAdmin

_NO_KEYS = "the keys of the home cannot be opened; see: recollectum doctor"
_OLDER = "the schema lacks the newest steps; run: recollectum upgrade"
_NEWER = "the schema needs a newer program; upgrade this server"
_NO_ANSWER = "the catalog does not answer; see: recollectum doctor"


class HomeReadiness:
    """Whether one open home can serve. Its sentences are constants: anybody may read them, and errors name hosts."""

    def __init__(self, admin: HomeAdmin) -> None:
        self._admin = admin
        self._is_encrypted = admin.catalog_key() is not None

    def problem(self) -> str | None:
        """Return what keeps the home from serving, in one sentence; None when nothing does."""
        try:
            key = self._admin.catalog_key()
        except (RecollectumError, OSError):
            return _NO_KEYS
        if self._is_encrypted and key is None:
            return _NO_KEYS
        try:
            if not self._admin.engine.is_made():
                return _NO_ANSWER
            due = self._admin.engine.pending_steps(CATALOG, key)
            self._admin.catalog.read(catalog_changes.find)
        except (SchemaNewer, SchemaEdited):
            return _NEWER
        except (RecollectumError, OSError):
            return _NO_ANSWER
        return _OLDER if due else None
