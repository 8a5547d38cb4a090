"""A request that writes is answered by what the write returned: a rule about reading does not make it look refused."""

from collections.abc import Iterator

import pytest

from recollectum.policy.actions import Action
from tests.laws.door_paths import ROUTES
from tests.matrix.homes import Turning, open_home, quick_folder
from tests.matrix.over_http_routes import asks
from tests.matrix.over_http_server import Server, serving
from tests.matrix.over_http_world import furnish
from tests.matrix.world import NOW

pytestmark = [pytest.mark.feature("M10"), pytest.mark.loopback, pytest.mark.slow]
_READS = tuple(one for one in Action if one.value.endswith((".read", ".search")))
#: They read first, to find the conversation or to compare versions, and are refused before they write.
_READ_FIRST = {
    "POST /v1/sessions",
    "POST /v1/sessions/{session_id}/messages",
    "PATCH /v1/sessions/{session_id}",
    "PATCH /memory/{memory_id} If-Match",
    "PATCH /v1/memories/{memory_id} If-Match",
    # As mem0 has it: an id names a memory that is there, and a scope those that it takes.
    *("PUT /v1/memories/{memory_id}/", "DELETE /v1/memories/{memory_id}/", "DELETE /v1/memories/"),
    *("PUT /v1/batch/", "DELETE /v1/batch/", "DELETE /v2/entities/{kind}/{name}/"),
}
#: The first step of a purge shows what would go, there is no command of that project, and the only account is in use.
_CHANGE_NOTHING = {"POST /v1/purges", "DELETE /memory/user/purge", "DELETE /v1/history", "PUT /v1/accounts/active"}
#: They say what is to be, so a second request changes nothing but the version of a task.
_REPEATABLE = {
    "PUT /v1/state",
    "POST /v1/accounts",
    "PUT /v1/accounts/active",
    "POST /v1/imports",
    "PUT /v1/tasks/one",
}
#: What they are about is not there: the proposal is decided, the key has another id, and no such command is kept.
_SPENT = {
    "POST /v1/review/{proposal_id}/rejection": 409,
    "DELETE /v1/keys/{key_id}": 404,
    "DELETE /v1/history/{command_id}": 404,
    "DELETE /v1/state": 404,
    "DELETE /v1/accounts": 404,
}


@pytest.fixture
def server() -> Iterator[Server]:
    """A server with a key of alice's that may do everything but read."""
    with quick_folder() as folder:
        furnish(folder)
        with open_home(folder, Turning(NOW)) as home:
            key, secret = home.keys.add("user:alice", permissions=("read", "write", "admin"))
        rule = '[[rule]]\ntool = "{}"\nclients = "key:{}"\ndecision = "deny"\nwhy = "no reading"\n'
        (folder / "home/policies").mkdir(exist_ok=True)
        (folder / "home/policies/law.toml").write_text("\n".join(rule.format(one, key.id) for one in _READS))
        with serving(folder) as running:
            running.scene.secrets["alice blind"] = secret
            yield running


def test_a_write_is_done_once_and_answered_or_refused_before_it_begins(server: Server) -> None:
    refused: set[str] = set()
    for number, one in enumerate(asks(server.scene.held("user:alice"), server.scene.things["user:alice"])):
        if one.method == "GET" or not set(ROUTES[one.route]).difference(_READS):
            continue
        headers = {**one.headers, "Idempotency-Key": f"once-{number}"}
        before = _state(server)
        answer = server.ask("alice blind", one.method, one.path, one.body, headers)
        after = _state(server)
        if answer.status < 300:
            assert (after != before) is (one.route not in _CHANGE_NOTHING), str(one)
        else:
            assert after == before, (str(one), answer.text)
        if answer.status == 403:
            refused.add(" ".join((one.route, *one.headers)))
        else:
            assert answer.status < 300 or answer.status == _SPENT[one.route], (str(one), answer.text)
        if answer.status < 300 and _is_done_once(one.route):
            again = server.ask("alice blind", one.method, one.path, one.body, headers)
            assert again.status == 403, (str(one), again.text)
            assert "with this Idempotency-Key was done" in again.text
            assert _state(server) == after, str(one)
    assert refused == _READ_FIRST


def _is_done_once(route: str) -> bool:
    """Whether a route heeds an Idempotency-Key; those of mem0, which end with a slash, do not."""
    return (
        not route.endswith("/")
        and route.startswith(("POST ", "PUT "))
        and "/keys" not in route
        and route not in _CHANGE_NOTHING | _REPEATABLE
    )


def _state(server: Server) -> str:
    vault = server.home.vault("user:alice")
    kept = [vault.memories.list(state=state, limit=1000) for state in ("active", "archived", "soft_deleted")]
    said = [vault.sessions.chat(one.id).messages(limit=1000) for one in vault.sessions.list(limit=1000)]
    state = [vault.state.history.list(), vault.state.interfaces.list(), vault.state.accounts.list()]
    told = (vault.admin.events.list(limit=1000), vault.tasks.list())
    return repr((state, kept, said, told, vault.sessions.list(limit=1000), vault.admin.review.list(), _keys(server)))


def _keys(server: Server) -> object:
    return server.home.keys.list()
