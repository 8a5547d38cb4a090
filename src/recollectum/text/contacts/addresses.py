"""Recognises phone numbers, e-mail addresses and handles in a text, and normalises each."""

import re

from recollectum.domain.contact import Address, AddressKind

#: The number of digits of a phone number; fewer are a count, more are an account number.
_FEWEST_DIGITS, _MOST_DIGITS = 7, 15

EMAIL = r"[A-Za-z0-9][\w.+-]*@[A-Za-z0-9][\w-]*(?:\.[\w-]+)*\.[A-Za-z]{2,}(?![\w@])"
HANDLE = r"@[A-Za-z_]\w*(?:\.\w+)*(?![\w@])"
# The gap between two digits matches in one way only; otherwise a long row of digits would take exponential time.
_GAP = r"(?:[ \u00a0]?[().\-/\u2011]{1,2}[ \u00a0]?|[ \u00a0])?"
PHONE = rf"(?:\+|\()?\d(?:{_GAP}\d){{5,24}}(?!\w)(?!\s*(?:ext|x\d|#))"
#: One address, anywhere in a text.
ADDRESS = rf"(?:{EMAIL}|(?<![\w.@]){HANDLE}|(?<![\w.@+-]){PHONE})"

_DATE = re.compile(r"\d{4}[-./]\d{1,2}[-./]\d{1,2}|\d{1,2}[-./]\d{1,2}[-./](?:\d{2}|\d{4})(?: .*)?")
_IP = re.compile(r"\d{1,3}(?:\.\d{1,3}){3}")
_NOT_A_DIGIT = re.compile(r"\D")
_LABELS = {
    "work": "work",
    "office": "work",
    "business": "work",
    "home": "home",
    "landline": "home",
}
#: The services on which a handle or a number is used.
PLATFORMS = (
    *("whatsapp", "telegram", "signal", "instagram", "twitter", "mastodon", "bluesky", "discord", "slack"),
    *("matrix", "threema", "skype", "facebook", "linkedin", "github", "tiktok", "snapchat", "wechat", "x"),
)


def to_address(written: str, words: str, *, called_number: bool) -> Address | None:
    """Return the address that a text contains, or None; `words` are the words it is labelled with.

    A bare row of digits may be anything: it is a phone number only if it is labelled as one.
    """
    label = _label(words)
    if written.startswith("@"):
        return Address(kind=AddressKind.HANDLE, value=written.casefold(), written=written, label=label)
    if "@" in written:
        return Address(kind=AddressKind.EMAIL, value=written.casefold(), written=written, label=label)
    value = _phone(written, called_number=called_number)
    return Address(kind=AddressKind.PHONE, value=value, written=written, label=label) if value else None


def _phone(written: str, *, called_number: bool) -> str | None:
    if _DATE.fullmatch(written) or _IP.fullmatch(written):
        return None
    international = written.startswith(("+", "00"))
    if not (international or called_number or written.startswith("0")):
        return None
    # The zero in brackets is dialled only within the country.
    bare = written.replace("(0)", "") if international else written
    digits = _NOT_A_DIGIT.sub("", bare)
    digits = digits.removeprefix("00") if written.startswith("00") else digits
    if not _FEWEST_DIGITS <= len(digits) <= _MOST_DIGITS:
        return None
    return f"+{digits}" if international else digits


def _label(words: str) -> str:
    said = words.casefold().split()
    for word in said:
        if word in PLATFORMS:
            return word
    return next((_LABELS[word] for word in said if word in _LABELS), "")
