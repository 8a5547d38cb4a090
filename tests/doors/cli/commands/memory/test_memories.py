"""Remember, recall, and the memory commands."""

from datetime import UTC, datetime, timedelta

import pytest

from recollectum import Recollectum
from tests.doors.cli.calls import call, ok, refused
from tests.doors.cli.terminals import Terminal

pytestmark = [pytest.mark.usefixtures("home"), pytest.mark.process]


@pytest.mark.feature("A9")
@pytest.mark.feature("P8")
def test_remember_keeps_the_words_and_says_when_they_were_known() -> None:
    first = ok("remember", "Grace is my girlfriend", "--key", "girlfriend")
    shown = ok("memories", "show", first.word, "--json").json
    assert (shown["memory"]["content"], shown["sources"]) == ("Grace is my girlfriend", [])
    again = ok("remember", "Grace is my girlfriend")
    assert again.word == first.word
    assert "known already, and renewed" in again.err
    changed = ok("remember", "Ada is my girlfriend", "--key", "girlfriend", "--json")
    assert changed.json["outcome"] == "changed"
    assert "kept in the history" in changed.err
    assert ok("remember", "new", "--json").json["outcome"] == "created"


@pytest.mark.feature("P8")
@pytest.mark.parametrize("key", ["Girlfriend", "1st", "a-b", "system_x", "internal_x", "k" * 65])
def test_a_key_outside_the_grammar_is_refused(key: str) -> None:
    assert refused("remember", "x", "--key", key).startswith("key ")


@pytest.mark.feature("P8")
def test_save_list_delete() -> None:
    memory = ok("remember", "I like tea").word
    assert memory in ok("memories", "list").out
    assert "can be restored until" in ok("memories", "forget", memory).out
    assert ok("memories", "list").out == ""
    assert "is deleted" in refused("memories", "show", memory)


def test_text_comes_from_stdin() -> None:
    memory = ok("remember", "-", stdin="two\nlines: \u00e9\n".encode()).word
    assert ok("memories", "show", memory, "--json").json["memory"]["content"] == "two\nlines: \u00e9"
    assert "not UTF-8" in refused("remember", "-", stdin=b"\xe9")
    ok("memories", "edit", memory, "-", stdin=b"three")
    assert ok("memories", "show", memory).out.endswith("three\n")
    assert "nothing" not in call("recall", "-", stdin=b"three").err


@pytest.mark.feature("M4")
def test_a_ttl_is_a_deadline() -> None:
    memory = ok("remember", "The parcel comes today", "--ttl", "1h30m", "--json").json["memory"]
    made, expires = (datetime.fromisoformat(memory[name]) for name in ("created_at", "expires_at"))
    assert expires - made == timedelta(minutes=90)
    assert "is not a duration" in refused("remember", "x", "--ttl", "soon")


def test_a_memory_is_shown_with_the_place_it_came_from() -> None:
    said = ok("sessions", "add", "user", "I moved to Lisbon", "--json").json["message"]
    memory = ok("remember", "lives in Lisbon", "--from-message", said["id"]).word
    shown = ok("memories", "show", memory)
    assert f"{said['session_id']}, message 1 ({said['id']}) [0:17]" in shown.out
    whole = {"position": 1, "start": 0, "end": 17, "exact": False}
    sources = [{"session_id": said["session_id"], "message_id": said["id"], **whole}]
    assert ok("memories", "show", memory, "--json").json["sources"] == sources


def test_validity_and_source_are_kept() -> None:
    message = ok("sessions", "add", "user", "I live in Lisbon", "--json").json["message"]
    line = ("remember", "lives in Lisbon", "--valid-from", "2026-01-01", "--valid-to", "2099-12-31T12:00+02:00")
    memory = ok(*line, "--from-message", message["id"], "--json").json["memory"]
    assert memory["valid_from"] == "2026-01-01T00:00:00+00:00"
    assert memory["valid_to"] == "2099-12-31T10:00:00+00:00"
    assert memory["message_id"] == message["id"]


def test_recall_cites_its_source() -> None:
    message = ok("sessions", "add", "assistant", "You drink green tea", "--json").json["message"]
    memory = ok("remember", "Green tea, no sugar").word
    said = ok("recall", "green tea").out
    assert f"{message['id']} [0:19] in {message['session_id']}, message 1" in said
    assert "by assistant" in said
    assert "trust: assistant" in said
    assert f"{memory} [0:19]" in said
    assert "UTC" in said
    assert message["id"] not in ok("recall", "green tea", "--source", "memories").out
    assert memory not in ok("recall", "green tea", "--session", message["session_id"]).out
    assert len(ok("recall", "green tea", "--limit", "1", "--json").json["hits"]) == 1


def test_nothing_found_is_said_and_no_failure() -> None:
    answer = ok("recall", "unicorn")
    assert answer.out == ""
    assert "nothing was found" in answer.err.splitlines()[-1]


@pytest.mark.feature("M1")
@pytest.mark.feature("M6")
@pytest.mark.feature("M8")
def test_archive_forget_and_restore() -> None:
    memory = ok("remember", "The sky is blue").word
    assert "is archived" in ok("memories", "archive", memory).out
    assert ok("recall", "sky").out == ""
    assert ok("memories", "show", memory, "--json").json["memory"]["state"] == "archived"
    assert "read-only; restore it first" in refused("memories", "edit", memory, "x")
    assert memory in ok("memories", "list", "--state", "archived").out
    ok("memories", "forget", memory)
    assert memory in ok("memories", "list", "--state", "soft_deleted").out
    assert "is active again" in ok("memories", "restore", memory).out
    assert memory in ok("recall", "sky").out


def test_history_and_diff() -> None:
    memory = ok("remember", "one\ntwo\nthree").word
    alone = ok("memories", "diff", memory)
    assert (alone.out, alone.err) == ("", f"memory {memory} has one version only\n")
    ok("memories", "edit", memory, "one\n2\nthree")
    ok("memories", "edit", memory, "--importance", "0.9")
    told = ok("memories", "history", memory).out
    assert "version 1: " in told
    assert "version 3: " in told
    assert "edited by process" in told
    lines = ok("memories", "diff", memory, "1", "2").out.splitlines()
    assert lines[2:] == ["@@ -1,3 +1,3 @@", " one", "-two", "+2", " three"]
    assert ok("memories", "diff", memory).err == "the two versions have the same text\n"
    assert "has no version 9; it has 1 to 3" in refused("memories", "diff", memory, "1", "9")
    assert "two versions" in refused("memories", "diff", memory, "1", code=2)


def test_edit_can_insist_on_a_version() -> None:
    memory = ok("remember", "The sky is blue").word
    ok("memories", "edit", memory, "The sky is grey", "--version", "1")
    assert "is at version 2, not 1" in refused("memories", "edit", memory, "black", "--version", "1")


def test_supersede_and_as_of() -> None:
    long_ago = datetime(2020, 1, 1, tzinfo=UTC)
    with Recollectum(clock=lambda: long_ago, settings={"lifecycle.active_days": 0}) as r:
        old = r.vault("user:ada").memories.save("Ada lives in Porto").memory
    with Recollectum(settings={"lifecycle.active_days": 0}) as r:
        r.vault("user:ada").admin.lifecycle.accept_clock()
    new = ok("memories", "supersede", old.id, "Ada lives in Lisbon").word
    assert "Lisbon" in ok("recall", "Ada lives").out
    assert "Porto" not in ok("recall", "Ada lives").out
    assert "Porto" in ok("memories", "as-of", "2020-06-01").out
    assert "no memories were active" in ok("memories", "as-of", "2019-06-01").err
    assert new in ok("memories", "as-of", "+1d").out


def test_a_list_in_a_pipe_is_a_line_for_each_row() -> None:
    ok("remember", "with\ta tab\nand a line")
    (line,) = ok("memories", "list").out.splitlines()
    assert line.split("\t")[2:] == ["fact", "-", "with a tab and a line"]


def test_pages_follow_each_other() -> None:
    ids = [ok("remember", f"number {number}").word for number in range(4)]
    first = [one["id"] for one in ok("memories", "list", "--limit", "2", "--json").json["memories"]]
    then = [one["id"] for one in ok("memories", "list", "--before", first[-1], "--json").json["memories"]]
    assert first + then == ids[::-1]


def test_a_list_says_how_many_there_are_beyond_its_end() -> None:
    for number in range(4):
        ok("remember", f"fact {number}")
    found = ok("memories", "list", "--limit", "3")
    last = found.out.splitlines()[-1].split("\t")[0]
    assert found.err == f"3 of 4; see others with --limit N, or older ones with --before {last}\n"
    assert ok("memories", "list", "--limit", "4").err == ""
    assert ok("memories", "list", "--before", last).out.count("\n") == 1
    assert "there are more" in ok("memories", "list", "--limit", "2", "--kind", "fact").err
    for channel in ("a", "b"):
        ok("sessions", "add", "user", "hello", "--channel", channel)
    assert ok("sessions", "list", "--limit", "1").err.startswith("1 of 2; ")


def test_a_long_memory_is_one_line_of_a_table() -> None:
    ok("remember", "a long story " * 200 + "that ends")
    with Terminal("memories", "list", environ={"COLUMNS": "100"}) as terminal:
        assert terminal.end() == 0
    heading, row, *rest = terminal.shown.splitlines()
    assert ("text" in heading, rest) == (True, [])
    assert row.rstrip().endswith("…")
    with Terminal("memories", "list", "--full", environ={"COLUMNS": "100"}) as terminal:
        assert terminal.end() == 0
    assert len(terminal.shown.splitlines()) > 20
