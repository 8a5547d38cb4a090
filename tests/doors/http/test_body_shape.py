"""A body of an enormous shape is refused before it is parsed, and says so shortly."""

import json

import pytest

from recollectum.domain.errors import InvalidInput
from recollectum.doors.http.body_shape import DEEPEST, MOST_FIELDS, MOST_VALUES, check_shape
from tests.doors.http.served import Served


def _fields(count: int) -> dict[str, int]:
    return {f"f{number}": number for number in range(count)}


@pytest.mark.parametrize(
    "body",
    [
        {"content": "x", **_fields(MOST_FIELDS)},
        {"a": [{}, {"b": _fields(MOST_FIELDS + 1)}]},
        [1] * (MOST_VALUES + 2),
        [{"a": [1]}] * MOST_VALUES,
    ],
)
def test_a_body_of_too_many_parts_is_refused(body: object) -> None:
    with pytest.raises(InvalidInput, match="more than"):
        check_shape(json.dumps(body).encode())


@pytest.mark.parametrize("opening", [b"[", b'{"a":', b'[{"a":'])
def test_a_body_that_is_nested_too_deep_is_refused(opening: bytes) -> None:
    with pytest.raises(InvalidInput, match="deep"):
        check_shape(opening * (DEEPEST + 1))


@pytest.mark.parametrize(
    "body",
    [
        {"content": '{"a": [1, 2, 3],' * 100_000},
        {"content": '\\"{:,[' * 100_000},
        [_fields(MOST_FIELDS)] * 10,
        {"a": [[0]] * 1000},
    ],
)
def test_marks_inside_a_text_and_many_small_objects_are_no_matter(body: object) -> None:
    check_shape(json.dumps(body).encode())


@pytest.mark.parametrize("body", [b"", b'"', b'"\\', b'{"a', b"]]]}}}", b"\xff\xfe", b":::,,,", b'"a\\"'])
def test_what_is_not_json_is_left_to_the_parser(body: bytes) -> None:
    check_shape(body)


@pytest.mark.loopback
@pytest.mark.parametrize("path", ["/v1/memories", "/mcp"])
def test_hundreds_of_thousands_of_fields_are_answered_in_a_line(served: Served, path: str) -> None:
    answer = served.ask("POST", path, _fields(200_000))
    assert answer.status == 422
    assert "more than 1000 fields" in answer.json["detail"]
    assert len(answer.body) < 1000
    assert served.with_key(None).ask("POST", path, _fields(5000)).status == 401


@pytest.mark.loopback
def test_at_most_twenty_mistakes_are_named(served: Served) -> None:
    answer = served.ask("POST", "/v1/memories", _fields(900))
    assert answer.status == 422
    assert len(answer.json["errors"]) == 20
    opened = served.ask("POST", "/v1/sessions", {}).json["session"]["id"]
    calls = [_fields(40) for _ in range(1000)]
    said = {"role": "tool", "content": "x", "tool_calls": calls}
    assert len(served.ask("POST", f"/v1/sessions/{opened}/messages", said).json["errors"]) <= 20
