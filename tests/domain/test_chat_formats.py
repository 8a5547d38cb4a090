"""A context as messages of OpenAI, Anthropic and Gemini: instructions apart, calls with their results, in order."""

import json
from datetime import UTC, datetime
from types import MappingProxyType

import pytest

from recollectum.domain.context import Budget, Context, Ledger
from recollectum.domain.message import Json, Message, Role, ToolCall

SYSTEM, RECALLED, PROMPT = "Be brief.", "# Recalled\nAnn likes teal.", "And mine?"


def _said(role: Role, text: str, *calls: ToolCall, extra: dict[str, Json] | None = None) -> Message:
    at = datetime(2026, 1, 1, tzinfo=UTC)
    return Message(
        id="m",
        session_id="s",
        position=1,
        role=role,
        content=text,
        created_at=at,
        tool_calls=calls,
        extra=extra or {},
    )


def _context(*messages: Message, text: str = RECALLED) -> Context:
    ledger = Ledger(parts=(), left_out=(), budget=Budget(tokens=1, messages=1, memories=1), counter="x", exact=False)
    return Context(text=text, ledger=ledger, messages=messages)


CALL = ToolCall(id="call 1", name="weather", args=MappingProxyType({"city": "Oslo", "days": (1, 2)}))
ASKED = (
    _said(Role.USER, "Is it cold?"),
    _said(Role.ASSISTANT, "I will look.", CALL),
    _said(Role.TOOL, "4 degrees", extra={"tool_call_id": "call 1"}),
    _said(Role.ASSISTANT, "Yes."),
)


def test_openai_has_the_instructions_first_and_the_prompt_last() -> None:
    arguments = json.dumps({"city": "Oslo", "days": [1, 2]})
    function = {"name": "weather", "arguments": arguments}
    assert _context(*ASKED).to_openai(SYSTEM, PROMPT) == [
        {"role": "system", "content": f"{SYSTEM}\n\n{RECALLED}"},
        {"role": "user", "content": "Is it cold?"},
        {
            "role": "assistant",
            "content": "I will look.",
            "tool_calls": [{"id": "call 1", "type": "function", "function": function}],
        },
        {"role": "tool", "content": "4 degrees", "tool_call_id": "call 1"},
        {"role": "assistant", "content": "Yes."},
        {"role": "user", "content": PROMPT},
    ]


def test_anthropic_has_the_instructions_apart_and_ids_that_it_accepts() -> None:
    used = {"type": "tool_use", "id": "call_1", "name": "weather", "input": {"city": "Oslo", "days": [1, 2]}}
    assert _context(*ASKED).to_anthropic(SYSTEM, PROMPT) == {
        "system": f"{SYSTEM}\n\n{RECALLED}",
        "messages": [
            {"role": "user", "content": [{"type": "text", "text": "Is it cold?"}]},
            {"role": "assistant", "content": [{"type": "text", "text": "I will look."}, used]},
            {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "call_1", "content": "4 degrees"}]},
            {"role": "assistant", "content": [{"type": "text", "text": "Yes."}]},
            {"role": "user", "content": [{"type": "text", "text": PROMPT}]},
        ],
    }


def test_gemini_has_the_instructions_in_its_config() -> None:
    made = _context(*ASKED).to_gemini(SYSTEM, PROMPT)
    assert made["config"] == {"system_instruction": f"{SYSTEM}\n\n{RECALLED}"}
    assert [one["role"] for one in made["contents"]] == ["user", "model", "user", "model", "user"]
    response = {"id": "call 1", "name": "weather", "response": {"result": "4 degrees"}}
    assert made["contents"][2]["parts"] == [{"functionResponse": response}]


def test_without_instructions_no_empty_text_is_sent() -> None:
    empty = _context(text="")
    assert empty.to_openai(prompt="hi") == [{"role": "user", "content": "hi"}]
    assert "system" not in empty.to_anthropic(prompt="hi")
    assert empty.to_gemini(prompt="hi")["config"] == {}


@pytest.mark.parametrize(
    ("result", "following", "wanted"),
    [
        ({"degrees": 4}, (), '{"degrees": 4}'),
        ("4 degrees", (), "4 degrees"),
        (None, (_said(Role.TOOL, "by its place"),), "by its place"),
    ],
)
def test_a_result_is_found_in_its_call_or_by_its_place(
    result: Json, following: tuple[Message, ...], wanted: str
) -> None:
    call = ToolCall(id="c", name="weather", result=result)
    made = _context(_said(Role.USER, "?"), _said(Role.ASSISTANT, "", call), *following).to_openai()
    assert made[-1] == {"role": "tool", "content": wanted, "tool_call_id": "c"}


def test_what_a_server_would_refuse_is_left_out() -> None:
    made = _context(
        _said(Role.SYSTEM, "an earlier instruction"),
        _said(Role.USER, " "),
        _said(Role.USER, "hello"),
        _said(Role.ASSISTANT, "", ToolCall(id="c", name="weather")),
        _said(Role.INFO, "started"),
        text="",
    )
    assert made.to_openai() == [{"role": "user", "content": "hello"}]


def test_a_conversation_that_the_assistant_began_is_accepted_by_anthropic() -> None:
    made = _context(_said(Role.ASSISTANT, "Welcome!")).to_anthropic(prompt="hi")
    assert [one["role"] for one in made["messages"]] == ["user", "assistant", "user"]
