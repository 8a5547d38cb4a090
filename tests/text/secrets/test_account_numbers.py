"""Account numbers are found by their check digits, and only where they end."""

import pytest

from recollectum.text.secrets.account_numbers import find_account_numbers

_IBAN = "DE89370400440532013000"


@pytest.mark.parametrize("after", ["", " ", ".", " and more"])
def test_an_account_is_found_with_its_place(after: str) -> None:
    assert list(find_account_numbers(f"pay {_IBAN}{after}")) == [(4, 4 + len(_IBAN), 1, "iban")]


@pytest.mark.parametrize("after", ["7", "A", "A b", "7 8"])
def test_a_longer_word_is_no_account(after: str) -> None:
    assert list(find_account_numbers(f"pay {_IBAN}{after}")) == []
