"""Finds samples in bytes: samples that are known, and samples of which only a keyed outline and digest were kept."""

import hashlib
import hmac
from collections.abc import Sequence

from recollectum.domain.records import dataclass

#: An outline covers at most so many bytes of a sample.
_WIDTH = 32
_DIGEST_BYTES = 16


@dataclass(frozen=True, slots=True, kw_only=True)
class Outline:
    """What is kept of a sample when its text must not be: one keyed bit for each byte, and a keyed digest."""

    bits: str
    digest: str


class OutlineKey:
    """Makes outlines, and recognises the bytes that one was made of."""

    def __init__(self, secret: bytes) -> None:
        self._secret = secret
        drawn = hashlib.blake2b(b"outline", key=secret[:64], digest_size=32).digest()
        self._table = bytes(ord("1") if drawn[byte >> 3] >> (byte & 7) & 1 else ord("0") for byte in range(256))

    def outline(self, sample: bytes) -> Outline:
        """Return the outline of a sample, or of its beginning."""
        kept = sample[:_WIDTH]
        return Outline(bits=self.bits(kept).decode(), digest=self._digest(kept))

    def bits(self, data: bytes) -> bytes:
        """Return one bit for each byte, as digits."""
        return data.translate(self._table)

    def find(self, one: Outline, data: bytes, bits: bytes) -> bytes | None:
        """Return the bytes that an outline was made of, if they are in the data."""
        wanted = one.bits.encode()
        place = bits.find(wanted)
        while place >= 0:
            piece = data[place : place + len(wanted)]
            if hmac.compare_digest(self._digest(piece), one.digest):
                return piece
            place = bits.find(wanted, place + 1)
        return None

    def _digest(self, piece: bytes) -> str:
        return hmac.digest(self._secret, b"sample " + piece, "sha256")[:_DIGEST_BYTES].hex()


class Matcher:
    """Looks for every sample in the pieces it is given."""

    def __init__(self, needles: Sequence[bytes], outlines: Sequence[Outline], key: OutlineKey | None) -> None:
        self._needles = needles
        self._outlines = outlines
        self._key = key
        longest = max([*map(len, needles), *(len(one.bits) for one in outlines)], default=1)
        #: The bytes of a piece that must be seen again with the next one.
        self.overlap = longest - 1
        #: The bytes that outlines were made of, by place.
        self.revealed: dict[int, bytes] = {}

    def find(self, piece: bytes, known: set[int]) -> None:
        """Add the place of each sample in the piece to the known ones; outlines follow the needles."""
        if not piece.strip(b"\0"):
            # The reserve of the home holds no data.
            return
        known.update(place for place, needle in enumerate(self._needles) if place not in known and needle in piece)
        if self._key is None or not self._outlines:
            return
        bits = self._key.bits(piece)
        for place, one in enumerate(self._outlines, start=len(self._needles)):
            if place in known:
                continue
            found = self._key.find(one, piece, bits)
            if found is not None:
                known.add(place)
                self.revealed[place] = found
