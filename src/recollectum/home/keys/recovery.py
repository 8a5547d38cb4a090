"""Makes and reads the recovery code: 160 random bits with one check character."""

import secrets

from recollectum.domain.errors import InvalidInput, WrongKey
from recollectum.home.keys.wrapping import MasterKey, derive, unwrap

_ALPHABET = "0123456789ABCDEFGHJKMNPQRSTVWXYZ"
_BITS = 160
_LENGTH = _BITS // 5
_GROUP = 4
#: Crockford's check is the number modulo this prime; it detects every single typo and every swap.
_CHECK_PRIME = 37
_FORGIVEN = str.maketrans("OIL", "011", " -\t\r\n\u2010\u2011\u2013")


def new_code() -> str:
    """Return a code such as `7ZK4-…-9QWD-F`, to be shown once and kept on paper."""
    while True:
        number = secrets.randbits(_BITS)
        check = number % _CHECK_PRIME
        # Crockford's five further check symbols (* ~ $ = U) are avoided: shells and handwriting mangle them.
        if check < len(_ALPHABET):
            break
    body = "".join(_ALPHABET[(number >> shift) & 31] for shift in range(_BITS - 5, -5, -5))
    groups = [body[start : start + _GROUP] for start in range(0, _LENGTH, _GROUP)]
    return "-".join([*groups, _ALPHABET[check]])


def wrap_master(code: str, master: MasterKey, home_id: str) -> bytes:
    """Return the master key, wrapped so that only this code opens it."""
    return master.wrapped_by(_key(code), _label(home_id))


def unwrap_master(code: str, wrapped: bytes, home_id: str) -> MasterKey:
    """Return the master key; the error tells a typo from the code of another home."""
    secret = unwrap(_key(code), wrapped, _label(home_id))
    if secret is None:
        raise WrongKey("the recovery code is well formed but not the one of this home; use the newest code made for it")
    return MasterKey(secret)


def read_code(code: str) -> bytes:
    """Return the 160 bits of a code, in any case and grouping."""
    typed = code.upper().translate(_FORGIVEN)
    if len(typed) != _LENGTH + 1:
        raise InvalidInput(
            f"a recovery code has {_LENGTH + 1} letters and digits, not {len(typed)}; compare it with your note"
        )
    for place, char in enumerate(typed, start=1):
        if char not in _ALPHABET:
            raise InvalidInput(
                f"the recovery code has a mistake at character {place}: only digits and letters other than U are used"
            )
    number = 0
    for char in typed[:-1]:
        number = number << 5 | _ALPHABET.index(char)
    if number % _CHECK_PRIME != _ALPHABET.index(typed[-1]):
        raise InvalidInput(
            "the recovery code has a typing mistake: its check character does not match; compare each group"
        )
    return number.to_bytes(_BITS // 8, "big")


def _key(code: str) -> bytes:
    # 160 random bits cannot be guessed, so no memory-hard function is needed.
    return derive(read_code(code), "recovery code")


def _label(home_id: str) -> str:
    return f"recovery v1 {home_id}"
