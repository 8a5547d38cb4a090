"""Laws of batches: nothing lost, nothing moved, nothing too large, and not too many at once."""

import threading
import time
from collections.abc import Sequence

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from recollectum.domain.errors import ModelUnavailable
from recollectum.domain.models.embedder import Purpose
from recollectum.models.embedding.batching import BatchingEmbedder, batches
from recollectum.models.embedding.inputs import weigh_text
from recollectum.models.embedding.port import Vectors
from tests.models.hashing import HashingEmbedder

pytestmark = pytest.mark.slow

_TEXTS = st.lists(st.text(max_size=60), max_size=40)


@given(texts=_TEXTS, most=st.integers(1, 10), tokens=st.integers(1, 60))
def test_batches_hold_every_text_once_in_order_and_within_both_limits(texts: list[str], most: int, tokens: int) -> None:
    found = list(batches(texts, most, tokens, 16))
    assert [text for run in found for text in run] == texts
    for run in found:
        assert 1 <= len(run) <= most
        assert len(run) == 1 or sum(weigh_text(text, 16) for text in run) <= tokens


@given(texts=_TEXTS, most=st.integers(1, 10), concurrency=st.integers(1, 4))
def test_batching_changes_no_vector(texts: list[str], most: int, concurrency: int) -> None:
    whole = HashingEmbedder().embed(texts, Purpose.PASSAGE)
    embedder = BatchingEmbedder(HashingEmbedder(), texts=most, tokens=100, concurrency=concurrency)
    assert np.array_equal(embedder.embed(texts, Purpose.PASSAGE), whole)


class Meeting(HashingEmbedder):
    """Lets a call return only when as many others are in it as can be."""

    def __init__(self, together: int) -> None:
        super().__init__()
        self._barrier = threading.Barrier(together, timeout=20)

    def embed(self, texts: Sequence[str], purpose: Purpose) -> Vectors:
        self._barrier.wait()
        return super().embed(texts, purpose)


@pytest.mark.parametrize("concurrency", [1, 2, 4])
def test_as_many_batches_run_at_once_as_are_allowed(concurrency: int) -> None:
    # Fewer at once would break the barrier; more would leave a rest that never fills it.
    embedder = BatchingEmbedder(Meeting(concurrency), texts=1, tokens=100, concurrency=concurrency)
    found = embedder.embed([str(number) for number in range(concurrency * 3)], Purpose.PASSAGE)
    assert found.shape == (concurrency * 3, 8)


class Slow(HashingEmbedder):
    """Fails at once, and then takes its time."""

    def embed(self, texts: Sequence[str], purpose: Purpose) -> Vectors:
        if self.calls:
            time.sleep(0.02)
        return super().embed(texts, purpose)


def test_the_first_failure_is_raised_and_the_rest_is_not_begun() -> None:
    inner = Slow([ModelUnavailable("busy")])
    embedder = BatchingEmbedder(inner, texts=1, tokens=100, concurrency=1)
    with pytest.raises(ModelUnavailable, match="busy"):
        embedder.embed(["text"] * 200, Purpose.PASSAGE)
    assert len(inner.calls) < 200
    embedder.close()
    assert inner.closed
