"""Conversations for laws: any session and messages that the nouns allow."""

from datetime import UTC, datetime

from hypothesis import strategies as st

from recollectum.domain.ids import IdMaker
from recollectum.domain.message import Json, Message, Role, TokenCount, ToolCall, ToolStatus
from recollectum.domain.session import Session, SessionKey, SessionKind
from recollectum.domain.trust import Trust

IDS = IdMaker()

texts = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), max_size=20)
names = st.text(st.characters(exclude_categories=["Cs", "Cc"]), min_size=1, max_size=8)
counts = st.integers(0, 2**63 - 1)
times = st.datetimes(timezones=st.just(UTC))
scalars = st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | texts
values: st.SearchStrategy[Json] = st.recursive(
    scalars, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(texts, inner, max_size=3), max_leaves=6
)
objects: st.SearchStrategy[dict[str, Json]] = st.dictionaries(texts, values, max_size=3)
parts = st.lists(objects | st.fixed_dictionaries({"text": texts}), max_size=3).map(tuple)

tool_calls = st.builds(
    ToolCall,
    id=texts,
    name=texts,
    args=objects,
    result=values,
    status=st.sampled_from(ToolStatus),
    at=st.none() | times,
    extra=objects,
)
token_counts = st.builds(
    TokenCount,
    input=counts,
    output=counts,
    cached=counts,
    thoughts=st.none() | counts,
    tool=st.none() | counts,
    total=counts,
)
keys = st.builds(SessionKey, agent=names, channel=names, topic=st.none() | names) | st.builds(
    SessionKey, st.just(SessionKind.GROUP), agent=names, channel=names, name=names
)


def message_of(session_id: str, position: int) -> st.SearchStrategy[Message]:
    return st.builds(
        Message,
        id=st.builds(IDS, st.just("msg")),
        session_id=st.just(session_id),
        position=st.just(position),
        role=st.sampled_from(Role),
        content=texts | parts,
        created_at=times,
        tool_calls=st.lists(tool_calls, max_size=2).map(tuple),
        thoughts=parts,
        tokens=st.none() | token_counts,
        token_estimate=st.integers(0, 10**6),
        model=st.none() | texts,
        native_id=st.none() | texts,
        speaker=st.none() | texts,
        trust=st.sampled_from(Trust),
        extra=objects,
    )


@st.composite
def conversations(draw: st.DrawFn) -> tuple[Session, tuple[Message, ...]]:
    session_id = IDS("ses")
    positions = sorted(draw(st.sets(st.integers(1, 50), max_size=4)))
    messages = tuple(draw(message_of(session_id, position)) for position in positions)
    session = Session(
        id=session_id,
        key=draw(keys),
        created_at=draw(times),
        updated_at=draw(times),
        ended_at=draw(st.none() | times),
        title=draw(st.none() | texts),
        summary=draw(st.none() | texts),
        project=draw(st.none() | texts),
        message_count=len(messages),
        token_estimate=sum(message.token_estimate for message in messages),
        extra=draw(objects),
    )
    return session, messages


def sample(messages: int = 5) -> tuple[Session, tuple[Message, ...]]:
    """A small conversation with a bit of everything."""
    at = datetime(2026, 3, 1, 12, 0, 0, 123456, tzinfo=UTC)
    session_id = IDS("ses")
    call = ToolCall(
        id="t1", name="shell", args={"command": "ls"}, result=[{"text": "a\nb"}], status=ToolStatus.COMPLETE
    )
    said = tuple(
        Message(
            id=IDS("msg"),
            session_id=session_id,
            position=position,
            role=Role.USER if position % 2 else Role.ASSISTANT,
            content=f"Message {position}: I like tea, 日本 and 😀.\nSecond line.",
            created_at=at,
            tool_calls=() if position % 2 else (call,),
            tokens=TokenCount(input=3, total=3),
            token_estimate=11,
            extra={"n": position, "f": 0.5},
        )
        for position in range(1, messages + 1)
    )
    session = Session(
        id=session_id,
        key=SessionKey(agent="main", channel="telegram"),
        created_at=at,
        updated_at=at,
        title="Tea",
        message_count=messages,
        token_estimate=11 * messages,
    )
    return session, said
