"""Finds payment card numbers by Luhn's check digit and bank accounts (IBAN) by ISO 7064 mod 97."""

import re
from collections.abc import Iterator
from functools import cache

from recollectum.text.secrets.span import Span

_RANK = 1
DIGITS = re.compile("[0-9][0-9]{3}")


# Compiled at the first text that needs it, because that is slow.
@cache
def _card() -> re.Pattern[str]:
    return re.compile(
        r"(?P<secret>[2-6](?:(?<![\w.,#/-].)|(?<=\\[nrt].))(?:[0-9]{12,18}"
        r"|[0-9]{3}(?P<gap>[ .-])[0-9]{4}(?P=gap)[0-9]{4}(?P=gap)[0-9]{1,7}"
        r"|[0-9]{3}(?P<wide>[ .-])[0-9]{6}(?P=wide)[0-9]{4,5}))(?![\w-]|[.,][0-9])",
        re.ASCII,
    )


@cache
def _issued() -> re.Pattern[str]:
    # The prefixes that the card networks issue, and the lengths of their numbers.
    return re.compile(
        r"4(?:[0-9]{12}|[0-9]{15}|[0-9]{18})|5[1-5][0-9]{14}|2(?:22[1-9]|2[3-9][0-9]|[3-6][0-9]{2}|7[01][0-9]|720)[0-9]{12}"
        r"|3[47][0-9]{13}|3(?:0[0-5]|[689][0-9])[0-9]{11}|35[0-9]{14}|6(?:011|4[4-9][0-9]|5[0-9]{2})[0-9]{12}"
        r"|62[0-9]{14,17}",
        re.ASCII,
    )


#: The words before a number that is no card, such as an order number.
_ORDERED = re.compile(
    r"(?:order|invoice|tracking|ticket|serial|imei|isbn|parcel|shipment)(?: (?:no\.?|nr\.?|number|id))?[ :#]{1,3}$",
    re.ASCII | re.IGNORECASE,
)
_ORDERED_REACH = 24
#: The digits of e pass every check of a card.
_CONSTANTS = frozenset({"2718281828459045"})
#: It matches from the first digit, which is rarer than a letter; a lookbehind checks the country.
_ACCOUNT = re.compile(
    r"[0-9](?<=[A-Za-z]{2}.)(?:(?<=[^\w-][A-Za-z]{2}.)|(?<=^[A-Za-z]{2}.)|(?<=\\[nrt][A-Za-z]{2}.))[0-9]"
    r"(?= ?[A-Za-z0-9]{4})",
    re.ASCII,
)
#: Two groups of digits of a card, or the beginning of an account; one is in every number that is found. It matches
#: from a digit, which is rarer than a letter.
_BEGUN = re.compile("[0-9](?:[0-9]{3}[ .-]?[0-9]{4}|(?<=[A-Za-z]{2}.)[0-9] ?[A-Za-z0-9]{4})")
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
#: Full-width digits, wide spaces and dashes, as ASCII.
_PLAIN = tuple(
    zip(
        "\uff10\uff11\uff12\uff13\uff14\uff15\uff16\uff17\uff18\uff19\u00a0\u202f\u2007\u2009\u3000\uff0d\u2010\u2011\u2012\u2013",
        "0123456789     -----",
        strict=True,
    )
)
#: For each digit, the digit sum of its double.
_DOUBLED = bytes.maketrans(b"0123456789", b"0246813579")
#: The value of each letter of an IBAN.
_VALUES = {ord(letter): str(int(letter, 36)) for letter in "ABCDEFGHIJKLMNOPQRSTUVWXYZ"}
_LENGTHS = {country: length for length, countries in _COUNTRIES.items() for country in countries.split()}
_COUNTRY_VALUES = {country: country.translate(_VALUES) for country in _LENGTHS}


def may_have_account_number(text: str) -> bool:
    """Return whether an ASCII text may have a card or an account; a year or a time alone is none."""
    return _BEGUN.search(text) is not None


def find_account_numbers(text: str) -> Iterator[Span]:
    """Yield the cards and accounts whose check digits are right."""
    if not text.isascii():
        # Twenty searches for one character each are faster than one translation of all characters.
        for wide, plain in _PLAIN:
            text = text.replace(wide, plain)
    if not DIGITS.search(text):
        return
    for found in _card().finditer(text):
        digits = _without_gaps(found["secret"])
        if _issued().fullmatch(digits) and passes_luhn(digits) and not _is_other_number(text, found, digits):
            yield (*found.span("secret"), _RANK, "credit-card")
    for found in _ACCOUNT.finditer(text):
        start = found.start() - 2
        end = _account_end(text, start)
        if end:
            yield start, end, _RANK, "iban"


def _without_gaps(card: str) -> str:
    # The first group has four digits, and all gaps are the same.
    return card if card.isdigit() else card.replace(card[4], "")


def _is_other_number(text: str, found: re.Match[str], digits: str) -> bool:
    """Return whether it passes the checks by chance: a constant, or the number of an order by the word before it."""
    before = text[max(0, found.start() - _ORDERED_REACH) : found.start()]
    return digits in _CONSTANTS or _ORDERED.search(before) is not None


def passes_luhn(digits: str) -> bool:
    """Return whether the last digit is Luhn's check digit; a row of one repeated digit is no card."""
    codes = digits.encode()
    total = sum(codes[::-2]) + sum(codes[-2::-2].translate(_DOUBLED)) - len(codes) * ord("0")
    return total % 10 == 0 and len(set(digits)) > 1


def _account_end(text: str, start: int) -> int | None:
    """Return the end of the IBAN that begins here, or None when there is none."""
    country = text[start : start + 2].upper()
    length = _LENGTHS.get(country)
    if length is None:
        return None
    # People write it in groups of four with single spaces; after a wider gap something else begins.
    account = text[start : start + length + length // 3].replace(" ", "")[:length]
    # It begins with two letters, so `isupper` or `islower` also holds if the rest are digits.
    if len(account) < length or not (account.isascii() and account.isalnum()):
        return None
    if not (account.isupper() or account.islower()) or not _passes_mod_97(country, account):
        return None
    end = start
    while length:
        length -= text[end] != " "
        end += 1
    return None if text[end : end + 1].isalnum() else end


def _passes_mod_97(country: str, account: str) -> bool:
    number = account[4:]
    if not number.isdigit():
        number = number.upper().translate(_VALUES)
    return int(f"{number}{_COUNTRY_VALUES[country]}{account[2:4]}") % 97 == 1
