"""Holds the master key by a passphrase: Argon2id derives the key that wraps it."""

import base64
import binascii
import secrets
import unicodedata
from collections.abc import Mapping

from recollectum.domain.errors import InvalidInput, KeyProblem, WrongKey
from recollectum.domain.message import Json
from recollectum.domain.records import dataclass
from recollectum.home.keys.wrapping import MasterKey, unwrap

_SALT_BYTES = 16
#: A tampered record must not make us allocate all memory.
_MOST_MEMORY_KIB = 4 * 1024 * 1024
_MOST_PASSES = 64
_MOST_LANES = 64


@dataclass(frozen=True, slots=True, kw_only=True)
class Argon2Cost:
    """The cost of one guess."""

    memory_kib: int = 64 * 1024
    passes: int = 3
    lanes: int = 4

    def __post_init__(self) -> None:
        """Raise for values that our writer never writes."""
        if not (
            1 <= self.lanes <= _MOST_LANES
            and 1 <= self.passes <= _MOST_PASSES
            and 8 * self.lanes <= self.memory_kib <= _MOST_MEMORY_KIB
        ):
            raise KeyProblem("the recorded passphrase parameters are out of bounds; restore keys.db from a backup")


DEFAULT_COST = Argon2Cost()


def keep(home_id: str, master: MasterKey, passphrase: str, cost: Argon2Cost = DEFAULT_COST) -> Mapping[str, Json]:
    """Return the record from which the same passphrase recovers the key."""
    if not passphrase.strip():
        raise InvalidInput("the passphrase is empty; give one of several words")
    salt = secrets.token_bytes(_SALT_BYTES)
    wrapped = master.wrapped_by(_stretch(passphrase, salt, cost), _label(home_id, cost))
    return {
        "salt": base64.b64encode(salt).decode(),
        "memory_kib": cost.memory_kib,
        "passes": cost.passes,
        "lanes": cost.lanes,
        "wrapped": base64.b64encode(wrapped).decode(),
    }


def fetch(home_id: str, detail: Mapping[str, Json], passphrase: str | None) -> MasterKey:
    """Return the master key, from the passphrase and the record."""
    if not passphrase:
        raise KeyProblem(
            "the key of this home is held by a passphrase and none was given; "
            "set RECOLLECTUM_PASSPHRASE, or run: recollectum encryption recover"
        )
    salt, wrapped, cost = _read(detail)
    secret = unwrap(_stretch(passphrase, salt, cost), wrapped, _label(home_id, cost))
    if secret is None:
        raise WrongKey(
            "the key of this home is held by a passphrase and the one given is wrong; "
            "set RECOLLECTUM_PASSPHRASE to the right one, or run: recollectum encryption recover"
        )
    return MasterKey(secret)


def _read(detail: Mapping[str, Json]) -> tuple[bytes, bytes, Argon2Cost]:
    match detail:
        case {
            "salt": str(salt),
            "wrapped": str(wrapped),
            "memory_kib": int(memory_kib),
            "passes": int(passes),
            "lanes": int(lanes),
        }:
            cost = Argon2Cost(memory_kib=memory_kib, passes=passes, lanes=lanes)
            try:
                return base64.b64decode(salt, validate=True), base64.b64decode(wrapped, validate=True), cost
            except binascii.Error:
                pass
        case _:
            pass
    raise KeyProblem("the recorded passphrase parameters cannot be read; restore keys.db from a backup")


def _stretch(passphrase: str, salt: bytes, cost: Argon2Cost) -> bytes:
    # Importing OpenSSL costs 50 ms, and only a home with a passphrase needs it.
    from cryptography.hazmat.primitives.kdf.argon2 import Argon2id  # noqa: PLC0415

    # Normalised, because keyboards compose letters differently; an environment variable may hold any byte.
    typed = unicodedata.normalize("NFC", passphrase).encode("utf-8", "surrogatepass")
    return Argon2id(salt=salt, length=32, iterations=cost.passes, lanes=cost.lanes, memory_cost=cost.memory_kib).derive(
        typed
    )


def _label(home_id: str, cost: Argon2Cost) -> str:
    return f"passphrase v1 {home_id} {cost.memory_kib} {cost.passes} {cost.lanes}"
