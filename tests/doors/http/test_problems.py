"""An error says what is wrong and repeats nothing that was sent."""

import pytest

from recollectum.domain import errors
from recollectum.doors.http.problems import PreconditionFailed, problem_of, without_values
from tests.doors.http.served import TOKEN, Served

CANARY = "canary7f3e"


def test_every_error_of_ours_has_a_status() -> None:
    kinds = [one for one in vars(errors).values() if isinstance(one, type) and issubclass(one, errors.RecollectumError)]
    statuses = {
        kind.__name__: problem_of(kind("x")).status_code for kind in kinds if kind is not errors.RecollectumError
    }
    assert statuses["NotFound"] == 404
    assert statuses["Denied"] == 403
    assert statuses["SettingsError"] == 422
    assert statuses["Busy"] == 503
    assert problem_of(PreconditionFailed("x")).status_code == 412
    assert all(400 <= status < 600 for status in statuses.values())


@pytest.mark.parametrize(
    "value", [CANARY, f"it's {CANARY}", f'"{CANARY}"', f"'\"{CANARY}\"'", f"\\'{CANARY}", f"\n{CANARY}' {CANARY}"]
)
def test_a_message_loses_its_values(value: str) -> None:
    said = without_values(f"key {value!r} is not alice's; memory {value!r} is")
    assert CANARY not in said
    assert "is not alice's; memory" in said


def test_files_and_hosts_are_nobodys_business() -> None:
    answer = problem_of(errors.Damaged("/home/alice/.recollectum/catalog.db is damaged"))
    assert b"alice" not in answer.body


@pytest.mark.loopback
@pytest.mark.parametrize(
    ("method", "path", "body"),
    [
        ("POST", "/memory/add", {"content": CANARY, "key": CANARY.upper()}),
        ("POST", "/memory/add", {"content": [CANARY]}),
        ("POST", "/memory/add", {"content": "x", CANARY: 1}),
        ("POST", "/memory/add", {"content": "x", "kind": CANARY}),
        ("POST", "/memory/add", {"content": "x", "valid_from": CANARY}),
        ("POST", "/memory/add", b'{"content": "' + CANARY.encode() + b'", '),
        ("POST", "/memory/query", {"query": CANARY, "limit": 10**9}),
        ("POST", "/memory/query", {"query": CANARY, "source": CANARY}),
        ("GET", f"/memory/{CANARY}", None),
        ("GET", f"/memory?cursor={CANARY}", None),
        ("GET", f"/memory?state={CANARY}", None),
        ("GET", f"/memory?owner={CANARY}", None),
        ("GET", f"/memory?owner=user:{CANARY}", None),
        ("PATCH", f"/memory/{CANARY}", {"content": CANARY}),
        ("POST", f"/v1/sessions/{CANARY}/messages", {"role": CANARY, "content": CANARY}),
        ("DELETE", f"/memory/user/purge?confirm={CANARY}", None),
        ("DELETE", "/memory/user/purge", {"confirm": CANARY + "é"}),
        ("POST", f"/v1/review/{CANARY}/approval", {"content": CANARY}),
        ("GET", f"/{CANARY}", None),
        ("PUT", f"/memory/{CANARY}", {"content": CANARY}),
    ],
)
def test_no_error_repeats_what_was_sent(served: Served, method: str, path: str, body: object) -> None:
    answer = served.ask(method, path, body)
    assert 400 <= answer.status < 500
    assert answer.headers["content-type"] == "application/problem+json"
    assert {"type", "status", "title"} <= answer.json.keys()
    assert CANARY not in answer.body.decode().casefold()
    assert CANARY not in str(answer.headers).casefold()


@pytest.mark.loopback
def test_a_refusal_says_how_to_come_in_and_not_who_is_there(served: Served) -> None:
    answer = served.with_key(None).ask("GET", "/memory")
    assert answer.status == 401
    assert answer.headers["www-authenticate"].startswith("Bearer")
    wrong = served.with_key("rk_wrong").ask("GET", "/memory")
    assert (wrong.status, wrong.body) == (answer.status, answer.body)
    assert served.with_key(TOKEN[:-1]).ask("GET", "/memory").status == 401


@pytest.mark.loopback
def test_the_local_token_acts_for_the_person_it_names(served: Served) -> None:
    local = served.with_key(TOKEN)
    assert local.ask("POST", "/memory/add", {"content": "tea"}, Recollectum_User="bob").status == 404
    served.home.people.add("user:bob")
    assert local.ask("POST", "/memory/add", {"content": "tea"}, Recollectum_User="bob").status == 200
    assert len(local.ask("GET", "/memory", Recollectum_User="bob").json["memories"]) == 1
    assert not local.ask("GET", "/memory", Recollectum_User="alice").json["memories"]
    assert local.ask("GET", "/memory").status == 422
    # A key's person is the key's, whatever a header says.
    assert not served.ask("GET", "/memory", Recollectum_User="bob").json["memories"]
