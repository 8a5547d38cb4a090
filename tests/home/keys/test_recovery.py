"""A recovery code is read as people write it, and a slip is told apart from a wrong code."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from recollectum.domain.errors import InvalidInput, WrongKey
from recollectum.home.keys.recovery import new_code, read_code, unwrap_master, wrap_master
from recollectum.home.keys.wrapping import MasterKey

_LETTERS = "0123456789ABCDEFGHJKMNPQRSTVWXYZ"
_CODE = new_code()
_PLAIN = _CODE.replace("-", "")
_PLACE = st.integers(min_value=0, max_value=len(_PLAIN) - 1)


def test_a_code_has_160_bits_in_groups_of_four_and_a_check_character() -> None:
    groups = _CODE.split("-")
    assert [len(group) for group in groups] == [4] * 8 + [1]
    assert set(_PLAIN) <= set(_LETTERS)
    assert len(read_code(_CODE)) == 20


def test_codes_differ_and_use_every_bit() -> None:
    seen = [read_code(new_code()) for _ in range(64)]
    assert len(set(seen)) == 64
    for bit in range(160):
        assert len({int.from_bytes(code) >> bit & 1 for code in seen}) == 2


@given(st.integers(min_value=0))
def test_case_spaces_hyphens_and_look_alikes_are_forgiven(choice: int) -> None:
    typed: list[str] = []
    for char in _PLAIN:
        choice, pick = divmod(choice, 4)
        look_alikes = {"0": "0Oo0", "1": "1IlL"}.get(char, char + char.lower() + char + char.lower())
        typed.append(look_alikes[pick] + ("", " ", "-", "\t")[pick])
    assert read_code("".join(typed)) == read_code(_CODE)


@given(_PLACE, st.sampled_from(_LETTERS))
def test_every_single_slip_is_noticed(place: int, letter: str) -> None:
    slipped = _PLAIN[:place] + letter + _PLAIN[place + 1 :]
    if slipped == _PLAIN:
        return
    with pytest.raises(InvalidInput, match="typing mistake"):
        read_code(slipped)


@given(_PLACE, _PLACE)
def test_every_swap_of_two_characters_is_noticed(one: int, other: int) -> None:
    swapped = list(_PLAIN)
    swapped[one], swapped[other] = swapped[other], swapped[one]
    if "".join(swapped) == _PLAIN or len(_PLAIN) - 1 in (one, other):
        return
    with pytest.raises(InvalidInput, match="typing mistake"):
        read_code("".join(swapped))


@pytest.mark.parametrize(
    ("typed", "words"),
    [
        ("", "not 0"),
        (_PLAIN[:-1], "not 32"),
        (_PLAIN + "0", "not 34"),
        ("U" + _PLAIN[1:], "character 1"),
        (_PLAIN[:5] + "é" + _PLAIN[6:], "character 6"),
        ("ß" + _PLAIN[1:], "not 34"),
    ],
    # The code differs in each process, and a test must have the same name in all of them.
    ids=["empty", "short", "long", "letter-u", "accent", "sharp-s"],
)
def test_a_text_of_another_form_is_a_slip_with_its_place(typed: str, words: str) -> None:
    with pytest.raises(InvalidInput, match=words):
        read_code(typed)


def test_the_master_key_comes_back_by_its_code_only() -> None:
    master = MasterKey.new()
    wrapped = wrap_master(_CODE, master, "home_a")
    assert unwrap_master(_CODE.lower(), wrapped, "home_a") == master
    with pytest.raises(WrongKey, match="not the one of this home"):
        unwrap_master(new_code(), wrapped, "home_a")
    with pytest.raises(WrongKey, match="not the one of this home"):
        unwrap_master(_CODE, wrapped, "home_b")


def test_an_error_does_not_repeat_the_code() -> None:
    slipped = ("A" if _PLAIN[0] != "A" else "B") + _PLAIN[1:]
    with pytest.raises(InvalidInput) as raised:
        read_code(slipped)
    assert slipped[:6] not in str(raised.value)
