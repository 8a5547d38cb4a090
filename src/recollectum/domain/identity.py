"""Identity: a channel address, `telegram:42`, that belongs to one person."""

import re
from dataclasses import dataclass

from recollectum.domain.errors import InvalidInput
from recollectum.domain.names import check_name

_WHATSAPP_SUFFIXES = ("@s.whatsapp.net", "@c.us")
_PHONE_NOISE = re.compile(r"[\s().-]")


@dataclass(frozen=True, slots=True)
class Identity:
    """One address on one channel, in the one spelling under which it is looked up."""

    channel: str
    address: str

    @classmethod
    def parse(cls, text: str) -> "Identity":
        """Read `channel:address`; a phone number loses its punctuation."""
        channel, colon, address = text.partition(":")
        if not colon or not address.strip():
            raise InvalidInput(f"{text!r} is not an identity; write CHANNEL:ADDRESS, such as telegram:42")
        channel = check_name(channel, "channel").casefold()
        spelled = _phone(address) if channel in ("whatsapp", "sms", "signal") else address.strip()
        if any(ord(char) < 32 or 0xD800 <= ord(char) <= 0xDFFF for char in spelled):
            raise InvalidInput(f"identity on channel {channel!r} holds a control character; leave it out")
        return cls(channel, spelled)

    def __str__(self) -> str:
        """The form in which the catalog keeps it."""
        return f"{self.channel}:{self.address}"


def _phone(address: str) -> str:
    """`0044 (7700) 900-000@s.whatsapp.net` and `+447700900000` are one number."""
    for suffix in _WHATSAPP_SUFFIXES:
        address = address.removesuffix(suffix)
    bare = _PHONE_NOISE.sub("", address.strip())
    bare = "+" + bare[2:] if bare.startswith("00") else bare
    return "+" + bare if bare.isdecimal() else bare
