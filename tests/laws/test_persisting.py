"""Laws of asking a language model again: the same bounds as for an embedder, and no piece is ever handed out twice."""

from collections.abc import Iterator
from dataclasses import dataclass, field

import pytest
from hypothesis import given
from hypothesis import strategies as st

from recollectum.domain.errors import ModelError, ModelRefused, ModelTimeout, ModelUnavailable
from recollectum.domain.message import Role
from recollectum.domain.models.language_model import Piece, Prompt, Reply, Turn
from recollectum.models.limits.retry import RetryClock, RetryingModel, RetryPolicy
from recollectum.testing import ScriptedModel

pytestmark = pytest.mark.slow

PROMPT = Prompt(turns=(Turn(role=Role.USER, text="hello"),))
_PASSING = st.one_of(
    st.builds(ModelTimeout, st.just("late")),
    st.builds(ModelUnavailable, st.just("busy"), retry_after_seconds=st.none() | st.floats(0, 50)),
)
_FAILURES = st.lists(_PASSING | st.builds(ModelRefused, st.just("no")), max_size=6)
_PATIENCE = st.builds(RetryPolicy, attempts=st.integers(1, 6), total_seconds=st.floats(0, 100))


@dataclass
class Time:
    """A clock that moves only when somebody sleeps."""

    now: float = 0.0
    slept: list[float] = field(default_factory=list[float])

    def sleep(self, seconds: float) -> None:
        self.slept.append(seconds)
        self.now += seconds


@given(failures=_FAILURES, patience=_PATIENCE, chance=st.floats(0, 1), way=st.sampled_from(["whole", "stream"]))
def test_only_what_may_pass_is_asked_again_within_number_and_time(
    failures: list[ModelError], patience: RetryPolicy, chance: float, way: str
) -> None:
    time, inner = Time(), ScriptedModel([*failures, "here I am"])
    model = RetryingModel(inner, patience, RetryClock(lambda: time.now, time.sleep, lambda: chance))
    met: ModelError | None = None
    try:
        text = "".join(piece.text for piece in model.stream(PROMPT)) if way == "stream" else model.complete(PROMPT).text
        assert text == "here I am"
    except ModelError as error:
        met = error
    asked = len(inner.prompts)
    assert 1 <= asked <= patience.attempts
    assert met is (failures[asked - 1] if asked <= len(failures) else None)
    assert not [one for one in failures[: asked - 1] if isinstance(one, ModelRefused)]
    assert len(time.slept) == asked - 1
    assert sum(time.slept) <= patience.total_seconds
    for slept, failure in zip(time.slept, failures, strict=False):
        wanted = failure.retry_after_seconds if isinstance(failure, ModelUnavailable) else None
        assert slept >= (wanted or 0)


class Breaking(ScriptedModel):
    """Hands out some words and then breaks off."""

    def __init__(self, words: int) -> None:
        super().__init__([])
        self.begun = 0
        self._words = words

    def complete(self, prompt: Prompt) -> Reply:
        raise NotImplementedError

    def stream(self, prompt: Prompt) -> Iterator[Piece]:
        self.begun += 1
        yield from [Piece(text="word ")] * self._words
        raise ModelUnavailable("stopped with an error")


@given(words=st.integers(1, 5))
def test_a_stream_that_has_begun_is_never_begun_again(words: int) -> None:
    inner, seen = Breaking(words), 0
    try:
        for _ in RetryingModel(inner, RetryPolicy(), RetryClock(sleep=lambda _: None)).stream(PROMPT):
            seen += 1
    except ModelUnavailable:
        assert (seen, inner.begun) == (words, 1)
        return
    raise AssertionError("it must break off")
