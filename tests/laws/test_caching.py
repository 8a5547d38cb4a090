"""Laws of the embedding cache: the same vectors, each computed once, and never another's."""

from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from recollectum.domain.models.embedder import EmbedderIdentity, Purpose
from recollectum.models.embedding.cache import CachedEmbedder, LatestVectors, cache_keys
from recollectum.models.embedding.port import Vectors
from recollectum.models.embedding.vectors import decode, encode
from tests.models.hashing import HashingEmbedder, identity

pytestmark = pytest.mark.slow

_TEXTS = st.lists(st.text(max_size=8), min_size=1, max_size=12)
_PURPOSES = st.sampled_from(Purpose)


class Forgetful(LatestVectors):
    """Loses and spoils what it is told to."""

    def __init__(self) -> None:
        super().__init__(1000)
        self.spoiled: bytes | None = None

    def get_many(self, keys: Sequence[bytes]) -> dict[bytes, bytes]:
        found = super().get_many(keys)
        return found if self.spoiled is None else dict.fromkeys(found, self.spoiled)


@pytest.mark.feature("G6")
@given(calls=st.lists(st.tuples(_TEXTS, _PURPOSES), min_size=1, max_size=8), entries=st.integers(1, 20))
def test_what_is_kept_and_what_is_computed_are_the_same_bit_for_bit(
    calls: list[tuple[list[str], Purpose]], entries: int
) -> None:
    embedder = CachedEmbedder(HashingEmbedder(), LatestVectors(entries))
    for texts, purpose in calls:
        found = embedder.embed(texts, purpose)
        fresh = CachedEmbedder(HashingEmbedder(), LatestVectors(1)).embed(texts, purpose)
        assert found.tobytes() == fresh.tobytes()
        exact = HashingEmbedder().embed(texts, purpose)
        assert ((found * exact).sum(axis=1) > 0.999999).all()


@pytest.mark.feature("G6")
@given(calls=st.lists(_TEXTS, min_size=1, max_size=8))
def test_with_room_enough_no_text_is_computed_twice(calls: list[list[str]]) -> None:
    inner = HashingEmbedder()
    embedder = CachedEmbedder(inner, LatestVectors(1000))
    for texts in calls:
        embedder.embed(texts, Purpose.PASSAGE)
    computed = [text for call in inner.calls for text in call]
    assert sorted(computed) == sorted({text for texts in calls for text in texts})


@given(values=st.lists(st.tuples(st.binary(max_size=2), st.binary(max_size=2)), max_size=60), entries=st.integers(1, 9))
def test_the_cache_in_memory_keeps_the_latest_and_no_more(values: list[tuple[bytes, bytes]], entries: int) -> None:
    cache = LatestVectors(entries)
    for key, value in values:
        cache.put_many({key: value})
    latest = list(dict.fromkeys(key for key, _ in reversed(values)))[:entries]
    newest = dict(values)
    assert cache.get_many([key for key, _ in values]) == {key: newest[key] for key in latest}


def test_what_was_used_last_stays() -> None:
    cache = LatestVectors(2)
    cache.put_many({b"a": b"1", b"b": b"2"})
    cache.get_many([b"a"])
    cache.put_many({b"c": b"3"})
    assert cache.get_many([b"a", b"b", b"c"]) == {b"a": b"1", b"c": b"3"}


_IDENTITIES = st.builds(
    EmbedderIdentity,
    provider=st.text(max_size=3),
    model=st.text(max_size=3),
    digest=st.text(max_size=3),
    dimensions=st.integers(0, 3),
    form=st.text(max_size=3),
    provider_key=st.text(max_size=3),
)


@pytest.mark.feature("G6")
@given(one=st.tuples(_IDENTITIES, _PURPOSES, st.text()), other=st.tuples(_IDENTITIES, _PURPOSES, st.text()))
def test_keys_are_equal_for_equal_parts_only(
    one: tuple[EmbedderIdentity, Purpose, str], other: tuple[EmbedderIdentity, Purpose, str]
) -> None:
    keys = [cache_keys(who, [text], purpose)[0] for who, purpose, text in (one, other)]
    assert (keys[0] == keys[1]) == (one == other)


@pytest.mark.feature("G6")
@pytest.mark.parametrize("name", ["provider", "model", "digest", "form", "provider_key"])
def test_every_part_of_an_identity_counts(name: str) -> None:
    one = identity()
    other = replace(one, **{name: "another"})
    assert cache_keys(one, ["text"], Purpose.QUERY) != cache_keys(other, ["text"], Purpose.QUERY)
    assert one.text_key() != other.text_key()


@given(value=st.binary(max_size=24))
def test_any_bytes_are_a_row_or_nothing(value: bytes) -> None:
    row = decode(value, 8)
    assert row is None or (row.shape == (8,) and bool(np.isfinite(row).all()))


@pytest.mark.parametrize(
    "spoiled",
    [b"", b"\x01", b"\x02" + b"\x11" * 16, b"\x01" + b"\x11" * 15, b"\x01" + b"\xff" * 16, b"\x01" + bytes(16)],
)
def test_what_is_damaged_is_computed_again(spoiled: bytes) -> None:
    store, inner = Forgetful(), HashingEmbedder()
    embedder = CachedEmbedder(inner, store)
    first = embedder.embed(["text"], Purpose.PASSAGE)
    store.spoiled = spoiled
    assert np.array_equal(embedder.embed(["text"], Purpose.PASSAGE), first)
    assert len(inner.calls) == 2


def test_vectors_of_two_lengths_are_never_mixed() -> None:
    store, anything = LatestVectors(10), identity(dimensions=0)
    CachedEmbedder(HashingEmbedder(who=anything), store).embed(["one", "two"], Purpose.PASSAGE)
    longer = HashingEmbedder(who=anything)
    longer.dimensions = 16
    embedder = CachedEmbedder(longer, store)
    assert embedder.embed(["one", "two", "three"], Purpose.PASSAGE).shape == (3, 16)
    assert embedder.embed(["one", "two"], Purpose.PASSAGE).shape == (2, 16)


def test_only_the_purposes_it_was_told_are_kept() -> None:
    inner = HashingEmbedder()
    embedder = CachedEmbedder(inner, LatestVectors(10), purposes=[Purpose.QUERY])
    for purpose in (Purpose.PASSAGE, Purpose.PASSAGE, Purpose.QUERY, Purpose.QUERY):
        embedder.embed(["text"], purpose)
    assert len(inner.calls) == 3
    embedder.close()
    assert inner.closed


class Recording:
    """A store as a vault would have one: it sees keys and bytes, and no text."""

    def __init__(self) -> None:
        self.values: dict[bytes, bytes] = {}

    def get_many(self, keys: Sequence[bytes]) -> dict[bytes, bytes]:
        return {key: self.values[key] for key in keys if key in self.values}

    def put_many(self, values: Mapping[bytes, bytes]) -> None:
        self.values.update(values)


def test_a_store_sees_small_values_under_keys_of_one_length() -> None:
    store = Recording()
    CachedEmbedder(HashingEmbedder(), store).embed(["a", "b" * 5000, "a"], Purpose.PASSAGE)
    assert {len(key) for key in store.values} == {32}
    assert {len(value) for value in store.values.values()} == {1 + 2 * 8}


def test_half_precision_loses_nothing_that_counts() -> None:
    rows: Vectors = np.random.default_rng(1).normal(size=(200, 384)).astype(np.float32)
    rows /= np.linalg.norm(rows, axis=1, keepdims=True)
    for row, value in zip(rows, encode(rows), strict=True):
        kept = decode(value, 384)
        assert kept is not None
        assert float(row @ kept) > 0.999999
        assert float(np.abs(row - kept).max()) < 2e-4
