"""No text enters a vault but through its intake: only it redacts for a vault, and only it makes what writers accept."""

import ast
from collections.abc import Iterator
from functools import cache

from tests.shape.source import Module, modules

_INTAKE = "src/recollectum/vault/intake/"
_REDACTION = "recollectum.text.secrets.redaction"
#: Who may look for secrets besides the intake, with the reason.
_SEARCHERS = {
    "src/recollectum/policy/rules/checkers.py": "a rule about secrets in arguments decides, and writes nothing",
    "src/recollectum/distil/rules/statements.py": "a sentence with a secret is not proposed",
}
#: Who may say that a text comes from the vault's own rows, with the reason.
_READERS = {
    "src/recollectum/vault/undo/steps.py": "an undo writes an earlier version again",
    "src/recollectum/vault/consolidation/revert.py": "a revert writes an earlier version again",
    "src/recollectum/vault/review/service.py": "an approval writes what was proposed",
    "src/recollectum/vault/sessions/checkpoints.py": "a fork copies messages",
}
#: The functions that write text to a table, and who may call them, each with admitted text only.
_WRITERS = {
    "memories.insert": {"src/recollectum/vault/memories/changes.py"},
    "memories.update": {"src/recollectum/vault/memories/changes.py"},
    "messages.add_new": {"src/recollectum/vault/messages.py"},
    "messages.insert": {"src/recollectum/vault/messages.py"},
    "messages.set_calls": {"src/recollectum/vault/messages.py"},
    "notes.insert": {"src/recollectum/vault/notes/sync.py"},
    "notes.update": {"src/recollectum/vault/notes/sync.py"},
    "proposals.add": {"src/recollectum/vault/review/service.py"},
    "shell_commands.add": {"src/recollectum/vault/agent_state/shell_history.py"},
    "documents.replace": {"src/recollectum/vault/agent_state/documents.py"},
    "summaries.save": {
        "src/recollectum/vault/sessions/summaries.py",
        "src/recollectum/vault/sessions/checkpoints.py",  # a fork copies the summary
    },
    "sessions.insert": {
        "src/recollectum/vault/messages.py",
        "src/recollectum/vault/sessions/service.py",
        "src/recollectum/vault/sessions/checkpoints.py",  # a fork copies the title
    },
}


def _source() -> list[Module]:
    return [one for one in modules("src") if not one.path.startswith(_INTAKE)]


@cache
def _calls(module: Module) -> tuple[str, ...]:
    return tuple(ast.unparse(node.func) for node in module.nodes if isinstance(node, ast.Call))


def _imports(module: Module) -> Iterator[str]:
    for node in module.nodes:
        if isinstance(node, ast.ImportFrom) and node.module:
            yield node.module
            yield from (f"{node.module}.{one.name}" for one in node.names)
        elif isinstance(node, ast.Import):
            yield from (one.name for one in node.names)


def test_only_the_intake_redacts_for_a_vault() -> None:
    found = {one.path for one in _source() if _REDACTION in _imports(one)}
    assert found == _SEARCHERS.keys()


def test_only_the_intake_admits() -> None:
    made = [
        (one.path, call) for one in _source() for call in _calls(one) if call.rpartition(".")[2].startswith("Admitted")
    ]
    assert made == []
    cast = [one.path for one in _source() if "cast(Admitted" in one.text or 'cast("Admitted' in one.text]
    assert cast == []


def test_only_rows_are_taken_as_admitted_already() -> None:
    stored = {"stored_text", "stored_message", "stored_finding"}
    found = {one.path for one in _source() if stored.intersection(_calls(one))}
    assert found == _READERS.keys()


def test_tables_of_texts_are_written_where_admitted_text_is_at_hand() -> None:
    found: dict[str, set[str]] = {}
    for module in _source():
        if module.path.startswith("src/recollectum/storage/"):
            continue
        for call in _WRITERS.keys() & set(_calls(module)):
            found.setdefault(call, set()).add(module.path)
    assert found == _WRITERS
