"""An import that is killed goes on, is undone whole, and takes little memory whatever the size of its file."""

import json
import os
import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest

from recollectum import Recollectum, Vault
from recollectum.domain.page import every
from tests.crashes.programs import finish, hear, kill, start
from tests.transfer.foreign_files import SAMPLES_OF, conversations

pytestmark = pytest.mark.process

_PROGRAM = "tests.transfer.imports_program"
#: 1,000 in a full run.
_TALKS = int(os.environ.get("RECOLLECTUM_TEST_IMPORT_TALKS", "400"))
#: 1,024 in a full run.
_MIB = int(os.environ.get("RECOLLECTUM_TEST_IMPORT_MIB", "24"))
#: What a process may take, with the interpreter and an open vault.
_MOST_MIB = 200


def _held(vault: Vault) -> list[tuple[str, str, str]]:
    found = every(lambda cursor: vault.sessions.list(cursor=cursor, limit=200))
    return sorted(
        (str(one.extra["native_id"]), message.role, message.text)
        for one in found
        for message in vault.sessions.chat(one.id).transcript(limit=1000)
    )


@pytest.mark.slow
def test_generated_histories_arrive_whole_whenever_the_import_is_killed(tmp_path: Path) -> None:
    path, home = tmp_path / "conversations.json", tmp_path / "home"
    path.write_text(json.dumps(list(conversations(_TALKS))))
    expected = sorted(
        (one["conversation_id"], node["message"]["author"]["role"], node["message"]["content"]["parts"][0])
        for one in conversations(_TALKS)
        for node in one["mapping"].values()
        if node["message"]
    )
    seen: list[int] = []
    for stop in (1, 2):
        child = start(_PROGRAM, str(home), str(path), str(stop))
        assert hear(child) == "inside"
        kill(child)
        with Recollectum(home, settings={"encryption": "off"}) as r:
            seen.append(len(_held(r.vault("user:ann"))))
    assert seen[0] == 0
    (said,) = finish(start(_PROGRAM, str(home), str(path), "0"))
    words = said.split()
    assert int(words[1]) == len(expected) - seen[-1]
    with Recollectum(home, settings={"encryption": "off"}) as r:
        vault = r.vault("user:ann")
        assert _held(vault) == expected
        assert vault.admin.imports.run(vault.admin.imports.preview([path])).import_id is None
        assert [one.messages for one in vault.sessions.list_imports()] == [len(expected)]
        vault.privacy.undo.brought(words[3])
        assert _held(vault) == []


#: Most of a real log is what tools answered, or what is no longer shown: it is read, and not imported.
_FILLER = "x" * 30_000


def _claude_code(path: Path) -> int:
    result = {"type": "tool_result", "tool_use_id": "t", "content": _FILLER}
    count = 0
    with path.open("w") as file:
        while file.tell() < _MIB * 2**20:
            count += 1
            line = {"type": "user", "sessionId": "s", "timestamp": "2026-02-01T10:00:00Z", "uuid": f"u{count}"}
            file.write(json.dumps({**line, "message": {"role": "user", "content": f"remark {count}"}}) + "\n")
            file.write(
                json.dumps({**line, "uuid": f"r{count}", "message": {"role": "user", "content": [result]}}) + "\n"
            )
    return count


def _chatgpt(path: Path) -> int:
    count = 0
    with path.open("w") as file:
        for one in conversations(_MIB * 2**20 // len(_FILLER), turns=1):
            hidden = {**one["mapping"]["n0"]["message"], "content": {"content_type": "text", "parts": [_FILLER]}}
            one["mapping"]["old"] = {"id": "old", "parent": "root", "message": hidden}
            file.write(("," if count else "[") + json.dumps(one))
            count += 1
        file.write("]")
    return count


def _aider(path: Path) -> int:
    count = _MIB * 2**20 // len(_FILLER)
    with path.open("w") as file:
        for number in range(count):
            file.write(f"\n# aider chat started at 2026-02-01 10:00:00\n\n#### remark {number}  \n\n> {_FILLER}\n")
    return count


def _opencode(path: Path) -> int:
    count = _MIB * 2**20 // len(_FILLER)
    with closing(sqlite3.connect(path)) as database, database:
        database.execute("CREATE TABLE session (id, title, directory, time_created, time_updated, parent_id)")
        database.execute("CREATE TABLE message (id PRIMARY KEY, session_id, time_created, data)")
        database.execute("CREATE TABLE part (id PRIMARY KEY, message_id, session_id, data)")
        database.execute("CREATE INDEX parts ON part (message_id)")
        database.execute("INSERT INTO session VALUES ('s', 't', '/p', 1760000000000, 1760000000000, NULL)")
        for number in range(count):
            database.execute(
                "INSERT INTO message VALUES (?, 's', 1760000000000, ?)", (f"m{number}", '{"role": "user"}')
            )
            parts = [{"type": "text", "text": f"remark {number}"}, {"type": "snapshot", "diff": _FILLER}]
            rows = [(f"m{number}-{at}", f"m{number}", json.dumps(part)) for at, part in enumerate(parts)]
            database.executemany("INSERT INTO part VALUES (?, ?, 's', ?)", rows)
    return count


@pytest.mark.slow
@pytest.mark.parametrize("form", [_claude_code, _chatgpt, _aider, _opencode], ids=lambda form: form.__name__[1:])
def test_memory_does_not_grow_with_the_file(tmp_path: Path, form: Callable[[Path], int]) -> None:
    path = tmp_path / "file"
    count = form(path)
    (said,) = finish(start(_PROGRAM, str(tmp_path / "home"), str(path), "0"))
    _, added, _, _, _, base, _, most = said.split()
    assert int(added) == count
    assert int(most) <= _MOST_MIB
    # Far less than the file, which is read in pieces.
    assert int(most) - int(base) < max(_MIB, 40)


@pytest.mark.feature("P10")
def test_a_sessions_json_is_imported_whole_or_not_at_all(tmp_path: Path) -> None:
    path, home = SAMPLES_OF["picobot"](tmp_path / "files").path, tmp_path / "home"
    # In the second conversation, when the first one is written.
    child = start(_PROGRAM, str(home), str(path), "2")
    assert hear(child) == "inside"
    kill(child)
    assert path.exists()
    with Recollectum(home, settings={"encryption": "off"}) as r:
        assert _held(r.vault("user:ann")) == []
    (said,) = finish(start(_PROGRAM, str(home), str(path), "0"))
    assert said.startswith("added 5 ")
    assert not path.exists()
    assert Path(f"{path}.migrated").exists()
