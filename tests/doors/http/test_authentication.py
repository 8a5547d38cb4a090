"""A credential is looked up in the catalog by a worker thread, never by the event loop that serves everybody."""

import asyncio

import pytest

from recollectum import Recollectum
from tests.doors.http.served import Served

pytestmark = pytest.mark.loopback


@pytest.mark.parametrize(("method", "path"), [("GET", "/metrics"), ("POST", "/mcp")])
def test_no_event_loop_reads_the_catalog(
    served: Served, method: str, path: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    login = Recollectum.login
    on_the_loop: list[bool] = []

    def watched(self: Recollectum, api_key: str, *, cache: bool = False) -> Recollectum:
        try:
            asyncio.get_running_loop()
        except RuntimeError:
            on_the_loop.append(False)
        else:
            on_the_loop.append(True)
        return login(self, api_key, cache=cache)

    monkeypatch.setattr(Recollectum, "login", watched)
    served.ask(method, path, {} if method == "POST" else None)
    assert on_the_loop == [False]
