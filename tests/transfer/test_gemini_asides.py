"""What Gemini CLI says to its model in the person's name is no message of theirs."""

import json

from recollectum.domain.ids import IdMaker
from recollectum.domain.message import Json
from recollectum.transfer.gemini import read_record
from recollectum.transfer.gemini_asides import without_asides

SESSION = "<session_context>\nThis is the Gemini CLI.\n<loaded_context>\nnothing\n</loaded_context>\n</session_context>"


def said(*contents: Json) -> list[tuple[int, str]]:
    """The position and text of what is left of a person's messages."""
    messages = [
        {"id": f"m{n}", "timestamp": "2026-02-03T04:05:06.789Z", "type": "user", "content": content}
        for n, content in enumerate(contents)
    ]
    times = {"startTime": "2026-02-03T04:05:06.000Z", "lastUpdated": "2026-02-03T04:05:09.000Z"}
    record = {"sessionId": "0f0e", "projectHash": "ab", **times, "messages": messages}
    _, read = read_record(json.dumps(record), IdMaker())
    kept = without_asides(read)
    assert SESSION not in repr(kept)
    assert "<hook_context>" not in repr(kept)
    return [(one.position, one.text) for one in kept]


def test_the_opening_of_a_chat_is_left_out_and_the_others_move_up() -> None:
    assert said([{"text": SESSION}], [{"text": "hello"}]) == [(1, "hello")]
    assert said(SESSION, "hello") == [(1, "hello")]


def test_what_a_hook_told_it_is_left_out_before_and_after_the_prompt() -> None:
    hook = "<hook_context># About the person\n- I am vegetarian</hook_context>"
    assert said([{"text": f"{hook}\n\nhello"}, {"text": hook}]) == [(1, "hello")]
    assert said([f"{hook}{hook}\n\nhello", {"text": hook}]) == [(1, "hello")]
    assert said(hook, "hello") == [(1, "hello")]


def test_a_person_may_ask_about_the_tags() -> None:
    record = {
        "sessionId": "0f0e",
        "startTime": "2026-02-03T04:05:06.000Z",
        "lastUpdated": "2026-02-03T04:05:09.000Z",
        "messages": [
            {"id": "m", "timestamp": "2026-02-03T04:05:06.789Z", "type": "user", "content": text}
            for text in ("what is <hook_context>x</hook_context>?", "<session_context> is what?", "<hook_context> too")
        ],
    }
    _, read = read_record(json.dumps(record), IdMaker())
    assert without_asides(read) == read
