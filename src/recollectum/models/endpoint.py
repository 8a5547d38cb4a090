"""Where a provider answers: an address taken apart and found safe to send texts to."""

import ipaddress
from dataclasses import dataclass
from hashlib import blake2b
from urllib.parse import urlsplit

from recollectum.domain.errors import SettingsError

_PORTS = {"https": 443, "http": 80}


@dataclass(frozen=True, slots=True)
class Endpoint:
    """One server, and the beginning of the paths on it."""

    scheme: str
    host: str
    port: int
    path: str
    #: The section of the settings that names it, for an error.
    section: str = "embedding"

    @property
    def name(self) -> str:
        """The server as an error names it; a path may hold what nobody else should read."""
        return self.host if self.port == _PORTS[self.scheme] else f"{self.host}:{self.port}"

    def provider_key(self, account: str) -> str:
        """A digest of the address and the account, which is named by its variable and not by its secret."""
        whole = f"{self.scheme}://{self.host}:{self.port}{self.path}\0{account}"
        return blake2b(whole.encode(), digest_size=16).hexdigest()


def endpoint(url: str, *, plain_http: bool, section: str = "embedding") -> Endpoint:
    """The address, refused where it would carry texts in the open or holds more than an address."""
    not_an_address = f"{section}.base_url is not an address; write one such as https://host/v1"
    try:
        parts = urlsplit(url)
        port = parts.port
    except ValueError as error:
        raise SettingsError(not_an_address) from error
    if parts.scheme not in _PORTS or not parts.hostname or not url.isascii() or len(url.split()) != 1:
        raise SettingsError(not_an_address)
    if parts.username or parts.password or parts.query or parts.fragment:
        # It is not shown: what does not belong into an address may well be a secret.
        raise SettingsError(f"{section}.base_url holds more than an address; put a key into a variable instead")
    if parts.scheme == "http" and not plain_http and not _is_loopback(parts.hostname):
        raise SettingsError(
            f"{section}.base_url would send texts to {parts.hostname} in the open; "
            f"use https, or set {section}.plain_http to anywhere"
        )
    return Endpoint(parts.scheme, parts.hostname, port or _PORTS[parts.scheme], parts.path.rstrip("/"), section)


def _is_loopback(host: str) -> bool:
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False
