"""The session commands: record, show, bring out and in, end and destroy."""

import json
from pathlib import Path

import pytest

from recollectum.vault.intake.new_message import MAX_TEXT
from tests.doors.cli.calls import call, ok, refused

pytestmark = [pytest.mark.usefixtures("home"), pytest.mark.process]


def add(*words: str) -> dict[str, str]:
    return ok("sessions", "add", *words, "--json").json["message"]


@pytest.mark.feature("A1")
@pytest.mark.feature("A3")
def test_both_sides_go_into_the_session_of_their_place() -> None:
    asked = add("user", "What is for dinner?", "--channel", "telegram")
    answered = add("assistant", "Stew.", "--channel", "telegram")
    by_id = add(asked["session_id"], "user", "Thanks")
    elsewhere = add("user", "Hello", "--channel", "whatsapp", "--group", "7", "--topic", "t")
    assert asked["session_id"] == answered["session_id"] == by_id["session_id"] != elsewhere["session_id"]
    told = ok("sessions", "show", asked["session_id"]).out
    assert "1. user: What is for dinner?\n2. assistant: Stew.\n3. user: Thanks\n" in told
    keys = [one["key"] for one in ok("sessions", "list", "--json").json["sessions"]]
    assert keys == ["agent:main:whatsapp:group:7:topic:t", "agent:main:telegram:direct"]
    assert len(ok("sessions", "list", "--key", "agent:main:tele", "--json").json["sessions"]) == 1


def test_what_add_wants_is_said() -> None:
    assert "expected ROLE TEXT or ID ROLE TEXT, not 1 word" in refused("sessions", "add", "user", code=2)
    assert "not 4 words; quote the text" in refused("sessions", "add", "user", "a", "b", "c", code=2)
    session = add("user", "hi")["session_id"]
    assert "not by both" in refused("sessions", "add", session, "user", "hi", "--channel", "telegram", code=2)
    assert "role 'nobody' is unknown" in refused("sessions", "add", "nobody", "hi")


def test_a_native_id_is_added_once() -> None:
    first, second = (add("user", text, "--native-id", "42") for text in ("hi", "hi again"))
    assert first["id"] == second["id"]


def test_full_shows_whole_messages() -> None:
    session = add("user", "word " * 100)["session_id"]
    assert "…" in ok("sessions", "show", session).out
    assert "…" not in ok("sessions", "show", session, "--full").out


@pytest.mark.feature("C4")
def test_a_record_is_written_again_only_when_something_but_its_time_changed(tmp_path: Path) -> None:
    session = add("user", "tea")["session_id"]
    file = tmp_path / "talk.json"
    export = ("sessions", "export", session, "--format", "gemini", "--output", str(file), "--json")
    assert ok(*export).json["written"] is True
    file.write_text(file.read_text().replace('"lastUpdated": "', '"lastUpdated": "1'))
    before = file.stat()
    assert ok(*export).json["written"] is False
    assert (file.stat().st_ino, file.stat().st_mtime_ns) == (before.st_ino, before.st_mtime_ns)
    add("assistant", "yes")
    assert ok(*export).json["written"] is True
    file.write_bytes(b"{")
    assert ok(*export).json["written"] is True


@pytest.mark.parametrize("form", ["jsonl", "gemini"])
def test_out_and_in_again(form: str, tmp_path: Path) -> None:
    session = add("user", "\u00e9 \x9b31m")["session_id"]
    add("assistant", "yes")
    file = str(tmp_path / "talk")
    ok("sessions", "export", session, "--format", form, "--output", file)
    assert Path(file).read_text(encoding="utf-8") == ok("sessions", "export", session, "--format", form).out
    assert Path(file).stat().st_mode & 0o077 == 0
    ok("sessions", "delete", session, "--yes")
    assert "2 messages added" in ok("sessions", "import", file).out
    assert "0 messages added, 2 known already" in ok("sessions", "import", file).out
    (back,) = ok("sessions", "list", "--json").json["sessions"]
    assert back["imported"] is True
    messages = ok("sessions", "show", back["id"], "--json").json["messages"]
    assert [one["content"] for one in messages] == ["\u00e9 \x9b31m", "yes"]


def damaged(tmp_path: Path) -> tuple[str, str]:
    """A transcript of three messages with the second one changed by hand; its session is destroyed."""
    session = add("user", "one")["session_id"]
    add("user", "two")
    add("user", "three")
    lines = ok("sessions", "export", session).out.splitlines(keepends=True)
    lines[2] = lines[2].replace("two", "2")
    ok("sessions", "delete", session, "--yes")
    file = tmp_path / "damaged.jsonl"
    file.write_text("".join(lines))
    return session, str(file)


def test_a_damaged_line_costs_itself_and_is_told(tmp_path: Path) -> None:
    session, file = damaged(tmp_path)
    answer = ok("sessions", "import", file)
    assert answer.out == f"{file}: {session}, 2 messages added, 1 damaged line\n"
    told, back = answer.err.splitlines()
    assert told == f"{file} line 3: its checksum is wrong or missing"
    assert back.startswith("to undo it: recollectum undo import imp_")


def test_strict_takes_nothing_from_a_damaged_file(tmp_path: Path) -> None:
    _, file = damaged(tmp_path)
    assert "line 3 is damaged" in refused("sessions", "import", file, "--strict")
    assert ok("sessions", "list", "--json").json == {"sessions": []}


def test_a_transcript_comes_from_stdin_in_either_form() -> None:
    session = add("user", "hi")["session_id"]
    for form in ("jsonl", "gemini"):
        data = ok("sessions", "export", session, "--format", form).out.encode()
        assert ok("sessions", "import", "-", stdin=data).out.startswith("-: ses_")
    assert "this is not a transcript" in refused("sessions", "import", "-", stdin=b"garbage")
    assert "this is not a transcript" in refused("sessions", "import", "-", stdin=b"")


def test_what_came_in_before_a_file_that_fails_is_told(tmp_path: Path) -> None:
    session = add("user", "hi")["session_id"]
    good = str(tmp_path / "good.jsonl")
    ok("sessions", "export", session, "--output", good)
    answer = call("sessions", "import", good, str(tmp_path / "gone"), "--json")
    assert answer.code == 1
    assert [one["file"] for one in answer.json["imports"]] == [good]
    assert json.loads(answer.err)["error"]["type"] == "OSError"


def test_end_begins_a_new_one() -> None:
    session = add("user", "hi")["session_id"]
    assert "ended on" in ok("sessions", "end", session).out
    assert add("user", "hi")["session_id"] != session


def test_delete_destroys() -> None:
    session = add("user", "a kingfisher")["session_id"]
    answer = ok("sessions", "delete", session, "--yes", "--json").json
    assert answer == {"deleted": session, "erased": True}
    assert "there is no session" in refused("sessions", "show", session)
    assert ok("recall", "kingfisher").out == ""


@pytest.mark.parametrize(("role", "told"), [("user", "too long"), ("narrator", "role 'narrator' is unknown")])
def test_a_refused_message_opens_no_session(role: str, told: str) -> None:
    ok("init")
    too_long = b"x" * (MAX_TEXT + 1)
    assert told in refused("sessions", "add", role, "-", "--channel", "telegram", stdin=too_long)
    assert ok("sessions", "list", "--json").json["sessions"] == []
