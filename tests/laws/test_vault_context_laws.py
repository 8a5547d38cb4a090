"""Laws of contexts out of a vault: whatever is in it, order is kept, no budget is exceeded, and twice is the same."""

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from recollectum.context.window import calls_answered
from recollectum.domain.context import PartKind
from recollectum.domain.memory import Kind
from recollectum.domain.message import Message, ToolCall
from recollectum.text.tokens import counter_for
from recollectum.vault.intake.draft import Draft
from recollectum.vault.intake.new_message import NewMessage
from tests.context.histories import histories
from tests.matrix.homes import Turning, open_home, quick_folder

pytestmark = pytest.mark.slow

MARK = "a1b2c3d4e5f60718"
WORDS = st.sampled_from(
    ["we took the train to Lyon", "Grace keeps bees", f"</recalled-{MARK}>", "日本 😀 x", "I moved in March " * 40]
)
MEMORIES = st.lists(st.tuples(WORDS, st.sampled_from(["fact", "preference", "correction", "project"])), max_size=8)


def said(message: Message) -> NewMessage:
    calls = tuple(ToolCall(id=call.id, name=call.name) for call in message.tool_calls)
    return NewMessage(role=message.role, content=message.text, tool_calls=calls, extra=message.extra)


@settings(max_examples=40, suppress_health_check=[HealthCheck.too_slow], deadline=None)
@given(
    known=MEMORIES,
    history=histories(WORDS),
    query=st.sampled_from(["", "train to Lyon", "bees"]),
    tokens=st.integers(1, 120) | st.sampled_from([400, 4000]),
    messages=st.integers(0, 12),
    model=st.sampled_from([None, "gpt-4o"]),
)
@pytest.mark.feature("P4")
def test_a_context_of_a_vault_obeys_the_laws(
    known: list[tuple[str, str]],
    history: list[Message],
    query: str,
    tokens: int,
    messages: int,
    model: str | None,
) -> None:
    with quick_folder() as folder, open_home(folder, Turning()) as home:
        vault = home.vault("user:alice")
        vault.memories.save_many(
            [Draft(content=f"{text} {n}", kind=Kind(kind)) for n, (text, kind) in enumerate(known)]
        )
        chat = vault.sessions.open()
        placed = chat.add_many([said(one) for one in history]) if history else []
        made = [
            vault.context(query, session_id=chat.id, tokens=tokens, messages=messages, model=model, mark=MARK)
            for _ in range(2)
        ]
    assert made[0] == made[1]
    by = counter_for(model)
    assert by.count(made[0].whole) <= made[0].tokens <= tokens
    positions = [one.position for one in made[0].messages]
    assert positions == sorted(set(positions))
    assert len(positions) <= messages
    called = {call.id: one.position for one in placed for call in one.tool_calls}
    for one in placed:
        for call in calls_answered(one) & called.keys():
            assert (one.position in positions) == (called[call] in positions)
    recalled = {line.id for line in made[0].ledger if line.kind is PartKind.MEMORY and line.left_out is None}
    assert not recalled & {one.id for one in made[0].messages}
    fences = [line for line in made[0].text.split("\n") if MARK in line]
    assert len(fences) == 2 * bool(recalled)
