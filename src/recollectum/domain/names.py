"""Names of people, agents and tenants: what is refused, and which two look alike."""

import unicodedata

from recollectum.domain.errors import InvalidInput

MAX_LENGTH = 128
_SEPARATORS = frozenset("/\\:")
_SCRIPTS = ("LATIN", "CYRILLIC", "GREEK")

# Letters of other alphabets that a reader takes for a Latin one; a capital may look like another letter than its small.
_LOOKALIKES = str.maketrans(
    "абвгдеһіјкԛѕмнорстухԝѵԁ" + "αβγεηικνορτυχωϲϳ" + "ıɑɡʀʏᴀᴄᴇᴏᴜᴠᴡᴢ" + "АВЕКМНОРСТУХІЈЅԚԜѴ" + "ΑΒΕΖΗΙΚΜΝΟΡΤΥΧϹ",
    "a6brdehijkqsmhopctyxwvd" + "abyenikvoptuxwcj" + "iagryaceouvwz" + "ABEKMHOPCTYXIJSQWV" + "ABEZHIKMNOPTYXC",
)


def check_name(name: str, what: str) -> str:
    """The name in its one spelling, or a sentence about why it cannot be one."""
    if not name:
        raise InvalidInput(f"{what} name is empty; give it at least one letter or digit")
    if len(name) > 2 * MAX_LENGTH:
        raise InvalidInput(f"{what} name of {len(name)} characters is too long; use at most {MAX_LENGTH}")
    for char in name:
        _check_character(char, name, what)
    spelled = unicodedata.normalize("NFC", name)
    # Measured in the form that is kept, which can be longer or shorter.
    if len(spelled) > MAX_LENGTH:
        raise InvalidInput(f"{what} name of {len(spelled)} characters is too long; use at most {MAX_LENGTH}")
    if spelled.startswith(".") or spelled.endswith("."):
        raise InvalidInput(f"{what} name {spelled!r} begins or ends with a dot; leave it out")
    if len(_scripts(spelled)) > 1:
        raise InvalidInput(f"{what} name {spelled!r} mixes alphabets that look alike; spell it in one")
    return spelled


def _check_character(char: str, name: str, what: str) -> None:
    category = unicodedata.category(char)
    if char in _SEPARATORS or category[0] in "CZ":
        raise InvalidInput(f"{what} name {name!r} holds {char!r}; use no spaces, control characters, colons or slashes")


def _scripts(name: str) -> set[str]:
    named = (unicodedata.name(char, "") for char in name if char.isalpha())
    return {script for full in named for script in _SCRIPTS if full.startswith(script)}


def skeleton(name: str) -> str:
    """What the name looks like: two names with one skeleton would be taken for each other."""
    # Before anything is folded, which would turn some of them into letters that look otherwise.
    seen = unicodedata.normalize("NFKC", name.translate(_LOOKALIKES)).casefold()
    return unicodedata.normalize("NFKC", seen.translate(_LOOKALIKES))
