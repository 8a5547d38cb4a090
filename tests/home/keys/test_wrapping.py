"""A wrap opens under its own key and label and under no other; the master key does not show itself."""

import base64
import copy
import pickle

import pytest
from hypothesis import given
from hypothesis import strategies as st

from recollectum.domain.errors import WrongKey
from recollectum.home.keys.wrapping import KEY_BYTES, MasterKey, derive, new_key, unwrap, wrap

_SECRET = bytes(range(KEY_BYTES))


def test_what_was_wrapped_comes_back() -> None:
    key = new_key()
    assert unwrap(key, wrap(key, _SECRET, "vault a"), "vault a") == _SECRET


def test_another_key_does_not_open_it() -> None:
    assert unwrap(new_key(), wrap(new_key(), _SECRET, "vault a"), "vault a") is None


def test_another_label_does_not_open_it() -> None:
    key = new_key()
    assert unwrap(key, wrap(key, _SECRET, "vault a"), "vault b") is None


@given(st.integers(min_value=0, max_value=12 + KEY_BYTES + 16 - 1), st.integers(min_value=1, max_value=255))
def test_no_byte_can_be_changed(place: int, change: int) -> None:
    key = bytes(KEY_BYTES)
    wrapped = bytearray(wrap(key, _SECRET, "a"))
    wrapped[place] ^= change
    assert unwrap(key, bytes(wrapped), "a") is None


@pytest.mark.parametrize("length", [0, 1, 11, 12, 27, 28, 59])
def test_what_was_cut_short_does_not_open(length: int) -> None:
    key = new_key()
    assert unwrap(key, wrap(key, _SECRET, "a")[:length], "a") is None


def test_two_wraps_of_one_secret_have_nothing_in_common() -> None:
    key = new_key()
    assert wrap(key, _SECRET, "a") != wrap(key, _SECRET, "a")


def test_each_purpose_has_a_key_of_its_own() -> None:
    assert derive(_SECRET, "one") == derive(_SECRET, "one")
    assert len({derive(_SECRET, "one"), derive(_SECRET, "two"), derive(new_key(), "one"), _SECRET}) == 4


def test_a_master_key_survives_its_text_form() -> None:
    master = MasterKey.new()
    assert MasterKey.from_text(f" {master.to_text()}\n") == master
    assert MasterKey.new() != master


@pytest.mark.parametrize(
    "text",
    [
        "",
        ":",
        "recollectum-key-1:",
        "recollectum-key-1:AAAA",
        "recollectum-key-1:not base64!",
        "recollectum-key-2:" + base64.b64encode(_SECRET).decode(),
        base64.b64encode(_SECRET).decode(),
        "recollectum-key-1:" + base64.b64encode(_SECRET + b"x").decode(),
        "recollectum-key-1:é",
    ],
)
def test_a_text_that_is_no_key_is_none(text: str) -> None:
    assert MasterKey.from_text(text) is None


def test_a_master_key_of_another_length_is_refused() -> None:
    with pytest.raises(WrongKey, match="32 bytes"):
        MasterKey(b"short")


def test_a_master_key_neither_shows_nor_copies_itself() -> None:
    master = MasterKey(_SECRET)
    shown = f"{master!r} {master!s} {[master]!r}"
    assert base64.b64encode(_SECRET).decode() not in shown
    assert _SECRET.hex() not in shown
    assert repr(_SECRET) not in shown
    for copied in (pickle.dumps, copy.copy, copy.deepcopy):
        with pytest.raises(TypeError, match="not pickled or copied"):
            copied(master)


def test_the_fingerprint_tells_keys_apart_and_is_not_the_wrapping_key() -> None:
    master = MasterKey(_SECRET)
    assert master.fingerprint() == MasterKey(_SECRET).fingerprint() != MasterKey.new().fingerprint()
    assert not master.derive("vault keys").startswith(master.fingerprint())


def test_a_key_for_a_purpose_is_derived_once() -> None:
    master = MasterKey.new()
    first = master.derive("vault keys")
    assert master.derive("vault keys") is first
    assert master.derive("backup manifests") != first
