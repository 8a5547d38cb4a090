"""A connection to `localhost` is one to this machine, or none."""

import socket

import pytest

from recollectum.domain.errors import ModelRefused
from recollectum.models.http.client import connect
from recollectum.models.http.endpoint import endpoint
from recollectum.models.http.loopback import LoopbackConnection


def _means(monkeypatch: pytest.MonkeyPatch, *addresses: str) -> list[tuple[str, int]]:
    """Let `localhost` mean these addresses; the places that are connected to."""
    tried: list[tuple[str, int]] = []

    def opened(place: tuple[str, int], _timeout: object) -> socket.socket:
        tried.append(place)
        raise ConnectionRefusedError

    found = [(socket.AF_INET, socket.SOCK_STREAM, 6, "", (address, 9)) for address in addresses]
    monkeypatch.setattr(socket, "getaddrinfo", lambda *_, **__: found)  # pyright: ignore[reportUnknownLambdaType, reportUnknownArgumentType]
    monkeypatch.setattr(socket, "create_connection", opened)
    return tried


def test_localhost_is_connected_to_by_the_address_that_was_found_good(monkeypatch: pytest.MonkeyPatch) -> None:
    tried = _means(monkeypatch, "::1", "127.0.0.1")
    connection = connect(endpoint("http://localhost:9/v1", plain_http=False), 1.0)
    assert isinstance(connection, LoopbackConnection)
    with pytest.raises(ConnectionRefusedError):
        connection.connect()
    assert tried == [("::1", 9), ("127.0.0.1", 9)]


@pytest.mark.parametrize("addresses", [("10.0.0.1",), ("127.0.0.1", "10.0.0.1"), ("0.0.0.0",), ("fd00::1",), ()])
def test_localhost_that_leads_elsewhere_is_refused_before_anything_is_opened(
    monkeypatch: pytest.MonkeyPatch, addresses: tuple[str, ...]
) -> None:
    tried = _means(monkeypatch, *addresses)
    with pytest.raises(ModelRefused, match="another machine"):
        connect(endpoint("http://localhost:9/v1", plain_http=True), 1.0).connect()
    assert tried == []
