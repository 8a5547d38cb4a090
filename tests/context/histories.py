"""Histories for the tests of contexts: short to write by hand, and random ones."""

from datetime import UTC, datetime, timedelta

from hypothesis import strategies as st

from recollectum.domain.message import Message, Role, ToolCall
from recollectum.domain.trust import Trust

AT = datetime(2026, 3, 1, 12, tzinfo=UTC)
ROLES = {"u": Role.USER, "a": Role.ASSISTANT, "c": Role.ASSISTANT, "r": Role.TOOL, "s": Role.SYSTEM}


def history(shape: str, text: str = "some words") -> list[Message]:
    """One message a letter: user, assistant, call, result, system; a result names the last call before it."""
    said: list[Message] = []
    call = ""
    for position, letter in enumerate(shape, start=1):
        call = f"call_{position}" if letter == "c" else call
        said.append(message(position, letter, f"{text} {position}", call))
    return said


def message(position: int, letter: str, text: str, call: str = "") -> Message:
    return Message(
        id=f"msg_{position}",
        session_id="ses_1",
        position=position,
        role=ROLES[letter],
        content=text,
        created_at=AT + timedelta(minutes=position),
        tool_calls=(ToolCall(id=call, name="look", args={"at": text[:20]}),) if letter == "c" else (),
        extra={"tool_call_id": call} if letter == "r" and call else {},
        trust=Trust.OWNER,
    )


@st.composite
def histories(draw: st.DrawFn, words: st.SearchStrategy[str]) -> list[Message]:
    """Any order of roles, parallel and interleaved calls, results that come late, never or without a call."""
    # Whole turns and scraps of them: letter by letter a call would seldom get a result.
    scraps = st.sampled_from(["ua", "ucra", "uccrra", "cr", "cur", "c", "r", "s", "u"])
    letters = "".join(draw(st.lists(scraps, min_size=draw(st.sampled_from([0, 3, 8])), max_size=12)))
    said: list[Message] = []
    open_calls: list[str] = []
    for position, letter in enumerate(letters, start=1):
        call = ""
        if letter == "c":
            call = f"call_{position}"
            open_calls.append(call)
        elif letter == "r":
            call = draw(st.sampled_from([*open_calls[-3:], *open_calls[-1:], "", "call_lost"]))
        said.append(message(position, letter, draw(words), call))
    return said
