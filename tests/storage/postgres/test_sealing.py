"""Values are encrypted before they leave the process, and come back as they were."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from recollectum.domain.errors import Damaged, KeyProblem
from recollectum.storage.postgres.sealing import PlainValues, SealedValues, values_under

_KEY, _OTHER = b"k" * 32, b"o" * 32
_VALUES = st.one_of(st.text(st.characters(exclude_categories=["Cs"])), st.binary())


@given(value=_VALUES, key=st.sampled_from([_KEY, None]))
def test_a_value_comes_back_as_it_was(value: str | bytes, key: bytes | None) -> None:
    values = values_under(key)
    assert values.unseal(values.seal(value)) == value
    assert values.unseal(values.seal_equal(value)) == value


@given(column=st.lists(st.none() | _VALUES), key=st.sampled_from([_KEY, None]))
def test_a_column_of_values_comes_back_as_its_values_do_one_by_one(
    column: list[str | bytes | None], key: bytes | None
) -> None:
    values = values_under(key)
    for seal in (values.seal, values.seal_equal, PlainValues().seal):
        assert values.unseal_all([None if one is None else seal(one) for one in column]) == column


@given(column=st.lists(st.none() | st.text(st.characters(exclude_categories=["Cs"])) | st.just("again")))
@pytest.mark.parametrize("key", [_KEY, None])
def test_a_column_is_sealed_as_its_values_are_one_by_one(column: list[str | None], key: bytes | None) -> None:
    values = values_under(key)
    assert values.unseal_all(values.seal_all(column)) == column
    assert values.seal_equal_all(column) == [None if one is None else values.seal_equal(one) for one in column]
    if key:
        sealed = [one for one in values.seal_all([*column, *column]) if one]
        assert len({*sealed}) == len(sealed)


def test_one_damaged_value_of_a_column_is_refused() -> None:
    stored = SealedValues(_KEY).seal(b"data")
    for damaged in (stored[:-1] + bytes([stored[-1] ^ 1]), stored[:20], stored[:5], SealedValues(_OTHER).seal(b"data")):
        with pytest.raises(Damaged, match="belongs to another vault"):
            SealedValues(_KEY).unseal_all([stored, damaged])


@given(value=_VALUES.filter(bool))
def test_only_compared_values_are_equal_when_they_are_the_same(value: str | bytes) -> None:
    values = SealedValues(_KEY)
    assert values.seal_equal(value) == SealedValues(_KEY).seal_equal(value)
    assert values.seal(value) != values.seal(value)
    assert values.seal_equal(value) != SealedValues(_OTHER).seal_equal(value)


def test_a_text_and_the_same_bytes_are_different_values() -> None:
    for values in (SealedValues(_KEY), PlainValues()):
        assert values.seal_equal("same") != values.seal_equal(b"same")


def test_nothing_of_a_sealed_value_can_be_read() -> None:
    for seal in (SealedValues(_KEY).seal, SealedValues(_KEY).seal_equal):
        assert b"secret" not in seal("the secret words")
        assert b"secret" not in seal(b"the secret bytes")


# The values differ from run to run, so they cannot be the names of the tests: parallel workers compare those.
@pytest.mark.parametrize(
    "stored", [SealedValues(_KEY).seal("words"), SealedValues(_KEY).seal_equal("words")], ids=["random", "equal"]
)
def test_another_key_no_key_and_a_changed_value_are_refused(stored: bytes) -> None:
    with pytest.raises(Damaged, match="belongs to another vault"):
        SealedValues(_OTHER).unseal(stored)
    with pytest.raises(KeyProblem, match="its key is missing"):
        PlainValues().unseal(stored)
    for place in range(len(stored)):
        changed = stored[:place] + bytes([stored[place] ^ 1]) + stored[place + 1 :]
        with pytest.raises(Damaged):
            SealedValues(_KEY).unseal(changed)


def test_a_vault_that_was_plain_before_is_still_read() -> None:
    assert SealedValues(_KEY).unseal(PlainValues().seal("from before")) == "from before"


def test_a_hidden_text_is_found_again_and_shown() -> None:
    values = SealedValues(_KEY)
    assert values.hide("coder") == values.hide("coder") != values.hide("main")
    assert values.show(values.hide("coder")) == "coder"
    assert "coder" not in values.hide("coder")
    assert PlainValues().show(PlainValues().hide("coder")) == "coder"
