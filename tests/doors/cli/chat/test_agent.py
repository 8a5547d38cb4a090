"""One turn: what the model is shown, its tools, what is recorded, and what a failure or Ctrl-C leaves."""

import signal
from collections.abc import Iterator
from dataclasses import replace

import pytest

from recollectum.domain.errors import BudgetSpent, ModelUnavailable
from recollectum.domain.message import Json, ToolCall, ToolStatus
from recollectum.domain.models.language_model import Finish, ModelIdentity, Piece, Prompt, Reply, Usage
from recollectum.domain.trust import Trust
from recollectum.doors.cli.chat.agent import INTERRUPTED, ROUNDS
from recollectum.doors.cli.chat.rule_answers import NOTHING
from recollectum.testing import ScriptedModel
from tests.doors.cli.chat.agents import Shown, agent_with, own_vault, recorded, words


def use(name: str, **args: Json) -> tuple[ToolCall, ...]:
    return (ToolCall(id="call_1", name=name, args=args),)


@pytest.mark.feature("A18")
def test_a_turn_shows_the_context_streams_the_reply_and_records_both_sides() -> None:
    model, shown = ScriptedModel(["In Lyon, of course."]), Shown()
    with own_vault() as vault:
        vault.memories.save("Grace lives in Lyon")
        agent = agent_with(vault, model, shown)
        answered = agent.turn("Where does Grace live?")
        said = recorded(agent)
    (prompt,) = model.prompts
    assert "- Grace lives in Lyon" in prompt.system
    assert [turn.text for turn in prompt.turns] == ["Where does Grace live?"]
    assert [tool.name for tool in prompt.tools] == ["remember", "recall"]
    assert shown.pieces == ["In ", "Lyon, ", "of ", "course."]
    assert shown.ended == 1
    assert [(str(one.role), one.text) for one in said] == [
        ("user", "Where does Grace live?"),
        ("assistant", "In Lyon, of course."),
    ]
    assert (said[1].model, answered.message_id) == ("scripted/scripted", said[1].id)
    assert said[1].tokens is not None
    assert not answered.interrupted


@pytest.mark.feature("A18")
def test_tool_calls_are_done_recorded_and_shown_to_the_model() -> None:
    script = [use("remember", text="The person lives in Lyon"), "Noted.", "You live in Lyon."]
    model = ScriptedModel(script)
    with own_vault() as vault:
        agent = agent_with(vault, model)
        agent.turn("I live in Lyon, keep that")
        (memory,) = vault.memories.list()
        asking = recorded(agent)[1]
        agent.turn("Where do I live?")
    assert memory.content == "The person lives in Lyon"
    (call,) = asking.tool_calls
    assert (call.status, call.result) == (ToolStatus.COMPLETE, "Remembered: The person lives in Lyon")
    # In the same turn and in the next one the result stands behind its call.
    for prompt in model.prompts[1:]:
        assert [str(turn.role) for turn in prompt.turns][:3] == ["user", "assistant", "tool"]
        assert prompt.turns[2].answers == prompt.turns[1].tool_calls[0].id == "call_1"


def test_a_model_that_only_uses_tools_is_made_to_answer() -> None:
    asked: list[Prompt] = []

    def answer(prompt: Prompt) -> str | tuple[ToolCall, ...]:
        asked.append(prompt)
        return use("recall", query="tea") if prompt.tools else "I do not know."

    with own_vault() as vault:
        answered = agent_with(vault, ScriptedModel(answer)).turn("tea?")
    assert answered.reply == "I do not know."
    assert len(asked) == ROUNDS + 1
    assert len(answered.tool_calls) == ROUNDS


@pytest.mark.feature("P9")
@pytest.mark.parametrize("name", ["purge", "forget", "delete_session"])
def test_nothing_that_takes_away_is_a_tool(name: str) -> None:
    with own_vault() as vault:
        memory = vault.memories.save("tea").memory
        model = ScriptedModel([use(name, id=memory.id, text="tea"), "I cannot."])
        answered = agent_with(vault, model).turn("forget all about tea")
        assert [one.id for one in vault.memories.list()] == [memory.id]
    (call,) = answered.tool_calls
    assert call.status is ToolStatus.FAILED
    assert call.result == f"there is no tool {name!r}; use remember or recall"


@pytest.mark.parametrize("args", [{}, {"text": ""}, {"text": 3}, {"query": "tea"}])
def test_arguments_that_cannot_be_are_told_to_the_model(args: dict[str, Json]) -> None:
    with own_vault() as vault:
        model = ScriptedModel([use("remember", **args), "I see."])
        answered = agent_with(vault, model).turn("hello")
        assert not vault.memories.list()
    assert answered.reply == "I see."
    assert answered.tool_calls[0].result == "remember needs 'text' as a non-empty string"


@pytest.mark.parametrize("said", ["hello", "The sky over Nice was grey on Tuesday."])
def test_what_the_person_did_not_say_is_the_word_of_the_model(said: str) -> None:
    script = [use("remember", text="The sky over Lyon was grey on Tuesday"), "Noted."]
    with own_vault() as vault:
        agent_with(vault, ScriptedModel(script)).turn(said)
        (memory,) = vault.memories.list()
    assert memory.trust is Trust.ASSISTANT


@pytest.mark.feature("A18")
def test_a_model_that_fails_leaves_the_message_and_the_next_turn_works() -> None:
    model = ScriptedModel([ModelUnavailable("the model cannot be reached; try again"), "Hello again."])
    with own_vault() as vault:
        agent = agent_with(vault, model)
        with pytest.raises(ModelUnavailable):
            agent.turn("first")
        assert words(agent) == [("user", "first")]
        assert agent.turn("second").reply == "Hello again."
        assert words(agent) == [("user", "first"), ("user", "second"), ("assistant", "Hello again.")]


def test_a_spent_budget_says_when_it_frees() -> None:
    spent = BudgetSpent("language_model.calls_per_day is 1 and 1 are used; it frees at 2026-11-16 00:00 UTC")
    with own_vault() as vault, pytest.raises(BudgetSpent, match="it frees at"):
        agent_with(vault, ScriptedModel([spent])).turn("hello")


class Breaking:
    """Says two words, and then something happens."""

    identity = ModelIdentity(provider="scripted", model="breaking")

    def __init__(self, failure: ModelUnavailable | None) -> None:
        self.failure = failure
        self.stopped = False

    def complete(self, prompt: Prompt) -> Reply:
        raise NotImplementedError

    def stream(self, prompt: Prompt) -> Iterator[Piece]:
        assert prompt.turns
        try:
            yield Piece(text="once ")
            yield Piece(text="upon ")
            if self.failure:
                raise self.failure
            signal.raise_signal(signal.SIGINT)
            yield Piece(text="never shown")
            usage = Usage(input=1, output=1)
            yield Piece(reply=Reply(text="", usage=usage, finish=Finish.STOP, by=self.identity))
        finally:
            self.stopped = True

    def close(self) -> None:
        pass


@pytest.mark.feature("A18")
def test_ctrl_c_stops_the_reply_and_keeps_what_was_said() -> None:
    before, model = signal.getsignal(signal.SIGINT), Breaking(None)
    with own_vault() as vault:
        agent = agent_with(vault, model)
        answered = agent.turn("tell me a story")
        last = recorded(agent)[-1]
    assert (answered.interrupted, answered.reply) == (True, "once upon ")
    assert (last.text, last.extra) == ("once upon ", {INTERRUPTED: True})
    assert model.stopped
    assert signal.getsignal(signal.SIGINT) is before


def test_a_model_that_breaks_off_leaves_what_it_said() -> None:
    with own_vault() as vault:
        agent = agent_with(vault, Breaking(ModelUnavailable("the line went dead; try again")))
        with pytest.raises(ModelUnavailable):
            agent.turn("tell me a story")
        assert words(agent)[-1] == ("assistant", "once upon ")
        assert recorded(agent)[-1].extra == {INTERRUPTED: True}


def test_a_budget_that_holds_nothing_still_holds_the_question() -> None:
    model = ScriptedModel(["yes"])
    with own_vault() as vault:
        agent_with(vault, model, tokens=1).turn("a question that is longer than the budget of the context")
    assert [turn.text for turn in model.prompts[0].turns] == [
        "a question that is longer than the budget of the context"
    ]


@pytest.mark.feature("A18")
def test_without_a_model_the_answer_is_what_memory_holds() -> None:
    shown = Shown()
    with own_vault() as vault:
        vault.memories.save("Grace lives in Lyon")
        agent = agent_with(vault, None, shown)
        answered = agent.turn("Grace?")
        again = agent.turn("Grace?")
        assert agent.turn("zebras?").reply == NOTHING
    assert answered.by == "rules"
    assert answered.reply.startswith("- Grace lives in Lyon (")
    # Neither the question nor the answer is found in place of what is known.
    assert again.reply == answered.reply
    assert shown.pieces[0] == answered.reply


def test_calls_that_were_left_pending_by_a_crash_do_not_stop_the_next_turn() -> None:
    model = ScriptedModel(["Hello."])
    with own_vault() as vault:
        agent = agent_with(vault, model)
        agent.chat().add("user", "remember tea")
        pending = replace(use("remember", text="tea")[0], status=ToolStatus.PENDING)
        agent.chat().add("assistant", "", tool_calls=[pending])
        agent.turn("hello")
    assert [turn.text for turn in model.prompts[0].turns] == ["remember tea", "", "it was not done", "hello"]
