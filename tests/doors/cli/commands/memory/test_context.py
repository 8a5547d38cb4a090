"""`recollectum context`, `profile` and `checkpoints`: what a person sees of them."""

import pytest

from tests.doors.cli.calls import call, ok, refused

pytestmark = [pytest.mark.usefixtures("home"), pytest.mark.process]


def talk(*words: str) -> str:
    told = [ok("sessions", "add", "user", one, "--json").json["message"] for one in words]
    return told[-1]["session_id"]


@pytest.mark.feature("P4")
def test_the_text_and_the_ledger_are_shown() -> None:
    ok("remember", "Grace lives in Lyon")
    session = talk("hello", "where does Grace live?")
    shown = ok("context", "Grace", "--session", session).out
    assert "- Grace lives in Lyon" in shown
    assert shown.index("Lyon") < shown.index("user: where does Grace live?")
    lines = ok("context", "Grace", "--session", session, "--ledger").out.splitlines()
    assert lines[0].split() == ["part", "items", "tokens"]
    rows = {line.split()[0]: line.split()[1:] for line in lines[1:4]}
    assert rows["profile"][0] == "1"
    assert rows["message"][0] == "2"
    assert int(rows["total"][0]) == sum(int(rows[name][1]) for name in ("profile", "message"))
    assert "of 4000 tokens, counted at most (ceiling)" in lines
    assert any(line.startswith("left out: 1 of memory: it is already in the profile") for line in lines)


def test_json_has_the_text_the_messages_and_the_ledger() -> None:
    session = talk("hello")
    made = ok("context", "--session", session, "--tokens", "100", "--json").json
    assert [one["text"] for one in made["messages"]] == ["hello"]
    assert made["ledger"]["total"] <= made["ledger"]["budget"]["tokens"] == 100


def test_an_empty_context_says_so() -> None:
    ok("remember", "tea")
    answer = call("context", "--memories", "0", "--tokens", "1")
    assert (answer.code, answer.out) == (0, "")
    assert "there is nothing to show" in answer.err


def test_what_cannot_be_is_refused_in_a_sentence() -> None:
    ok("remember", "tea")
    assert refused("context", "tea", "--tokens", "0") == "tokens 0 is out of range; use 1 to 10000000"
    assert "there is no session 'ses_none'" in refused("context", "--session", "ses_none")
    assert refused("sessions", "checkpoints", "resume", "gone") == "there is no checkpoint 'gone' in this vault"


@pytest.mark.feature("A11")
def test_the_profile_names_its_memories_and_its_maker() -> None:
    memory = ok("remember", "Grace lives in Lyon").word
    answer = ok("memories", "profile", "--refresh")
    assert answer.out == f"- Grace lives in Lyon ({memory})\n"
    assert answer.err == "by: rules\n"
    made = ok("memories", "profile", "--json").json["profile"]
    assert made == {"bullets": [{"text": "Grace lives in Lyon", "memory_ids": [memory]}], "by": "rules"}
    ok("memories", "forget", memory)
    assert ok("memories", "profile", "--json").json == {"profile": None}


@pytest.mark.feature("C18")
def test_a_conversation_goes_on_from_a_checkpoint() -> None:
    session = talk("one", "two")
    assert ok("sessions", "checkpoints", "save", session, "here").out == f"here: message 2 of {session}\n"
    talk("three")
    assert ok("sessions", "checkpoints", "list").out.split("\t")[:3] == ["here", session, "2"]
    fork = ok("sessions", "checkpoints", "resume", "here").word
    assert talk("four") == fork
    other = ok("sessions", "checkpoints", "fork", session, "1", "--json").json["session"]
    assert (other["message_count"], other["extra"]["forked_from"]["session_id"]) == (1, session)
    ok("sessions", "checkpoints", "delete", "here")
    assert "there is no checkpoint" in ok("sessions", "checkpoints", "list").err
