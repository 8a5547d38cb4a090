"""Finds payment card numbers by Luhn's check digit and bank accounts (IBAN) by ISO 7064 mod 97."""

import re
from collections.abc import Iterator

from recollectum.text.secrets.patterns import Span

_RANK = 1
_DIGITS = re.compile(r"[0-9]{4}")
_CARD = re.compile(
    r"(?P<secret>[2-6](?:(?<![\w.,#/-].)|(?<=\\[nrt].))(?:[0-9]{12,18}"
    r"|[0-9]{3}(?P<gap>[ -])[0-9]{4}(?P=gap)[0-9]{4}(?P=gap)[0-9]{1,7}"
    r"|[0-9]{3}(?P<wide>[ -])[0-9]{6}(?P=wide)[0-9]{4,5}))(?![\w-]|[.,][0-9])",
    re.ASCII,
)
# The prefixes that the card networks issue, and the lengths of their numbers.
_ISSUED = re.compile(
    r"4(?:[0-9]{12}|[0-9]{15}|[0-9]{18})|5[1-5][0-9]{14}|2(?:22[1-9]|2[3-9][0-9]|[3-6][0-9]{2}|7[01][0-9]|720)[0-9]{12}"
    r"|3[47][0-9]{13}|3(?:0[0-5]|[689][0-9])[0-9]{11}|35[0-9]{14}|6(?:011|4[4-9][0-9]|5[0-9]{2})[0-9]{12}"
    r"|62[0-9]{14,17}",
    re.ASCII,
)
_ACCOUNT = re.compile(r"[A-Z](?:(?<![\w-].)|(?<=\\[nrt].))[A-Z][0-9]{2}(?= ?[A-Z0-9]{4})", re.ASCII)
# The length of the IBAN of each country.
_COUNTRIES = {
    15: "NO",
    16: "BE",
    18: "DK FI FO GL NL",  # codespell:ignore
    19: "MK SI",
    20: "AT BA EE KZ LT LU XK",
    21: "CH HR LI LV",
    22: "BG BH CR DE GB GE IE ME RS VA",
    23: "AE GI IL IQ TL",
    24: "AD CZ ES MD PK RO SA SE SK TN VG",
    25: "PT ST",
    26: "IS TR",
    27: "FR GR IT MC MR SM",
    28: "AL AZ BY CY DO GT HU LB PL SV",
    29: "BR EG PS QA UA",
    30: "JO KW MU",
    31: "MT SC",
    32: "LC",
}
#: For each digit, the digit sum of its double.
_DOUBLED = str.maketrans("0123456789", "0246813579")
#: The value of each letter of an IBAN.
_VALUES = {ord(letter): str(int(letter, 36)) for letter in "ABCDEFGHIJKLMNOPQRSTUVWXYZ"}
_LENGTHS = {country: length for length, countries in _COUNTRIES.items() for country in countries.split()}


def find_account_numbers(text: str) -> Iterator[Span]:
    """Yield the cards and accounts whose check digits are right."""
    if not _DIGITS.search(text):
        return
    for found in _CARD.finditer(text):
        digits = found["secret"].replace(" ", "").replace("-", "")
        if _ISSUED.fullmatch(digits) and passes_luhn(digits):
            yield (*found.span("secret"), _RANK, "credit-card")
    for found in _ACCOUNT.finditer(text):
        end = _account_end(text, found.start())
        if end:
            yield found.start(), end, _RANK, "iban"


def passes_luhn(digits: str) -> bool:
    """Return whether the last digit is Luhn's check digit; a row of one repeated digit is no card."""
    total = sum(map(int, digits[::-2])) + sum(map(int, digits[-2::-2].translate(_DOUBLED)))
    return total % 10 == 0 and len(set(digits)) > 1


def _account_end(text: str, start: int) -> int | None:
    """Return the end of the IBAN that begins here, or None when there is none."""
    length = _LENGTHS.get(text[start : start + 2])
    if length is None:
        return None
    # People write it in groups of four with single spaces; after a wider gap something else begins.
    account = text[start : start + length + length // 3].replace(" ", "")[:length]
    # It begins with two capitals, so `isupper` also holds if the rest are digits.
    if len(account) < length or not (account.isascii() and account.isalnum() and account.isupper()):
        return None
    if not _passes_mod_97(account):
        return None
    end = start
    while length:
        length -= text[end] != " "
        end += 1
    return None if text[end : end + 1].isalnum() else end


def _passes_mod_97(account: str) -> bool:
    return int((account[4:] + account[:4]).translate(_VALUES)) % 97 == 1
