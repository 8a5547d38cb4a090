"""Structured output: reading a value, checking it, asking once more, and a plain word when that fails too."""

from collections.abc import Mapping

import pytest

from recollectum.domain.errors import InvalidInput, ModelGarbled, ModelTimeout
from recollectum.domain.message import Json, Role, ToolCall
from recollectum.domain.models.language_model import Finish, Prompt, Reply, Turn, Usage
from recollectum.models.language.json_schema import explain_misfit
from recollectum.models.language.structured import read_value
from recollectum.testing import ScriptedModel

SCHEMA: Mapping[str, Json] = {
    "type": "object",
    "properties": {"facts": {"type": "array", "items": {"type": "string", "maxLength": 20}, "maxItems": 2}},
    "required": ["facts"],
    "additionalProperties": False,
}
PROMPT = Prompt(turns=(Turn(role=Role.USER, text="I like tea"),), schema=SCHEMA, idempotency_id="job-1")
VALUE: Json = {"facts": ["likes tea"]}


@pytest.mark.feature("A5")
@pytest.mark.parametrize(
    "text",
    [
        '{"facts": ["likes tea"]}',
        '\n {"facts": ["likes tea"]} \n',
        '```json\n{"facts": ["likes tea"]}\n```',
        'Sure [1]! Here: {"facts": ["likes tea"]} Anything else?',
        '{"thought": "hm"} and then {"facts": ["likes tea"]}',
    ],
)
def test_a_value_is_found_wherever_the_model_put_it(text: str) -> None:
    assert read_value(text, SCHEMA) == (VALUE, None)


@pytest.mark.parametrize("text", ["", "no", "{", "[" * 100_000, '{"facts": [NaN]}', '{"facts": 1e999}', "null"])
def test_what_is_no_value_is_told_apart(text: str) -> None:
    value, problem = read_value(text, SCHEMA)
    assert value is None
    assert problem


@pytest.mark.parametrize(
    ("value", "schema", "said"),
    [
        (True, {"type": "integer"}, "the value must be of type integer"),
        (1, {"type": "boolean"}, "the value must be of type boolean"),
        (1.5, {"type": "integer"}, "the value must be of type integer"),
        (1, {"type": "number"}, None),
        (None, {"type": ["string", "null"]}, None),
        ("x", {"enum": ["a", "b"]}, "the value must be one of a, b"),
        (True, {"enum": [1]}, "the value must be one of 1"),
        (2, {"const": 1}, "the value must be the one allowed value"),
        (3, {"anyOf": [{"type": "string"}, {"maximum": 2}]}, "the value must fit one of the alternatives"),
        (3, {"minimum": 4}, "the value must be at least 4"),
        ("abc", {"maxLength": 2}, "the length of the value must be at most 2"),
        (float("nan"), {"minimum": 0}, "the value must be at least 0"),
        (float("nan"), {"maximum": 1}, "the value must be at most 1"),
        ("abc", {"pattern": "^[a-z]+$"}, None),
        ("a b", {"pattern": "^[a-z]+$"}, "the value must match the pattern ^[a-z]+$"),
        ([], {"minItems": 1}, "the length of the value must be at least 1"),
        ([1, "a"], {"items": {"type": "integer"}}, "the value[1] must be of type integer"),
        ({}, {"required": ["a"]}, "the value must have 'a'"),
        ({"a": 1}, {"properties": {"a": {"type": "string"}}}, "the value.a must be of type string"),
        ({"private": 1}, {"additionalProperties": False}, "the value must have nothing but "),
        ({"private": 1}, {"additionalProperties": {"type": "string"}}, "a member of the value must be of type string"),
        ({"x": {"y": []}}, {"description": "anything"}, None),
    ],
)
def test_each_rule_of_a_schema_says_what_it_wants(value: Json, schema: Mapping[str, Json], said: str | None) -> None:
    assert explain_misfit(value, schema) == said


def test_a_rule_that_is_not_known_is_refused_and_not_passed_over() -> None:
    with pytest.raises(InvalidInput, match="the schema uses 'multipleOf', which is not supported"):
        explain_misfit(3, {"multipleOf": 2})


@pytest.mark.feature("A5")
def test_a_wrong_answer_is_repaired_once_and_both_calls_are_counted() -> None:
    model = ScriptedModel(["I cannot tell", {"facts": ["likes tea"]}])
    reply = model.complete(PROMPT)
    assert reply.value == VALUE
    first, second = model.prompts
    assert second.turns[: len(first.turns)] == first.turns
    assert "nothing else" in second.turns[-1].text
    assert second.idempotency_id == "job-1/repair"
    # The second prompt holds the first, so that both together are more than twice the first.
    assert reply.usage.input > 2 * ScriptedModel([{"facts": []}]).complete(PROMPT).usage.input


@pytest.mark.feature("A5")
def test_a_second_wrong_answer_is_an_error_that_repeats_nothing_of_it() -> None:
    model = ScriptedModel(["private words", {"facts": ["private words that are far too long"]}, {"facts": []}])
    with pytest.raises(ModelGarbled, match=r"answered twice .*the length of the value\.facts\[0\]") as raised:
        model.complete(PROMPT)
    assert "private" not in str(raised.value)
    assert len(model.prompts) == 2


def test_an_answer_that_was_cut_off_says_so() -> None:
    def cut(_: Prompt) -> Reply:
        usage = Usage(input=1, output=1)
        return Reply(text='{"facts": ["li', usage=usage, finish=Finish.LENGTH, by=ScriptedModel([]).identity)

    with pytest.raises(ModelGarbled, match=r"was cut off twice .* allow more output tokens"):
        ScriptedModel(cut).complete(PROMPT)


def test_a_failure_passes_through_and_a_tool_call_is_no_wrong_answer() -> None:
    with pytest.raises(ModelTimeout):
        ScriptedModel([ModelTimeout("late")]).complete(PROMPT)
    call = ToolCall(id="c", name="recall", args={})
    assert ScriptedModel([(call,)]).complete(PROMPT).tool_calls == (call,)


def test_a_stream_with_a_schema_comes_whole() -> None:
    text, last = ScriptedModel(["no", {"facts": []}]).stream(PROMPT)
    assert text.text == '{"facts": []}'
    assert last.reply is not None
    assert last.reply.value == {"facts": []}
