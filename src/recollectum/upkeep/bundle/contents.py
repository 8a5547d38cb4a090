"""Lists the tables and facts of a vault that a bundle has, and those that it leaves out, with the reason."""

from collections.abc import Mapping

from recollectum.storage.port import Row

_DERIVED = "derived from the texts; made again when a bundle is imported"
_WORK = "work in progress of one home"
#: The tables of a vault that are in a bundle.
EXPORTED: tuple[str, ...] = (
    "events",
    "memories",
    "memory_versions",
    "meta",
    "note_folders",
    "projects",
    "proposals",
    "quarantined",
    "quarantines",
    "runs",
    "sessions",
    "sweeps",
    "transcript_roots",
    "shell_commands",
    "documents",
    "checkpoints",
    "imports",
    "messages",
    "notes",
    "project_roots",
    "proposal_items",
    "run_effects",
    "summaries",
    "transcript_files",
    "undo_rows",
    "barred",
    "citations",
    "erased",
)
#: The other tables, with the reason why they are left out.
LEFT_OUT: Mapping[str, str] = {
    "chunks": _DERIVED,
    "coarse_lists": _DERIVED,
    "coarse_middles": _DERIVED,
    "embedding_cache": _DERIVED,
    "generations": _DERIVED,
    "vectors": _DERIVED,
    "jobs": _WORK,
    "purge_items": _WORK,
    "purge_samples": _WORK,
    "served_blocks": "keyed digests of what this home served last",
}
#: Tables whose key is encrypted on PostgreSQL, so that its order differs: their lines are sorted.
SORTED = frozenset(("checkpoints", "documents", "meta", "project_roots", "projects", "transcript_files"))
#: Tables that a bundle of an earlier schema has not, by the first schema that has them.
ADDED: Mapping[str, int] = {"projects": 25, "project_roots": 25, "shell_commands": 26, "documents": 26}
#: What the names of the facts in `meta` begin with that are in a bundle; the others are the state of one home.
_FACTS = ("lines:", "profile:", "undo:", "retention_agreed")


def has_table(table: str, schema: int) -> bool:
    """Return whether a bundle of a schema has a table."""
    return ADDED.get(table, 0) <= schema


def keeps_row(table: str, row: Row) -> bool:
    """Return whether a row of a table is in a bundle."""
    return table != "meta" or str(row[0]).startswith(_FACTS)
