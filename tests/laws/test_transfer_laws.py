"""Laws of transfer: what is written can be read again, exactly."""

import contextlib
import json
from typing import cast

import pytest
from hypothesis import given
from hypothesis import strategies as st

from recollectum.domain.errors import InvalidInput
from recollectum.domain.message import Json, Message
from recollectum.domain.session import Session
from recollectum.transfer import gemini, jsonl
from tests.transfer.conversations import IDS, conversations, objects, texts, values

pytestmark = pytest.mark.slow

Conversation = tuple[Session, tuple[Message, ...]]


@given(conversations())
def test_a_transcript_reads_as_it_was_written(conversation: Conversation) -> None:
    session, messages = conversation
    lines = list(jsonl.write(session, messages))
    read = jsonl.read(lines)
    assert read == jsonl.Transcript(session, messages)
    assert read.session
    assert list(jsonl.write(read.session, read.messages)) == lines


@given(st.lists(st.binary(max_size=60) | values.map(lambda value: json.dumps(value).encode()), max_size=6))
def test_strange_lines_are_damage_and_never_a_crash(lines: list[bytes]) -> None:
    read = jsonl.read(lines)
    assert read.session is None
    assert read.messages == ()
    # The missing end line is one more.
    told = [line.rstrip(b"\r\n") for line in lines]
    # Only the first line may begin with a mark of its encoding.
    told[:1] = [line.removeprefix(b"\xef\xbb\xbf") for line in told[:1]]
    assert len(read.damage) == 1 + len([line for line in told if line])


stamps = st.datetimes().map(lambda time: time.isoformat(timespec="milliseconds") + "Z")
stamps |= st.datetimes().map(lambda time: time.isoformat() + "+00:00")
contents: st.SearchStrategy[Json] = texts | objects | st.none() | st.lists(texts | objects, max_size=3)
optional_lists = st.lists(objects, max_size=2) | st.none()
calls = st.fixed_dictionaries(
    {
        "id": texts,
        "name": texts,
        "args": objects,
        "status": st.sampled_from(["success", "error", "cancelled", "executing", "complete", "denied", "new word"]),
        "timestamp": stamps,
    },
    optional={"result": values, "displayName": texts, "resultDisplay": values},
)
tokens = st.fixed_dictionaries(
    {"input": st.integers(0, 99), "output": st.integers(0, 99), "cached": st.just(0), "total": st.integers(0, 99)},
    optional={"thoughts": st.integers(0, 9), "tool": st.integers(0, 9), "later": values},
)
messages = st.fixed_dictionaries(
    {
        "id": texts.filter(bool),
        "timestamp": stamps,
        "type": st.sampled_from(["user", "gemini", "info", "error", "warning", "new"]),
        "content": contents,
    },
    optional={
        "toolCalls": st.lists(calls, max_size=2) | st.none(),
        "thoughts": optional_lists,
        "tokens": tokens | st.none(),
        "model": texts | st.none(),
        "displayContent": contents,
    },
)
records = st.fixed_dictionaries(
    {
        "sessionId": st.uuids().map(str),
        "projectHash": texts,
        "startTime": stamps,
        "lastUpdated": stamps,
        "messages": st.lists(messages, max_size=3),
    },
    optional={"summary": texts | st.none(), "kind": st.just("main"), "native_id": texts, "directories": values},
)


@given(records)
@pytest.mark.feature("C4")
def test_a_gemini_record_is_written_as_it_was_read(record: dict[str, Json]) -> None:
    session, said = gemini.read_record(json.dumps(record), IDS)
    assert json.loads(gemini.write_record(session, said)) == record


@given(conversations())
def test_any_conversation_can_be_written_for_gemini(conversation: Conversation) -> None:
    session, said = conversation
    _, again = gemini.read_record(gemini.write_record(session, said), IDS)
    assert [message.native_id for message in again] == [message.native_id or message.id for message in said]
    assert [message.text for message in again] == [message.text for message in said]


@given(st.text() | st.binary() | values.map(json.dumps) | records.map(lambda r: json.dumps(r)[:-9]))
def test_anything_else_is_refused_in_words(data: str | bytes) -> None:
    with pytest.raises(InvalidInput):
        gemini.read_record(data, IDS)


@given(records, st.data())
def test_a_record_with_one_wrong_value_never_crashes(record: dict[str, Json], data: st.DataObject) -> None:
    said = cast("list[dict[str, Json]]", record["messages"])
    place = said[0] if said and data.draw(st.booleans()) else record
    place[data.draw(st.sampled_from(sorted(place)))] = data.draw(values)
    # Refused or read, but nothing else.
    with contextlib.suppress(InvalidInput):
        gemini.read_record(json.dumps(record), IDS)
