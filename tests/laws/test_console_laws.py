"""One rule that denies an action refuses every page and every form of the console that takes it."""

from collections.abc import Iterator
from pathlib import Path
from urllib.parse import urlencode

import pytest

from recollectum.policy.actions import Action
from recollectum.vault.purge.request import PurgeRequest
from tests.laws.console_paths import WITHOUT_ACTIONS, ConsolePath, console_paths
from tests.matrix.homes import Turning, open_home, quick_folder
from tests.matrix.over_console_checks import FORM, csrf_of, sign_in
from tests.matrix.over_http_checks import CONSOLE
from tests.matrix.over_http_server import Answer, Server, routes, serving
from tests.matrix.over_http_world import furnish
from tests.matrix.world import NOW

pytestmark = [pytest.mark.feature("C9"), pytest.mark.loopback, pytest.mark.slow]
#: The operator of the server keeps every right, so that the test can look.
_RULE = '[[rule]]\ntool = "{action}"\nclients = "person:*"\ndecision = "deny"\nwhy = "the law"\n'


@pytest.fixture(scope="module")
def furnished() -> Iterator[Path]:
    with quick_folder() as folder:
        furnish(folder)
        with open_home(folder, Turning(NOW)) as home:
            home.vault("user:alice").projects.add(str(folder), name="boat")
        (folder / "home/policies").mkdir(exist_ok=True)
        yield folder


def _paths(server: Server) -> list[ConsolePath]:
    things = server.scene.things["user:alice"]
    vault = server.home.vault("user:alice")
    cited = next(one.id for one in vault.memories.list(limit=1000) if vault.memories.citations(one.id))
    preview = vault.privacy.purge.preview(PurgeRequest.memories(things.learning))
    return console_paths(server.scene.held("user:alice"), things, cited, preview.token)


def _asked(server: Server, one: ConsolePath, cookie: dict[str, str]) -> Answer:
    method = one.route.partition(" ")[0]
    if one.fields is None:
        return server.send(method, one.path, None, cookie)
    fields = {"csrf": csrf_of(server, cookie), **one.fields}
    return server.send(method, one.path, urlencode(fields).encode(), {**FORM, **cookie})


def test_every_route_of_the_console_says_what_it_does(furnished: Path) -> None:
    with serving(furnished) as server:
        found = {route for route, module in routes(server.app) if module.startswith(CONSOLE)}
        listed = {one.route for one in _paths(server)}
    assert found == listed | WITHOUT_ACTIONS
    assert not listed & WITHOUT_ACTIONS


@pytest.mark.parametrize("action", Action)
def test_one_rule_refuses_every_page_and_form_to_an_action(furnished: Path, action: Action) -> None:
    (furnished / "home/policies/law.toml").write_text(_RULE.format(action=action), encoding="utf-8")
    with serving(furnished) as server:
        cookie = sign_in(server, "alice")
        before = _state(server)
        for one in _paths(server):
            takes = action in one.actions
            if not takes and one.is_form:
                continue
            answer = _asked(server, one, cookie)
            assert answer.status == (403 if takes else 200), (str(one), answer.text)
            assert (f"{action} is denied by law.toml" in answer.text) is takes, (str(one), answer.text)
        assert _state(server) == before


def test_what_no_rule_denies_passes(furnished: Path) -> None:
    """Without this the law would be kept by a console that refuses everybody; last, for it changes things."""
    (furnished / "home/policies/law.toml").unlink(missing_ok=True)
    with serving(furnished) as server:
        cookie = sign_in(server, "alice")
        for one in _paths(server):
            answer = _asked(server, one, cookie)
            assert "is denied" not in answer.text, (str(one), answer.text)
            assert answer.status < 500, (str(one), answer.text)


def _state(server: Server) -> str:
    vault = server.home.vault("user:alice")
    kept = [vault.memories.list(state=state, limit=1000) for state in ("active", "archived", "soft_deleted")]
    said = [vault.sessions.chat(one.id).messages(limit=1000) for one in vault.sessions.list(limit=1000)]
    waiting = vault.admin.review.list(limit=100)
    return repr((kept, said, waiting, vault.privacy.purge.list_receipts(), vault.admin.events.list(limit=1000)))
