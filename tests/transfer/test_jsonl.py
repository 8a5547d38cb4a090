"""Transcripts: every way a file is cut, flipped, joined or forged, and what survives."""

import io
import json
import zlib
from dataclasses import replace

import pytest

from recollectum.domain.errors import InvalidInput
from recollectum.domain.message import Json, Message
from recollectum.domain.session import Session
from recollectum.transfer import jsonl
from recollectum.transfer.jsonl import Damage, Transcript
from tests.transfer.conversations import IDS, sample


def lines_of(data: bytes) -> list[bytes]:
    return io.BytesIO(data).readlines()


def signed(rest: dict[str, Json]) -> bytes:
    """A line as another writer would make it: any spelling of the JSON, with a right checksum."""
    text = json.dumps(rest, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
    crc = f"{zlib.crc32(text.encode('utf-8', 'surrogatepass')):08x}"
    return json.dumps({**rest, "crc": crc}, indent=None).encode() + b"\n"


@pytest.fixture
def conversation() -> tuple[Session, tuple[Message, ...]]:
    return sample()


@pytest.fixture
def lines(conversation: tuple[Session, tuple[Message, ...]]) -> list[bytes]:
    return list(jsonl.write(*conversation))


def test_the_form_of_a_file(lines: list[bytes]) -> None:
    header, first, *_, end = [json.loads(line) for line in lines]
    assert set(header) == {"recollectum", "version", "session", "crc"}
    assert (header["recollectum"], header["version"]) == ("session", 1)
    assert header["session"]["created_at"] == "2026-03-01T12:00:00.123456Z"
    assert {"imported", "message_count", "token_estimate"}.isdisjoint(header["session"])
    assert set(first) == {"message", "crc"}
    assert end["end"] == {"messages": 5}
    for line in lines:
        value = json.loads(line)
        crc = value.pop("crc")
        text = json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
        assert crc == f"{zlib.crc32(text.encode()):08x}"


@pytest.mark.slow
def test_a_cut_anywhere_in_the_last_three_lines_costs_only_the_line_it_is_in(
    conversation: tuple[Session, tuple[Message, ...]], lines: list[bytes]
) -> None:
    session, messages = conversation
    data = b"".join(lines)
    ends = [len(b"".join(lines[: number + 1])) for number in range(len(lines))]
    for cut in range(ends[-4], len(data)):
        # What a file system leaves after a torn write: nothing, a newline, or a block of zeros.
        for ending in (b"", b"\n", b"\0" * 40, b"\0" * 40 + b"\n"):
            read = jsonl.read(lines_of(data[:cut] + ending))
            # A line is whole without its newline, unless something else follows it.
            whole = sum(cut >= end - (not ending.startswith(b"\0")) for end in ends)
            assert read.session is not None
            assert replace(read.session, message_count=5, token_estimate=55) == session
            assert read.messages == messages[: whole - 1], (cut, ending)
            assert bool(read.damage) == (whole < len(lines))


@pytest.mark.slow
def test_a_flipped_byte_anywhere_costs_only_the_line_it_is_in(
    conversation: tuple[Session, tuple[Message, ...]], lines: list[bytes]
) -> None:
    _, messages = conversation
    before = lines[:-3]
    for number, line in enumerate(lines[-3:-1], start=len(before)):
        for place in range(len(line) - 1):
            for flip in (0x01, 0x20, 0x80):
                changed = bytearray(line)
                changed[place] ^= flip
                if changed[place] == 0x0A:
                    continue
                read = jsonl.read([*lines[:number], bytes(changed), *lines[number + 1 :]])
                lost = messages[number - 1]
                assert read.messages == tuple(message for message in messages if message != lost), (place, flip)
                assert [damage.line for damage in read.damage] == [number + 1]


def test_a_line_torn_in_two_by_a_newline_costs_only_itself(lines: list[bytes]) -> None:
    middle = len(lines[3]) // 2
    read = jsonl.read([*lines[:3], lines[3][:middle] + b"\n", lines[3][middle:], *lines[4:]])
    assert [message.position for message in read.messages] == [1, 2, 4, 5]
    assert [damage.line for damage in read.damage] == [4, 5]


def test_a_lost_header_leaves_the_messages(lines: list[bytes]) -> None:
    read = jsonl.read([b"\0" * 20 + b"\n", *lines[1:]])
    assert read.session is None
    assert len(read.messages) == 5
    assert [damage.line for damage in read.damage] == [1]


def test_lines_that_are_gone_repeated_or_swapped_are_noticed(lines: list[bytes]) -> None:
    assert jsonl.read([*lines[:2], *lines[3:]]).damage == (
        Damage(6, "the end line counts 5 messages, but 4 were read"),
    )
    assert jsonl.read([*lines[:3], lines[2], *lines[3:]]).damage == (
        Damage(4, "the message is out of order or repeated"),
    )
    assert [damage.line for damage in jsonl.read([*lines[:2], lines[3], lines[2], *lines[4:]]).damage] == [4]
    assert jsonl.read(lines[:-1]).damage == (Damage(7, "the end line is missing: the transcript was cut short"),)
    assert jsonl.read([*lines, lines[1]]).damage == (Damage(8, "it is after the end line"),)
    assert jsonl.read([]).damage == (Damage(1, "the end line is missing: the transcript was cut short"),)


def test_two_files_joined_do_not_mix(lines: list[bytes]) -> None:
    other = list(jsonl.write(*sample()))
    read = jsonl.read([*lines[:-1], *other])
    assert [message.position for message in read.messages] == [1, 2, 3, 4, 5]
    assert len(read.damage) == 6


def test_windows_line_ends_a_byte_order_mark_and_blank_lines_do_no_harm(
    conversation: tuple[Session, tuple[Message, ...]], lines: list[bytes]
) -> None:
    session, messages = conversation
    spoiled = [b"\xef\xbb\xbf" + lines[0], *(line.replace(b"\n", b"\r\n") for line in lines[1:]), b"\r\n", b"\n"]
    assert jsonl.read(spoiled) == Transcript(session, messages)


def header(session: Session, version: int = 1) -> dict[str, Json]:
    line = json.loads(next(iter(jsonl.write(session, ()))))
    return {"recollectum": "session", "version": version, "session": line["session"]}


def test_a_newer_version_is_refused_in_words(conversation: tuple[Session, tuple[Message, ...]]) -> None:
    with pytest.raises(InvalidInput, match="of version 2; this Recollectum reads version 1, so try a newer one"):
        jsonl.read([signed(header(conversation[0], version=2))])
    with pytest.raises(InvalidInput, match="of another kind"):
        jsonl.read([signed({"recollectum": "vault"})])


def test_fields_of_a_newer_writer_are_kept_as_extra(conversation: tuple[Session, tuple[Message, ...]]) -> None:
    session, (first, *_) = conversation
    line = json.loads(list(jsonl.write(session, [first]))[1])["message"]
    read = jsonl.read([signed({"message": {**line, "mood": "calm", "extra": {"n": 1}}, "later": True})])
    assert read.messages[0].extra == {"mood": "calm", "n": 1}


def nested(depth: int) -> bytes:
    return b'{"message":' + b"[" * depth + b"]" * depth + b"}\n"


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        (b'{"message":{},"message":{}}\n', "it holds a key twice in one object"),
        (b'{"message":NaN}\n', "NaN is not a JSON number"),
        (b'{"message":1e999}\n', "inf is not a JSON number; use null or text"),
        (b"[1]\n", "it is not an object"),
        (b'{"message":' + b"9" * 5000 + b"}\n", "it holds a number that is too long"),
        (nested(101), "JSON value is nested more than 100 deep; flatten it"),
        (nested(100_000), "it is nested too deep to be read"),
        (b'"\xff"\n', "it is not UTF-8"),
        (b'{"message":{}}\n', "its checksum is wrong or missing"),
        (b" " * (jsonl.MAX_LINE + 1) + b"{}\n", "it is longer than 16777216 bytes"),
        (signed({"other": 1}), "it is neither a header nor a message nor an end line"),
        (signed({"end": {"messages": True}}), "end.messages is not a whole number from 0"),
        (signed({"message": []}), "message is not an object"),
        (signed({"message": {"id": "x"}}), "id is not of the form msg_… with 26 characters"),
    ],
    ids=range(14),
)
def test_what_is_not_ours_is_damage_that_says_why(lines: list[bytes], line: bytes, reason: str) -> None:
    read = jsonl.read([*lines[:3], line, *lines[3:]])
    assert Damage(4, reason) in read.damage
    assert len(read.messages) == 5 if b"end" not in line else 2


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({"role": "king"}, "role is none of system, user, assistant, tool, info, warning, error"),
        ({"created_at": "yesterday"}, "message.created_at is not an ISO 8601 time"),
        ({"created_at": "2026-01-01T00:00:00"}, "message.created_at has no time zone; end it with Z"),
        ({"created_at": "0001-01-01T00:00:00+14:00"}, "message.created_at is not an ISO 8601 time"),
        ({"position": 0}, "the message is out of order or repeated"),
        ({"position": 2**63}, "message.position is not a whole number from 0"),
        ({"content": 5}, "message.content is not a list"),
        ({"content": ["text"]}, "message.content[0] is not an object"),
        ({"tokens": {"input": -1}}, "message.tokens.input is not a whole number from 0"),
        ({"tool_calls": [{"id": "a"}]}, "message.tool_calls.name is not a text"),
        ({"extra": []}, "message.extra is not an object"),
    ],
)
def test_a_message_of_another_shape_is_damage(
    conversation: tuple[Session, tuple[Message, ...]], changes: dict[str, Json], reason: str
) -> None:
    session, (first, *_) = conversation
    line = json.loads(list(jsonl.write(session, [first]))[1])["message"]
    read = jsonl.read(
        [signed(header(session)), signed({"message": {**line, **changes}}), signed({"end": {"messages": 1}})]
    )
    assert read.messages == ()
    assert read.damage == (Damage(2, reason),)


def test_lone_surrogates_are_cleaned_both_ways(conversation: tuple[Session, tuple[Message, ...]]) -> None:
    session, (first, *_) = conversation
    written = list(jsonl.write(session, [replace(first, content="a\ud800\0b")]))
    assert jsonl.read(written).messages[0].content == "a\ufffd\ufffdb"
    line = json.loads(written[1])["message"]
    assert jsonl.read([signed({"message": {**line, "content": "\ud800"}})]).messages[0].content == "\ufffd"


def test_what_could_not_be_read_again_is_not_written(conversation: tuple[Session, tuple[Message, ...]]) -> None:
    session, (first, second, *_) = conversation
    for messages, words in (
        ([second, first], "out of order"),
        ([replace(first, session_id=IDS("ses"))], "of another session"),
        ([replace(first, created_at=first.created_at.replace(tzinfo=None))], "has no zone"),
        ([replace(first, extra={"x": float("nan")})], "not a JSON number"),
        ([replace(first, content="x" * jsonl.MAX_LINE)], "too long for a transcript"),
    ):
        with pytest.raises(InvalidInput, match=words):
            list(jsonl.write(session, messages))


def test_a_file_is_read_line_by_line_in_bounded_memory(lines: list[bytes]) -> None:
    data = b"".join([*lines[:3], b"x" * (2 * jsonl.MAX_LINE + 10) + b"\n", *lines[3:]])
    pieces = list(jsonl.bounded_lines(io.BytesIO(data)))
    assert [len(piece) for piece in pieces[3:4]] == [jsonl.MAX_LINE + 1]
    read = jsonl.read(pieces)
    assert len(read.messages) == 5
    assert [damage.line for damage in read.damage] == [4]
    assert list(jsonl.bounded_lines(io.BytesIO(b"x" * (jsonl.MAX_LINE + 1)))) == [b"x" * (jsonl.MAX_LINE + 1)]


def test_a_file_of_something_else_is_given_up(lines: list[bytes]) -> None:
    with pytest.raises(InvalidInput, match="this is not a transcript: none of its first 1000 lines could be read"):
        jsonl.read([b"junk\n"] * 5000)
    read = jsonl.read([*lines[:-1], *[b"junk\n"] * 5000, lines[-1]])
    assert len(read.messages) == 5
    assert len(read.damage) == jsonl.MAX_LISTED
