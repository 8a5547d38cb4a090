"""The portable SQL becomes PostgreSQL's, and nothing else of a statement changes."""

import pytest

from recollectum.storage.postgres.dialect import to_postgres


@pytest.mark.parametrize(
    ("sql", "text", "names"),
    [
        ("SELECT a FROM b WHERE c = :c", "SELECT a FROM b WHERE c = $1", ("c",)),
        ("SELECT :b, :a, :b", "SELECT $1, $2, $1", ("b", "a")),
        ("SELECT :a0, :a10", "SELECT $1, $2", ("a0", "a10")),
        ("SELECT ':a', 'it''s :b', :c::text", "SELECT ':a', 'it''s :b', $1::text", ("c",)),
        ("SELECT 1 -- :a\n + :b", "SELECT 1 -- :a\n + $1", ("b",)),
        ("SELECT '100 %' LIKE :a", "SELECT '100 %' LIKE $1", ("a",)),
        ("SELECT value FROM numbers(:list)", "SELECT value FROM numbers($1)", ("list",)),
    ],
)
def test_parameters_are_numbered(sql: str, text: str, names: tuple[str, ...]) -> None:
    found = to_postgres(sql, in_vault=True)
    assert (found.text, found.names) == (text, names)


_UPSERT = "INSERT INTO meta (name) VALUES (:name) ON CONFLICT (name) DO NOTHING"


def test_the_vault_leads_a_conflict_target_in_a_vault_alone() -> None:
    assert "ON CONFLICT (vault, name)" in to_postgres(_UPSERT, in_vault=True).text
    assert "ON CONFLICT (name)" in to_postgres(_UPSERT, in_vault=False).text
