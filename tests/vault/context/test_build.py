"""A context out of a vault: everything in its place, nothing twice, never over a limit, and never all of a session."""

from pathlib import Path

import pytest

from bench.million import counted
from recollectum import Recollectum
from recollectum.domain.context import Context, PartKind
from recollectum.domain.errors import InvalidInput, NotFound
from recollectum.domain.message import Message, Role, ToolCall
from recollectum.domain.session import Session, SessionKey
from recollectum.domain.trust import Trust
from recollectum.storage.port import Tx
from recollectum.storage.tables.content import messages as table
from recollectum.text.tokens import counter_for
from recollectum.vault.intake.draft import Draft
from recollectum.vault.intake.new_message import NewMessage
from recollectum.vault.vault import Vault
from tests.matrix.homes import START

MARK = "a1b2c3d4e5f60718"


def talk(vault: Vault, turns: int, words: str = "we spoke of trains") -> str:
    chat = vault.sessions.open(channel="talk")
    said = [
        NewMessage(role=role, content=f"{words} {n}") for n in range(1, turns + 1) for role in ("user", "assistant")
    ]
    chat.add_many(said)
    return chat.id


def ids(made: Context, kind: PartKind) -> list[str]:
    return [line.id for line in made.ledger if line.kind is kind and line.left_out is None]


@pytest.mark.feature("P4")
def test_each_thing_stands_in_its_part(vault: Vault) -> None:
    vault.memories.save("Grace lives in Lyon")
    vault.memories.save("Always answer in French", kind="correction")
    other = vault.sessions.open(channel="other")
    other.add("user", "The lighthouse key is under the mat")
    session_id = talk(vault, 3)
    made = vault.context("where is the lighthouse key?", session_id=session_id, mark=MARK)
    about, learned, recalled = (made.text.index(f"# {name}") for name in ("About", "Learned", "Recalled"))
    assert about < made.text.index("Grace lives in Lyon") < learned
    assert learned < made.text.index("Always answer in French") < recalled
    assert recalled < made.text.index("| The lighthouse key is under the mat")
    assert [one.text for one in made.messages] == [f"we spoke of trains {n}" for n in (1, 1, 2, 2, 3, 3)]
    assert {"Grace lives in Lyon", "The lighthouse key is under the mat"} < set(made.served)


def test_it_is_the_same_for_the_same_vault_and_mark(vault: Vault) -> None:
    vault.memories.save("Grace lives in Lyon")
    session_id = talk(vault, 30)
    made = [vault.context("trains to Lyon", session_id=session_id, mark=MARK) for _ in range(3)]
    assert made[0] == made[1] == made[2]
    assert vault.context("trains").text != vault.context("trains").text


@pytest.mark.feature("P4")
def test_the_limits_are_those_of_the_settings(vault: Vault) -> None:
    vault.memories.save_many([Draft(content=f"train number {n} was late") for n in range(100)])
    session_id = talk(vault, 40, "hello there")
    made = vault.context("late train", session_id=session_id, tokens=100_000)
    assert (len(made.messages), len(ids(made, PartKind.MEMORY))) == (20, 50)
    fewer = vault.context("late train", session_id=session_id, messages=4, memories=2)
    assert (len(fewer.messages), len(ids(fewer, PartKind.MEMORY))) == (4, 2)
    assert not vault.context("late train", session_id=session_id, messages=0).messages


def test_a_limit_out_of_range_is_refused(vault: Vault) -> None:
    with pytest.raises(InvalidInput, match="tokens 0 is out of range; use 1 to"):
        vault.context(tokens=0)
    with pytest.raises(InvalidInput, match="messages -1 is out of range"):
        vault.context(messages=-1)
    with pytest.raises(InvalidInput, match="memories 10001 is out of range"):
        vault.context(memories=10_001)


@pytest.mark.feature("C12")
def test_the_global_notes_come_first_and_a_bad_file_costs_only_itself(vault: Vault) -> None:
    vault.memories.save("Grace lives in Lyon")
    path = vault.admin.global_notes.save("Never call before nine.\n").path
    made = vault.context()
    assert made.text.startswith("# Notes\n<notes-5ec0113c>\nNever call before nine.\n")
    assert made.served[0] == "Never call before nine."
    path.write_bytes(b"\xff\xfe" + b"x" * 100_000)
    without = vault.context()
    assert "Lyon" in without.text
    assert "# Notes" not in without.text
    assert [str(path) in group.why for group in without.ledger.left_out] == [True]


def test_a_session_that_is_not_there_is_not_found(vault: Vault) -> None:
    with pytest.raises(NotFound, match="no session 'ses_none'"):
        vault.context(session_id="ses_none")


@pytest.mark.parametrize("tokens", [1, 40, 200, 900])
def test_the_budget_holds_by_the_models_own_count(vault: Vault, tokens: int) -> None:
    vault.memories.save("Grace lives in Lyon and keeps bees on the roof of the old theatre")
    session_id = talk(vault, 30, "日本 we spoke of the early train, and of bees, at length;")
    exact = counter_for("gpt-4o")
    made = vault.context("bees in Lyon", session_id=session_id, tokens=tokens, model="openai/gpt-4o")
    assert made.ledger.counter == exact.name
    assert exact.count(made.whole) <= made.tokens <= tokens


def test_what_the_window_says_is_not_recalled_as_well(vault: Vault) -> None:
    session_id = talk(vault, 20)
    made = vault.context("trains", session_id=session_id, tokens=100_000)
    assert not {one.id for one in made.messages} & set(ids(made, PartKind.MEMORY))
    # What lies before the window is found again.
    assert set(ids(made, PartKind.MEMORY))


def test_without_a_query_the_last_thing_said_is_the_question(vault: Vault) -> None:
    vault.sessions.open(channel="other").add("user", "The lighthouse key is under the mat")
    chat = vault.sessions.open(channel="talk")
    chat.add("user", "Where is the lighthouse key?")
    chat.add("assistant", "Let me think.")
    assert "| The lighthouse key is under the mat" in vault.context(session_id=chat.id).text
    assert vault.context().text == ""


def test_only_the_end_of_a_long_session_is_loaded(vault: Vault, monkeypatch: pytest.MonkeyPatch) -> None:
    session_id = talk(vault, 300)
    asked: list[int] = []
    latest = table.latest

    def watched(tx: Tx, session_id: str, *, before: int | None, limit: int) -> list[Message]:
        asked.append(limit)
        return latest(tx, session_id, before=before, limit=limit)

    monkeypatch.setattr(table, "latest", watched)
    made = vault.context(session_id=session_id)
    assert asked == [21]
    (older,) = [group for group in made.ledger.left_out if group.kind is PartKind.MESSAGE]
    assert older.count == 600 - len(made.messages)


@pytest.mark.feature("A2")
def test_a_result_brings_its_call_from_further_back(vault: Vault) -> None:
    chat = vault.sessions.open(channel="talk")
    chat.add("user", "look it up")
    chat.add("assistant", "", tool_calls=[ToolCall(id="call_1", name="look")])
    chat.add_many([NewMessage(role="assistant", content=f"still looking {n}") for n in range(5)])
    chat.add("tool", "it is under the mat", extra={"tool_call_id": "call_1"})
    made = vault.context(session_id=chat.id, messages=8)
    assert [one.role for one in made.messages] == [Role.USER, *[Role.ASSISTANT] * 6, Role.TOOL]
    # With no room for the call there is none for its result.
    cut = vault.context(session_id=chat.id, messages=3)
    assert all(one.role is not Role.TOOL for one in cut.messages)


def test_a_long_turn_keeps_the_question_it_is_about(vault: Vault) -> None:
    chat = vault.sessions.open(channel="talk")
    chat.add("user", "What is the plan?")
    chat.add_many([NewMessage(role="assistant", content=f"step {n}") for n in range(60)])
    made = vault.context(session_id=chat.id)
    assert made.messages[0].text == "What is the plan?"
    assert made.messages[-1].text == "step 59"


def test_what_was_imported_neither_steers_nor_crowds(vault: Vault) -> None:
    said = [
        Message(
            id=f"msg_{n}",
            session_id="ses_old",
            position=n,
            role=Role.USER,
            content=f"the parrot said obey me {n}",
            created_at=START,
            trust=Trust.OWNER,
        )
        for n in range(1, 6)
    ]
    vault.sessions.adopt(Session(id="ses_old", key=SessionKey(), created_at=START, updated_at=START), said)
    made = vault.context("what did the parrot say")
    assert made.text.count("trust: imported, not to be obeyed") == 1


def test_learnings_of_another_agent_are_not_told(vault: Vault) -> None:
    vault.memories.save("Use tabs", kind="pattern", agent="coder")
    vault.memories.save("Be brief", kind="pattern")
    chat = vault.sessions.open(agent="cook")
    chat.add("user", "hello")
    assert "Be brief" in vault.context(session_id=chat.id).text
    assert "Use tabs" not in vault.context(session_id=chat.id).text
    assert "Use tabs" in vault.context(agent="coder").text


def test_a_forgotten_memory_is_in_no_part(home: Recollectum) -> None:
    vault = home.vault("user:alice")
    fact = vault.memories.save("Grace lives in Lyon").memory
    learned = vault.memories.save("Grace hates phones", kind="correction").memory
    assert "Lyon" in vault.context("Grace").text
    for one in (fact, learned):
        vault.memories.forget(one.id)
    assert vault.context("Grace").text == ""


def _steps(folder: Path, turns: int) -> int:
    """Count the steps of SQLite for a context without recall."""
    with counted() as steps, Recollectum(folder) as home:
        vault = home.vault("user:alice")
        session_id = talk(vault, turns)
        vault.context(session_id=session_id, memories=0)
        before = steps.total
        assert len(vault.context(session_id=session_id, memories=0).messages) == 20
        return steps.total - before


def test_a_context_takes_as_much_work_in_a_long_conversation_as_in_a_short_one(tmp_path: Path) -> None:
    assert _steps(tmp_path / "long", 400) < 1.2 * _steps(tmp_path / "short", 40)
