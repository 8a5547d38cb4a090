"""A message that is admitted in one step is exactly what the intake admits in all its steps."""

from collections.abc import Generator, Mapping
from dataclasses import fields, replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, cast

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from recollectum.context.echoes import marked_blocks
from recollectum.context.served import blocks, may_hold_blocks
from recollectum.domain.errors import InvalidInput, StepRefused
from recollectum.domain.ids import IdMaker
from recollectum.domain.message import Message, Role, TokenCount, ToolCall
from recollectum.domain.notice import Notice
from recollectum.domain.trust import Trust
from recollectum.vault.intake.admitted import AdmittedMessage
from recollectum.vault.intake.intake import Intake
from recollectum.vault.intake.new_message import NewMessage
from recollectum.vault.intake.plain_messages import PlainMessages
from recollectum.vault.runtime import VaultRuntime
from recollectum.vault.vault import Vault
from tests.context.emitted import hooked
from tests.matrix.homes import Turning, open_home

#: Pieces of texts that the intake changes, or nearly does, between pieces that it does not.
PIECES = (
    "hello there",
    "my password is hunter22, keep it",
    "sk-ant-REDACTED",
    "the key: 'a b c'",
    " -p secret",
    "PIN 4711",
    "# Notes\n",
    "[up to message 3; by: rules]\n- this\n",
    "; trust: owner]\n- that\n",
    "<recalled-0123456789abcdef>",
    "</recalled-0123456789abcdef>",
    "&lt;notes-0123456789abcdef&gt; ",
    "\\u003cabout-0123456789abcdef\\u003e",
    hooked("memory says so"),
    "naïve",
    "\0",
    "\ud800",
)
TEXTS = st.lists(st.sampled_from(PIECES) | st.text(max_size=12), max_size=4).map(" ".join)
NAMES = st.sampled_from(("openai_item", "password", "key", "")) | st.text(max_size=8)
#: As packed state is.
NUMBERS = st.lists(st.integers() | st.just(2**70), max_size=3)
EXTRAS = st.none() | st.dictionaries(
    NAMES,
    st.sampled_from(("user", "hunter22", "x" * 40))
    | TEXTS
    | st.integers()
    | st.lists(TEXTS, max_size=2)
    | NUMBERS
    | st.lists(NUMBERS | st.booleans(), max_size=2)
    | st.dictionaries(NAMES, NUMBERS | st.lists(NUMBERS, max_size=2) | TEXTS, max_size=2),
    max_size=2,
)


@pytest.fixture(scope="module")
def vault(tmp_path_factory: pytest.TempPathFactory) -> Generator[Vault]:
    with open_home(tmp_path_factory.mktemp("home"), Turning()) as home:
        yield home.vault("user:alice")


def runtime_of(vault: Vault) -> VaultRuntime:
    return vault.sessions._runtime  # pyright: ignore[reportPrivateUsage]


def _plain_messages(runtime: VaultRuntime) -> PlainMessages:
    return PlainMessages(runtime.gate.owner, own=runtime.gate.own)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(TEXTS, st.sampled_from(Role), EXTRAS, st.sampled_from((None, "n-1")), st.sampled_from((None, "Ann")))
def test_it_is_what_the_intake_admits(
    vault: Vault, text: str, role: Role, extra: Mapping[str, Any] | None, native: str | None, speaker: str | None
) -> None:
    said = NewMessage(role=role, content=text, extra=extra, native_id=native, speaker=speaker)
    runtime = runtime_of(vault)
    quick = _plain_messages(runtime).admit(said)
    with Intake(runtime) as intake:
        if quick is not None:
            slow = intake.message(said)
            assert slow == quick
            assert slow is not None
            assert slow.message.notice == quick.message.notice
            assert intake.notice == quick.message.notice


@pytest.mark.parametrize("role", list(Role))
def test_plain_words_take_one_step(vault: Vault, role: Role) -> None:
    runtime = runtime_of(vault)
    said = NewMessage(role=role, content="we meet at the station", extra={"openai_item": role.value})
    assert _plain_messages(runtime).admit(said) is not None


def test_packed_state_takes_one_step_and_is_copied(vault: Vault) -> None:
    state: dict[str, Any] = {"langgraph": {"head": [3, 70368744177664], "blobs": [[1], [2, 3]]}}
    quick = _plain_messages(runtime_of(vault)).admit(NewMessage(role="info", content="", extra=state))
    assert quick is not None
    assert quick.message.extra == state
    state["langgraph"]["blobs"][1][0] = 4
    assert quick.message.extra == {"langgraph": {"head": [3, 70368744177664], "blobs": [[1], [2, 3]]}}


@pytest.mark.parametrize(
    "extra",
    [
        {"a": [2**63]},
        {"a": [True]},
        {"a": [1.0]},
        {"a": [[[1]]]},
        {"a": {"b": {"c": [1]}}},
        {"password": "hunter22"},
        {"a": {"password": "hunter22"}},
        {"a" * 33: [1]},
        {"naïve": [1]},
        {"a": None},
    ],
)
def test_other_fields_take_all_steps(vault: Vault, extra: dict[str, Any]) -> None:
    said = NewMessage(role="user", content="hello", extra=extra)
    assert _plain_messages(runtime_of(vault)).admit(said) is None


@pytest.mark.parametrize(
    "text", ["my password is hunter22, keep it", hooked("memory says so"), "naïve", "\0", "\ud800", "x" * 200_001]
)
def test_what_may_change_takes_all_steps(vault: Vault, text: str) -> None:
    runtime = runtime_of(vault)
    assert _plain_messages(runtime).admit(NewMessage(role="user", content=text)) is None


def test_the_extra_fields_of_a_message_are_its_own(vault: Vault) -> None:
    given_fields = {"openai_item": "user"}
    quick = _plain_messages(runtime_of(vault)).admit(NewMessage(role="user", content="hello", extra=given_fields))
    given_fields["openai_item"] = "other"
    assert quick is not None
    assert quick.message.extra == {"openai_item": "user"}


@pytest.mark.parametrize("role", ["nobody", 3, ["user"], None])
def test_a_wrong_role_is_refused_in_the_same_words(vault: Vault, role: object) -> None:
    with pytest.raises(InvalidInput, match="role"):
        vault.sessions.open().add_many([NewMessage(role=cast("Any", role), content="hello")])


def test_the_shared_vault_takes_no_plain_message_of_a_tool(tmp_path: Path) -> None:
    with open_home(tmp_path, Turning()) as home, pytest.raises(StepRefused, match="global vault"):
        home.vault("global").sessions.open().add_many([NewMessage(role="tool", content="hello")])


@given(TEXTS)
def test_a_text_without_the_quick_signs_has_no_block(text: str) -> None:
    if not may_hold_blocks(text):
        assert not list(blocks(text))
    # The bracket at the beginning is one of the quick signs.
    assert [(start + 2, end + 2) for start, end in marked_blocks(text)] == marked_blocks(f"< {text}")


def test_a_placed_message_keeps_all_its_other_fields() -> None:
    at = datetime(2026, 3, 1, tzinfo=UTC)
    message = Message(
        id="msg_1",
        session_id="ses_1",
        position=1,
        role=Role.TOOL,
        content=({"text": "hello"},),
        created_at=at,
        tool_calls=(ToolCall(id="c", name="look"),),
        thoughts=({"text": "well"},),
        tokens=TokenCount(input=3),
        token_estimate=4,
        model="m",
        native_id="n",
        speaker="Ann",
        trust=Trust.TOOL,
        extra={"a": "b"},
        notice=Notice(unindexed=3),
    )
    # So that no field is forgotten here.
    assert not [one.name for one in fields(Message) if getattr(message, one.name) == one.default]
    placed = AdmittedMessage(message, has_time=False).placed("ses_2", "msg_2", at + timedelta(days=1), 7).message
    expected = replace(message, session_id="ses_2", id="msg_2", position=7, created_at=at + timedelta(days=1))
    assert (placed, placed.notice) == (expected, message.notice)
    assert AdmittedMessage(message).placed("ses_1").message == message


def test_many_ids_are_in_order_and_none_twice() -> None:
    ids = IdMaker()
    made = [ids("msg"), *ids.many("msg", 40), ids("msg"), *ids.many("msg", 3)]
    assert made == sorted(set(made))
    assert ids.many("msg", 0) == []


def test_many_ids_are_those_of_their_numbers() -> None:
    at = datetime(2026, 3, 1, tzinfo=UTC)
    # Numbers that carry over into the third character from the end.
    one, other = (IdMaker(lambda: at, lambda _: 1000) for _ in range(2))
    assert one.many("msg", 60) == [other("msg") for _ in range(60)]
