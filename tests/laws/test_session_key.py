"""Laws of session keys: parsed and formatted without loss, and no two in one text."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from recollectum.domain.errors import InvalidInput
from recollectum.domain.session import SessionKey, SessionKind

pytestmark = pytest.mark.slow

#: The words and signs of the grammar itself are the likeliest to be mistaken inside a part.
WORDS = st.sampled_from(
    ["main", "direct", "group", "topic", "agent", "hook", "cron", "%", "%3A", "%25", ":", "::", "%3a"]
)
PARTS = (
    st.text(st.characters(exclude_categories=["Cs", "Cc"]), min_size=1)
    | WORDS
    | st.lists(WORDS, min_size=1).map("".join)
)
TOPICS = st.none() | PARTS
KEYS = (
    st.builds(SessionKey, st.just(SessionKind.DIRECT), agent=PARTS, channel=PARTS, topic=TOPICS)
    | st.builds(SessionKey, st.just(SessionKind.GROUP), agent=PARTS, channel=PARTS, name=PARTS, topic=TOPICS)
    | st.builds(SessionKey, st.sampled_from([SessionKind.HOOK, SessionKind.CRON]), name=PARTS)
)
#: Texts that are nearly keys.
NEARLY = (
    st.lists(WORDS | PARTS, max_size=8).map(lambda parts: ":".join(["agent", *parts]))
    | st.lists(WORDS, max_size=8).map("".join)
    | st.text()
)


@given(KEYS)
@settings(max_examples=500)
@pytest.mark.feature("G3")
def test_a_key_comes_back_from_its_text(key: SessionKey) -> None:
    assert SessionKey.parse(str(key)) == key


@given(KEYS, KEYS)
@settings(max_examples=300)
@pytest.mark.feature("G3")
def test_two_keys_never_meet_in_one_text(one: SessionKey, other: SessionKey) -> None:
    assert (str(one) == str(other)) == (one == other)


@given(NEARLY | KEYS.map(str))
@settings(max_examples=500)
@pytest.mark.feature("G3")
def test_a_text_that_is_read_as_a_key_is_written_one_way(text: str) -> None:
    try:
        key = SessionKey.parse(text)
    except InvalidInput:
        return
    assert SessionKey.parse(str(key)) == key
    assert str(SessionKey.parse(str(key))) == str(key)


@pytest.mark.feature("G3")
@pytest.mark.parametrize(
    ("text", "key"),
    [
        ("agent:main:main", SessionKey()),
        ("agent:main:telegram:direct", SessionKey(channel="telegram")),
        ("agent:coder:whatsapp:group:1", SessionKey(SessionKind.GROUP, agent="coder", channel="whatsapp", name="1")),
        ("agent:main:main:topic:7", SessionKey(topic="7")),
        (
            "agent:a:slack:group:g:topic:t",
            SessionKey(SessionKind.GROUP, agent="a", channel="slack", name="g", topic="t"),
        ),
        ("hook:build%3A9", SessionKey(SessionKind.HOOK, name="build:9")),
        ("cron:nightly", SessionKey(SessionKind.CRON, name="nightly")),
    ],
)
def test_the_forms_are_those_of_the_page(text: str, key: SessionKey) -> None:
    assert SessionKey.parse(text) == key
    assert str(key) == text


@pytest.mark.parametrize(
    "text", ["", "agent", "agent:a", "agent::main", "agent:a:b", "hook:", "x:y:z", "agent:a:b:group:"]
)
def test_a_text_that_is_no_key_is_refused_in_words(text: str) -> None:
    with pytest.raises(InvalidInput):
        SessionKey.parse(text)
