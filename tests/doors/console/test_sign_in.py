"""Signing in by a link, forms that only our own pages can send, sessions that end, and headers on everything."""

from datetime import timedelta

import httpx2
import pytest

from recollectum.doors.console.sign_in_desk import IDLE, LINK_LIFETIME
from tests.doors.console.servers import TOKEN, Place

pytestmark = pytest.mark.loopback

PAGES = (
    "/",
    "/?q=x&part=hits",
    "/console/memories",
    "/console/memories/mem_x",
    "/console/conversations",
    "/console/conversations/ses_x",
    "/console/projects",
    "/console/projects/x",
    "/console/review",
    "/console/timeline",
    "/console/context",
    "/console/state",
    "/console/privacy",
    "/console/privacy/export",
    "/console/privacy/receipts/prg_x",
    "/console/extensions",
    "/console/tasks",
    "/console/health",
)
ACTIONS = (
    "/console/logout",
    "/console/theme",
    "/console/vault",
    "/console/memories",
    "/console/memories/mem_x/edit",
    "/console/memories/mem_x/archive",
    "/console/memories/mem_x/forget",
    "/console/memories/mem_x/restore",
    "/console/review/grow",
    "/console/review/prp_x/approve",
    "/console/review/prp_x/reject",
    "/console/timeline/undo",
    "/console/privacy/preview",
    "/console/privacy/erase",
)


def _csrf(page: httpx2.Response) -> str:
    return page.text.split('name="csrf" value="')[1].split('"')[0]


def _ask(place: Place, body: object, token: str = TOKEN) -> httpx2.Response:
    with place.client() as client:
        return client.post("/login/links", json=body, headers={"authorization": f"Bearer {token}"})


def test_a_link_is_made_for_who_has_the_daemons_token_and_nobody_else(place: Place) -> None:
    made = _ask(place, {"user": "ada"})
    assert made.status_code == 201
    assert made.json()["expires_in"] == LINK_LIFETIME.total_seconds()
    for wrong in ("x", "x" * 43, TOKEN + "x"):
        refused = _ask(place, {"user": "ada"}, wrong)
        assert refused.status_code == 401
        assert "path" not in refused.text
    with place.client() as client:
        assert client.post("/login/links", json={"user": "ada"}).status_code == 401


def test_a_link_is_for_a_person_who_is_there(place: Place) -> None:
    bodies: list[tuple[object, int]] = [({"user": "eve"}, 404), ({"user": ""}, 400), ({}, 400), ([], 400)]
    bodies += [({"user": 1}, 400), ({"user": "agent:coder"}, 400)]
    for body, status in bodies:
        assert _ask(place, body).status_code == status, body


def test_looking_at_a_link_does_not_use_it_up_and_entering_does(place: Place) -> None:
    path = _ask(place, {"user": "ada"}).json()["path"]
    with place.client() as client, place.client() as late:
        assert client.get(path).status_code == client.get(path).status_code == 200
        assert client.get("/").status_code == 401
        secret = path.partition("link=")[2]
        entered = client.post("/login", data={"link": secret})
        assert (entered.status_code, entered.headers["location"]) == (303, "/")
        cookie = entered.headers["set-cookie"].lower()
        assert "httponly" in cookie
        assert "samesite=strict" in cookie
        assert "secure" not in cookie
        assert client.get("/").status_code == 200
        assert late.post("/login", data={"link": secret}).status_code == 403
        assert late.get("/").status_code == 401


def test_a_link_that_waited_too_long_signs_nobody_in(place: Place) -> None:
    link = place.link("user:ada").partition("link=")[2]
    place.clock.turn(LINK_LIFETIME + timedelta(seconds=1))
    with place.client() as client:
        assert client.post("/login", data={"link": link}).status_code == 403
        assert client.get("/").status_code == 401


def test_no_page_is_shown_to_nobody(place: Place) -> None:
    with place.client() as client:
        for path in PAGES:
            client.cookies.clear()
            shown = client.get(path)
            assert shown.status_code == 401, path
            assert "recollectum console" in shown.text
            client.cookies.set("recollectum_session", "x" * 43)
            assert client.get(path).status_code == 401, path


def test_no_action_is_taken_without_the_token_of_the_session(place: Place) -> None:
    with place.client() as nobody, place.client("user:ada") as client, place.client("user:ada") as other:
        theirs = _csrf(other.get("/"))
        for path in ACTIONS:
            assert nobody.post(path, data={"csrf": theirs}).status_code == 401, path
            for wrong in ({"csrf": ""}, {"csrf": "x" * 43}, {"csrf": theirs}, {"other": "x"}):
                refused = client.post(path, data=wrong)
                assert refused.status_code == 403, (path, refused.text)
                assert "not from a page of your session" in refused.text
        assert client.get("/").status_code == 200


def test_a_form_without_its_token_changes_nothing(place: Place) -> None:
    vault = place.home.vault("user:ada")
    memory = vault.memories.save("kept").memory
    with place.client("user:ada") as client:
        client.post(f"/console/memories/{memory.id}/forget", data={"csrf": "guess"})
        assert vault.memories.get(memory.id) == memory
        token = _csrf(client.get("/"))
        assert client.post(f"/console/memories/{memory.id}/forget", data={"csrf": token}).status_code == 303
    assert [one.id for one in vault.privacy.trash.list()] == [memory.id]


def test_another_site_and_another_kind_of_body_are_refused(place: Place) -> None:
    with place.client("user:ada") as client:
        token = _csrf(client.get("/"))
        for origin in ("https://evil.example", "null"):
            refused = client.post("/console/theme", data={"csrf": token}, headers={"origin": origin})
            assert refused.status_code == 403
        assert client.post("/console/theme", json={"csrf": token}).status_code == 400
        assert (
            client.post("/console/theme", content=b"csrf=x", headers={"content-type": "text/plain"}).status_code == 415
        )
        assert client.get("/", headers={"host": "evil.example"}).status_code == 421


def test_who_signs_out_is_out(place: Place) -> None:
    with place.client("user:ada") as client:
        cookie = client.cookies["recollectum_session"]
        left = client.post("/console/logout", data={"csrf": _csrf(client.get("/"))})
        assert left.headers["location"] == "/login"
        client.cookies.set("recollectum_session", cookie)
        assert client.get("/").status_code == 401


def test_a_session_that_rests_ends(place: Place) -> None:
    with place.client("user:ada") as client:
        place.clock.turn(IDLE)
        assert client.get("/").status_code == 200
        place.clock.turn(IDLE + timedelta(seconds=1))
        assert client.get("/").status_code == 401


def test_every_answer_has_the_strict_headers_and_no_page_has_anything_inline(filled: Place) -> None:
    with filled.client("user:ada") as client:
        for path in (*PAGES, "/static/console.css", "/static/console.js", "/static/mark.svg", "/static/nothing"):
            answer = client.get(path)
            policy = answer.headers["content-security-policy"]
            assert policy == (
                "default-src 'none'; style-src 'self'; script-src 'self'; img-src 'self'; form-action 'self'; "
                "connect-src 'self'; frame-ancestors 'none'; base-uri 'none'"
            )
            assert answer.headers["x-content-type-options"] == "nosniff"
            assert answer.headers["cache-control"] == "no-store"
            if answer.headers["content-type"].startswith("text/html"):
                assert " style=" not in answer.text
                assert " onclick=" not in answer.text
                assert "<script>" not in answer.text


def test_a_theme_is_remembered(place: Place) -> None:
    with place.client("user:ada") as client:
        for theme in ("light", "dark", "auto"):
            _check_theme(client, theme)


def _check_theme(client: httpx2.Client, theme: str) -> None:
    fields = {"csrf": _csrf(client.get("/")), "theme": theme, "back": "/console/health"}
    answer = client.post("/console/theme", data=fields)
    assert (answer.status_code, answer.headers["location"]) == (303, "/console/health")
    html = client.get("/").text
    assert (f'data-theme="{theme}"' in html) == (theme != "auto")
    away = client.post("/console/theme", data={**fields, "back": "//evil.example/x"})
    assert away.headers["location"] == "/"


def _enter(client: httpx2.Client, secret: str, **headers: str) -> httpx2.Response:
    return client.post("/login", data={"key": secret}, headers=headers)


def test_a_key_opens_a_session_with_its_own_rights_until_it_is_revoked(place: Place) -> None:
    key, secret = place.home.keys.add("user:ada")
    with place.client() as client:
        assert 'name="key"' in client.get("/").text
        entered = _enter(client, f" {secret} ")
        assert (entered.status_code, entered.headers["location"]) == (303, "/")
        cookie = entered.headers["set-cookie"]
        assert "HttpOnly" in cookie
        assert "SameSite=strict" in cookie
        assert secret not in cookie
        page = client.get("/console/memories")
        assert page.status_code == 200
        assert secret not in page.text
        made = client.post("/console/memories", data={"csrf": _csrf(page), "content": "I drink tea", "kind": "fact"})
        assert made.status_code == 303
        assert client.post("/console/memories", data={"content": "forged", "kind": "fact"}).status_code == 403
        place.home.keys.revoke(key.id)
        ended = client.get("/console/memories")
        assert ended.status_code == 401
        assert "You are not signed in" in ended.text
    assert [one.content for one in place.home.vault("user:ada").memories.list()] == ["I drink tea"]
    assert not place.home.vault("user:bob").memories.list()


def test_a_key_that_may_only_read_does_not_write_in_the_console(place: Place) -> None:
    place.home.vault("user:ada").memories.save("I drink tea")
    _, secret = place.home.keys.add("user:ada", permissions=["read"])
    with place.client() as client:
        assert _enter(client, secret).status_code == 303
        page = client.get("/console/memories")
        assert "I drink tea" in page.text
        refused = client.post("/console/memories", data={"csrf": _csrf(page), "content": "I do not", "kind": "fact"})
        assert refused.status_code == 403
    assert [one.content for one in place.home.vault("user:ada").memories.list()] == ["I drink tea"]


def test_a_wrong_key_is_refused_and_another_site_cannot_send_the_form(place: Place) -> None:
    _, secret = place.home.keys.add("user:ada")
    with place.client() as client:
        for wrong in ("x", secret[:-1], secret + "x", TOKEN):
            refused = _enter(client, wrong)
            assert refused.status_code == 401
            assert "This key is not known here" in refused.text
            assert "set-cookie" not in refused.headers
        assert _enter(client, secret, origin="https://evil.example").status_code == 403
        assert client.get(f"/login?key={secret}").status_code == 200
        assert client.get("/console/memories").status_code == 401
