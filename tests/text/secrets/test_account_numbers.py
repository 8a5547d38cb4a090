"""Account numbers are found by their check digits, and only where they end."""

import pytest

from recollectum.text.secrets.account_numbers import find_account_numbers, passes_luhn

_IBAN = "DE89370400440532013000"


@pytest.mark.parametrize("after", ["", " ", ".", " and more"])
def test_an_account_is_found_with_its_place(after: str) -> None:
    assert list(find_account_numbers(f"pay {_IBAN}{after}")) == [(4, 4 + len(_IBAN), 1, "iban")]


@pytest.mark.parametrize("after", ["7", "A", "A b", "7 8"])
def test_a_longer_word_is_no_account(after: str) -> None:
    assert list(find_account_numbers(f"pay {_IBAN}{after}")) == []


@pytest.mark.parametrize("digits", ["4539578763621486", "5500005555555559", "371449635398431", "6011000990139424"])
def test_every_digit_counts_for_the_check_digit(digits: str) -> None:
    assert passes_luhn(digits)
    for at, digit in enumerate(digits):
        assert not passes_luhn(f"{digits[:at]}{(int(digit) + 1) % 10}{digits[at + 1 :]}"), at


def test_a_row_of_one_digit_is_no_card() -> None:
    assert not passes_luhn("0" * 16)


@pytest.mark.parametrize(
    ("text", "count"),
    [
        ("pay with 4539578763621486", 1),
        ("order 4539578763621486", 0),
        ("2718281828459045", 0),
        (f"{_IBAN[:10]}{_IBAN[10:].lower()}a", 0),
        (_IBAN.replace("DE", "De"), 0),
    ],
)
def test_what_passes_the_checks_by_chance_is_no_card_or_account(text: str, count: int) -> None:
    assert len(list(find_account_numbers(text))) == count
