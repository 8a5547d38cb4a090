"""Parses a provider's address, rejects one that is unsafe for texts, and maps HTTP statuses to ModelErrors."""

import ipaddress
from collections.abc import Mapping
from hashlib import blake2b
from urllib.parse import urlsplit

from recollectum.domain.errors import ModelError, ModelRefused, ModelTimeout, ModelUnavailable, SettingsError
from recollectum.domain.records import dataclass

_PORTS = {"https": 443, "http": 80}


@dataclass(frozen=True, slots=True)
class Endpoint:
    """One server, and the prefix of the paths on it."""

    scheme: str
    host: str
    port: int
    path: str
    #: The section of the settings that names it, for errors.
    section: str = "embedding"

    @property
    def name(self) -> str:
        """Return the server's name for errors; without the path, which may hold something private."""
        return self.host if self.port == _PORTS[self.scheme] else f"{self.host}:{self.port}"

    def provider_key(self, account: str) -> str:
        """Return a digest of the address and the account, which its variable identifies and not its secret."""
        whole = f"{self.scheme}://{self.host}:{self.port}{self.path}\0{account}"
        return blake2b(whole.encode(), digest_size=16).hexdigest()


def endpoint(url: str, *, plain_http: bool, section: str = "embedding") -> Endpoint:
    """Return the parsed address; raise if it would send texts unencrypted or holds more than an address."""
    not_an_address = f"{section}.base_url is not an address; write one such as https://host/v1"
    try:
        parts = urlsplit(url)
        port = parts.port
    except ValueError as error:
        raise SettingsError(not_an_address) from error
    if parts.scheme not in _PORTS or not parts.hostname or not url.isascii() or len(url.split()) != 1:
        raise SettingsError(not_an_address)
    if parts.username or parts.password or parts.query or parts.fragment:
        # The value is not shown: what does not belong in an address may be a secret.
        raise SettingsError(f"{section}.base_url holds more than an address; put a key into a variable instead")
    if parts.scheme == "http" and not plain_http and not _is_loopback(parts.hostname):
        raise SettingsError(
            f"{section}.base_url would send texts to {parts.hostname} without encryption; "
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


_TOO_LATE = frozenset({408, 504})
_TOO_BUSY = frozenset({425, 429})


def status_error(
    status: int, headers: Mapping[str, str], name: str, key_variable: str, section: str = "embedding"
) -> ModelError:
    """Return the error for a status; `name` is the endpoint. The server's text is never repeated."""
    if status in _TOO_LATE:
        return ModelTimeout(f"{name} did not have the answer in time ({status}); try again later")
    if status in _TOO_BUSY or status >= 500:
        wait = retry_after(headers)
        return ModelUnavailable(
            f"{name} is too busy or out of order ({status}); try again later", retry_after_seconds=wait
        )
    return ModelRefused(_refusal(status, name, key_variable, section), status=status)


def _refusal(status: int, name: str, key_variable: str, section: str) -> str:
    match status:
        case 401 | 403 if key_variable:
            return f"{name} did not accept the key ({status}); check the variable {key_variable}"
        case 401 | 403:
            return f"{name} wants a key ({status}); name its variable in {section}.key_variable"
        case 404:
            return f"{name} has no such model or path (404); check {section}.model and {section}.base_url"
        case _ if 300 <= status < 400:
            return f"{name} points to another address ({status}), which is not followed; correct {section}.base_url"
        case _ if section == "embedding":
            return f"{name} refused the request ({status}); check embedding.model and embedding.dimensions"
        case _:
            return f"{name} refused the request ({status}); check {section}.model, or shorten the prompt"


def retry_after(headers: Mapping[str, str]) -> float | None:
    """Return the seconds of the server's Retry-After header, or None."""
    said = headers.get("retry-after", "").strip()
    if said.isascii() and said.isdigit():
        return float(said[:9])
    return _until(said, headers.get("date", "")) if said else None


def _until(said: str, now: str) -> float | None:
    """Return the seconds between two dates of the server's clock, which may differ from ours."""
    from email.utils import parsedate_to_datetime  # noqa: PLC0415 - few servers write a date

    try:
        return max(0.0, (parsedate_to_datetime(said) - parsedate_to_datetime(now)).total_seconds())
    except (TypeError, ValueError):
        return None
