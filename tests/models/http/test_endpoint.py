"""Addresses: what is accepted, what is refused and why, and what becomes of them in a key."""

import pytest

from recollectum.domain.errors import SettingsError
from recollectum.models.http.endpoint import Endpoint, endpoint


@pytest.mark.parametrize(
    ("url", "expected"),
    [
        ("https://api.example.org/v1", Endpoint("https", "api.example.org", 443, "/v1")),
        ("https://api.example.org/v1/", Endpoint("https", "api.example.org", 443, "/v1")),
        ("https://api.example.org:8443", Endpoint("https", "api.example.org", 8443, "")),
        ("http://localhost:11434", Endpoint("http", "localhost", 11434, "")),
        ("http://127.0.0.1", Endpoint("http", "127.0.0.1", 80, "")),
        ("http://127.8.9.10:1", Endpoint("http", "127.8.9.10", 1, "")),
        ("http://[::1]:8080/v1", Endpoint("http", "::1", 8080, "/v1")),
    ],
)
def test_an_address_is_taken_apart(url: str, expected: Endpoint) -> None:
    assert endpoint(url, plain_http=False) == expected


@pytest.mark.parametrize(
    "url",
    [
        "http://api.example.org",
        "http://192.168.1.10:11434",
        "http://localhost.example.org",
        "http://127.0.0.1.example.org",
        "http://0.0.0.0",
    ],
)
def test_texts_leave_the_machine_in_the_open_only_when_that_was_allowed(url: str) -> None:
    with pytest.raises(SettingsError, match=r"without encryption; use https, or set embedding\.plain_http to anywhere"):
        endpoint(url, plain_http=False)
    assert endpoint(url, plain_http=True).scheme == "http"


@pytest.mark.parametrize(
    "url",
    [
        "",
        "api.example.org",
        "ftp://host",
        "file:///etc/passwd",
        "https://",
        "https://h:x",
        "https://ü.org",
        "https://a b",
    ],
)
def test_what_is_not_an_address_is_refused(url: str) -> None:
    with pytest.raises(SettingsError, match="is not an address"):
        endpoint(url, plain_http=True)


@pytest.mark.feature("A17")
@pytest.mark.parametrize(
    "url", ["https://u:s3cret@host/v1", "https://s3cret@host", "https://host?key=s3cret", "https://host/#s3cret"]
)
def test_a_secret_in_an_address_is_refused_and_not_shown(url: str) -> None:
    with pytest.raises(SettingsError, match="holds more than an address") as raised:
        endpoint(url, plain_http=True)
    assert "s3cret" not in str(raised.value)


def test_the_key_tells_addresses_and_accounts_apart() -> None:
    urls = ["https://a.org/v1", "https://a.org/v2", "https://b.org/v1", "https://a.org:1/v1"]
    keys = {endpoint(url, plain_http=False).provider_key(account) for url in urls for account in ("", "ONE", "TWO")}
    assert len(keys) == len(urls) * 3
    assert endpoint(urls[0], plain_http=False).provider_key("ONE") in keys
