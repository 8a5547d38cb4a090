"""Gemini CLI's record and log: what is read, what is written, and what is refused."""

import json
from dataclasses import replace

import pytest

from recollectum.domain.errors import InvalidInput
from recollectum.domain.ids import is_id
from recollectum.domain.message import Json, Role, TokenCount, ToolStatus
from recollectum.domain.session import SessionKey
from recollectum.domain.trust import Trust
from recollectum.transfer.gemini import read_record, same_record, write_record
from tests.transfer.conversations import IDS, sample

CALL: dict[str, Json] = {
    "id": "shell-1",
    "name": "run_shell",
    "args": {"command": "date"},
    "result": [{"functionResponse": {"id": "shell-1", "response": {"output": "Monday"}}}],
    "status": "success",
    "timestamp": "2026-02-03T04:05:08.000Z",
    "displayName": "Shell",
}
QUESTION: dict[str, Json] = {
    "id": "q1",
    "timestamp": "2026-02-03T04:05:06.789Z",
    "type": "user",
    "content": [{"text": "What day is it?"}],
}
ANSWER: dict[str, Json] = {
    "id": "a1",
    "timestamp": "2026-02-03T04:05:07.000Z",
    "type": "gemini",
    "content": "It is Monday.",
    "thoughts": [{"subject": "Day", "description": "Ask the shell", "timestamp": "2026-02-03T04:05:07.000Z"}],
    "tokens": {"input": 7, "output": 5, "cached": 1, "thoughts": 2, "tool": 0, "total": 15},
    "model": "gemini-pro",
    "toolCalls": [CALL],
}
RESULT: dict[str, Json] = {
    "id": "r1",
    "timestamp": "2026-02-03T04:05:09.000Z",
    "type": "user",
    "content": [{"functionResponse": {"id": "shell-1", "response": {"output": "Monday"}}}],
}
METADATA: dict[str, Json] = {
    "sessionId": "0f0e0d0c-0001-4000-8000-000000000001",
    "projectHash": "ab" * 32,
    "startTime": "2026-02-03T04:05:06.000Z",
    "lastUpdated": "2026-02-03T04:05:09.000Z",
    "kind": "main",
}
RECORD: dict[str, Json] = {**METADATA, "messages": [QUESTION, ANSWER, RESULT], "summary": "The day"}


def log(*entries: Json) -> str:
    return "".join(json.dumps(entry) + "\n" for entry in entries)


def native_ids(text: str) -> list[str | None]:
    return [message.native_id for message in read_record(text, IDS)[1]]


@pytest.mark.feature("C4")
def test_a_record_becomes_our_nouns() -> None:
    session, (question, answer, result) = read_record(json.dumps(RECORD).encode(), IDS)
    assert is_id(session.id, "ses")
    assert session.key == SessionKey(agent="gemini-cli", channel="cli", topic="0f0e0d0c-0001-4000-8000-000000000001")
    assert session.extra == {"native_id": METADATA["sessionId"], "gemini": {"kind": "main"}}
    assert (session.project, session.summary, session.imported) == ("ab" * 32, "The day", True)
    assert session.message_count == 3
    assert session.token_estimate == sum(m.token_estimate for m in (question, answer, result)) > 0
    assert is_id(question.id, "msg")
    assert (question.session_id, question.position, question.native_id) == (session.id, 1, "q1")
    assert (question.role, question.text, question.trust) == (Role.USER, "What day is it?", Trust.IMPORTED)
    assert question.created_at.isoformat() == "2026-02-03T04:05:06.789000+00:00"
    assert answer.tokens == TokenCount(input=7, output=5, cached=1, thoughts=2, tool=0, total=15)
    assert (answer.role, answer.model, len(answer.thoughts)) == (Role.ASSISTANT, "gemini-pro", 1)
    assert result.role is Role.TOOL


@pytest.mark.feature("C5")
@pytest.mark.parametrize(
    ("word", "status"),
    [
        ("pending", ToolStatus.PENDING),
        ("validating", ToolStatus.PENDING),
        ("awaiting_approval", ToolStatus.PENDING),
        ("approved", ToolStatus.APPROVED),
        ("executing", ToolStatus.APPROVED),
        ("denied", ToolStatus.DENIED),
        ("cancelled", ToolStatus.DENIED),
        ("complete", ToolStatus.COMPLETE),
        ("success", ToolStatus.COMPLETE),
        ("failed", ToolStatus.FAILED),
        ("error", ToolStatus.FAILED),
        ("a word of next year", ToolStatus.PENDING),
    ],
)
def test_tool_calls_keep_their_state_and_their_own_word_for_it(word: str, status: ToolStatus) -> None:
    record = {**RECORD, "messages": [{**ANSWER, "toolCalls": [{**CALL, "status": word}]}]}
    session, (message,) = read_record(json.dumps(record), IDS)
    call = message.tool_calls[0]
    assert (call.id, call.name, call.args, call.status) == ("shell-1", "run_shell", {"command": "date"}, status)
    assert json.loads(write_record(session, [message])) == record


def test_a_state_that_changed_since_is_written_in_its_new_word() -> None:
    session, (_, answer, _) = read_record(json.dumps(RECORD), IDS)
    failed = replace(answer, tool_calls=(replace(answer.tool_calls[0], status=ToolStatus.FAILED),))
    written = json.loads(write_record(session, [failed]))
    assert written["messages"][0]["toolCalls"][0]["status"] == "failed"
    assert written["messages"][0]["toolCalls"][0]["displayName"] == "Shell"


def test_a_conversation_of_ours_is_a_record_too() -> None:
    session, messages = sample()
    record = json.loads(write_record(session, messages))
    assert record["sessionId"] == session.id
    assert record["startTime"] == "2026-03-01T12:00:00.123456Z"
    assert [message["id"] for message in record["messages"]] == [message.id for message in messages]
    assert [message["type"] for message in record["messages"]] == ["user", "gemini", "user", "gemini", "user"]
    assert record["messages"][1]["toolCalls"][0]["status"] == "complete"


def test_a_log_is_replayed() -> None:
    asked = {**ANSWER, "content": "", "toolCalls": [{**CALL, "status": "executing"}]}
    text = log(
        METADATA,
        {"$set": {"messages": [{**QUESTION, "id": "context"}], "lastUpdated": "2026-02-03T04:05:06.500Z"}},
        QUESTION,
        asked,
        {"something": "new"},
        ANSWER,
        RESULT,
        {"$set": {"lastUpdated": "2026-02-04T00:00:00.000Z", "summary": "The day"}},
    )
    session, messages = read_record(text, IDS)
    assert [message.native_id for message in messages] == ["context", "q1", "a1", "r1"]
    assert messages[2].text == "It is Monday."
    assert messages[2].tool_calls[0].status is ToolStatus.COMPLETE
    assert session.summary == "The day"
    assert session.updated_at.day == 4


def test_a_log_goes_back_and_starts_over() -> None:
    later = {**QUESTION, "id": "q2"}
    assert native_ids(log(METADATA, QUESTION, ANSWER, RESULT, {"$rewindTo": "a1"}, later)) == ["q1", "q2"]
    assert native_ids(log(METADATA, QUESTION, ANSWER, {"$rewindTo": "unknown"}, later)) == ["q2"]
    assert native_ids(log(METADATA, QUESTION, ANSWER, {"$set": {"messages": []}}, later)) == ["q2"]
    assert native_ids(log(METADATA)) == []


def test_the_last_line_of_a_log_may_be_torn() -> None:
    whole = log(METADATA, QUESTION)
    assert native_ids(whole + log(ANSWER)[:-20]) == ["q1"]
    assert native_ids(whole.replace("\n", "\r\n")) == ["q1"]


def changed(changes: dict[str, Json]) -> str:
    return json.dumps({**RECORD, **changes})


def first_message(changes: dict[str, Json]) -> str:
    return changed({"messages": [{**QUESTION, **changes}]})


@pytest.mark.parametrize(
    ("data", "words"),
    [
        (b"", "it is not JSON: Expecting value at line 1, column 1"),
        (b"\xff\xfe", "the record is not UTF-8 text"),
        ("[]", "record is not an object"),
        ("{", "it is not JSON: .* at line 1, column 2"),
        ("[" * 100_000, "it is nested too deep"),
        ('{"a":' * 150 + "1" + "}" * 150, "nested more than 100 deep"),
        ('{"sessionId": NaN}', "NaN is not a JSON number"),
        ('{"sessionId": "a", "sessionId": "b"}', "a key twice"),
        ("{}", r"record\.sessionId is not a text"),
        (changed({"sessionId": ""}), "session key part '' is empty"),
        (changed({"startTime": "soon"}), r"record\.startTime is not an ISO 8601 time"),
        (changed({"messages": {}}), r"record\.messages is not a list"),
        (changed({"messages": [5]}), r"record\.messages\[0\] is not an object"),
        (first_message({"id": 5}), r"messages\[0\]\.id is not a text"),
        (first_message({"type": None}), r"messages\[0\]\.type is not a text"),
        (first_message({"content": 5}), r"messages\[0\]\.content\[0\] is not an object"),
        (first_message({"tokens": {"input": "7"}}), r"messages\[0\]\.tokens\.input is not a whole number"),
        (first_message({"toolCalls": [{}]}), r"messages\[0\]\.toolCalls\[0\]\.id is not a text"),
        (first_message({"toolCalls": [{**CALL, "args": []}]}), r"messages\[0\]\.toolCalls\[0\]\.args is not an object"),
        (log(QUESTION, METADATA), "the first line of the log names no sessionId"),
        ('{"sessionId": "a", "messages": [' + "{}," * 500_000 + "{}]}", "more than 500000 objects and lists"),
        (log(METADATA) + "nonsense\n" + log(QUESTION), "line 2 of the log cannot be read: it is not JSON"),
        (log(METADATA, {"$set": 5}, QUESTION), r"line 2 of the log cannot be read: \$set is not an object"),
        (log(METADATA, {"$set": {"messages": [{}]}}, QUESTION), r"\$set\.messages\[\]\.id is not a text"),
    ],
    ids=range(24),
)
def test_bad_input_is_refused_in_one_sentence_that_names_the_place(data: bytes | str, words: str) -> None:
    with pytest.raises(InvalidInput, match=words) as refused:
        read_record(data, IDS)
    assert "\n" not in str(refused.value)
    assert "Monday" not in str(refused.value)


def test_surrogates_and_nul_are_cleaned() -> None:
    _, (message,) = read_record(first_message({"content": "a\ud800\0"}), IDS)
    assert message.content == "a\ufffd\ufffd"


@pytest.mark.feature("C4")
def test_a_record_is_the_same_when_only_its_time_differs() -> None:
    session, messages = read_record(json.dumps(RECORD), IDS)
    before = write_record(session, messages).encode()
    later = replace(session, updated_at=session.updated_at.replace(year=2027))
    assert before != write_record(later, messages).encode()
    assert same_record(before, write_record(later, messages))
    assert not same_record(before, write_record(session, messages[:2]))


@pytest.mark.parametrize("damaged", [b"", b"{", b"\xff", b"[]"])
def test_what_cannot_be_read_is_no_record(damaged: bytes) -> None:
    assert not same_record(damaged, write_record(*read_record(json.dumps(RECORD), IDS)))
