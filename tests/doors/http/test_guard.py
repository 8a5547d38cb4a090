"""What a web page, a stranger and a flood are answered, whichever address the server listens on."""

import json
import socket
from pathlib import Path

import pytest

from recollectum.doors.http.server_state import allowed_hosts
from tests.doors.http.served import TOKEN, Served, serving

ADD = ("POST", "/memory/add", {"content": "I drink tea"})
BINDS = ["127.0.0.1", "::1", "0.0.0.0"]
FOREIGN_HOSTS = [
    "evil.example",
    "evil.example:{port}",
    "127.0.0.1",
    "localhost:1",
    "0.0.0.0:{port}",
    "[::]:{port}",
    "127.0.0.1.evil.example:{port}",
    "127.0.0.1:{port}, evil.example",
    "localhost:{port}.",
    "127.1:{port}",
    "2130706433:{port}",
]
FOREIGN_ORIGINS = [
    "null",
    "http://evil.example",
    "https://evil.example:{port}",
    "http://127.0.0.1",
    "http://127.0.0.1:1",
    "file://",
    "http://{here}.evil.example",
    "chrome-extension://abc",
    "http://{here}, http://{here}",
]
FOREIGN_TYPES = [
    "text/plain",
    "application/x-www-form-urlencoded",
    "multipart/form-data; boundary=x",
    "application/xml",
    "text/json",
    "application/json-patch+json",
    "application",
    "; application/json",
]


def _here(served: Served) -> str:
    name = f"[{served.address}]" if ":" in served.address else served.address
    return f"{name}:{served.port}"


@pytest.mark.loopback
@pytest.mark.parametrize("bind", BINDS)
def test_a_foreign_page_gets_nothing(tmp_path: Path, bind: str) -> None:
    with serving(tmp_path / "home", bind=bind) as served:
        here = _here(served)
        assert served.ask(*ADD, Host=here).status == 200
        assert served.ask(*ADD, Host=here, Origin=f"http://{here}").status == 200
        for host in FOREIGN_HOSTS:
            assert served.ask(*ADD, Host=host.format(port=served.port)).status == 421, host
        for origin in FOREIGN_ORIGINS:
            refused = served.ask(*ADD, Host=here, Origin=origin.format(port=served.port, here=here))
            assert refused.status == 403, origin
        for kind in FOREIGN_TYPES:
            assert served.ask(*ADD, Host=here, Content_Type=kind).status == 415, kind
        assert served.ask("POST", "/memory/mem_x/archive", Host=here, Content_Type="text/plain").status == 415
        assert len(served.home.vault("user:alice").memories.list()) == 1


@pytest.mark.loopback
def test_a_body_with_no_type_is_refused(served: Served) -> None:
    assert served.ask(*ADD, Content_Type="").status == 415


@pytest.mark.loopback
def test_a_second_host_does_not_hide_behind_the_first(served: Served) -> None:
    lines = (f"Host: 127.0.0.1:{served.port}", "Host: evil.example", f"Authorization: Bearer {served.secret}")
    with socket.create_connection((served.address, served.port), timeout=10) as raw:
        raw.sendall(("GET /memory HTTP/1.1\r\n" + "\r\n".join(lines) + "\r\nConnection: close\r\n\r\n").encode())
        first = raw.makefile("rb").readline()
    assert first.split()[1] in (b"400", b"421")


@pytest.mark.loopback
def test_every_answer_has_the_headers_and_none_opens_it_to_other_sites(served: Served) -> None:
    here = f"http://127.0.0.1:{served.port}"
    answers = [
        served.ask("GET", "/healthz", Origin=here),
        served.ask("GET", "/memory", Origin=here),
        served.ask("GET", "/nowhere"),
        served.ask("GET", "/memory", Host="evil.example"),
        served.ask("OPTIONS", "/memory/add", Origin=here, Access_Control_Request_Method="POST"),
    ]
    for answer in answers:
        assert answer.headers["x-content-type-options"] == "nosniff"
        assert answer.headers["x-frame-options"] == "DENY"
        assert "content-security-policy" in answer.headers
        assert not [name for name in answer.headers if name.startswith("access-control")]
        assert "server" not in answer.headers


@pytest.mark.loopback
def test_a_body_that_is_too_long_is_not_read(tmp_path: Path) -> None:
    with serving(tmp_path / "home", settings={"server.max_body_kb": 1}) as served:
        long = json.dumps({"content": "x" * 2000}).encode()
        assert served.ask("POST", "/memory/add", long).status == 413
        # One that does not say how long it is.
        with socket.create_connection((served.address, served.port), timeout=10) as raw:
            head = f"POST /memory/add HTTP/1.1\r\nHost: 127.0.0.1:{served.port}\r\nContent-Type: application/json\r\n"
            raw.sendall(
                (head + f"Authorization: Bearer {served.secret}\r\nTransfer-Encoding: chunked\r\n\r\n").encode()
            )
            raw.sendall(f"{len(long):x}\r\n".encode() + long + b"\r\n0\r\n\r\n")
            assert b" 413 " in raw.makefile("rb").readline()
        assert not served.home.vault("user:alice").memories.list()


@pytest.mark.loopback
def test_who_asks_too_often_waits_and_nothing_is_done(tmp_path: Path) -> None:
    with serving(tmp_path / "home", settings={"server.rate_per_minute": 5}) as served:
        statuses = [served.ask("POST", "/memory/add", {"content": f"tea {n}"}).status for n in range(9)]
        assert statuses[:5] == [200] * 5
        refused = served.ask(*ADD)
        assert refused.status == 429
        assert int(refused.headers["retry-after"]) >= 1
        assert len(served.home.vault("user:alice").memories.list()) == statuses.count(200)
        # Another key has a bucket of its own.
        assert served.with_key(served.new_key("user:bob")).ask(*ADD).status == 200


@pytest.mark.loopback
def test_who_guesses_keys_is_stopped_by_their_address(tmp_path: Path) -> None:
    with serving(tmp_path / "home", settings={"server.failures_per_minute": 3}) as served:
        tried = [served.with_key(f"rk_{n}").ask("GET", "/memory").status for n in range(5)]
        assert tried == [401, 401, 401, 429, 429]


@pytest.mark.parametrize(
    ("host", "port", "further", "allowed", "refused"),
    [
        ("127.0.0.1", 8377, "", "localhost:8377", "localhost"),
        ("::1", 8377, "", "[::1]:8377", "::1:8377"),
        ("0.0.0.0", 8377, "", "127.0.0.1:8377", "0.0.0.0:8377"),
        ("192.168.1.5", 8377, "", "192.168.1.5:8377", "192.168.1.6:8377"),
        ("127.0.0.1", 8377, "Memory.example.org, other", "memory.example.org", "example.org"),
        ("127.0.0.1", 80, "", "localhost", "localhost:8377"),
    ],
)
def test_by_which_names_a_server_may_be_asked(host: str, port: int, further: str, allowed: str, refused: str) -> None:
    names = allowed_hosts(host, port, further)
    assert allowed in names
    assert refused not in names


#: What a page of another site makes a browser send without asking: images, scripts, frames and fetches.
EMBEDDED = [
    {"Sec_Fetch_Site": site, "Sec_Fetch_Mode": mode, "Sec_Fetch_Dest": dest}
    for site in ("cross-site", "same-site", "none, cross-site")
    for mode, dest in (("no-cors", "image"), ("no-cors", "script"), ("navigate", "iframe"), ("cors", "empty"))
]


@pytest.mark.loopback
def test_a_page_of_another_site_is_refused_before_anything_is_counted(tmp_path: Path) -> None:
    few = {"server.failures_per_minute": 3, "server.address_rate_per_minute": 6}
    with serving(tmp_path / "home", settings=few) as served:
        stranger = served.with_key(None)
        assert {stranger.ask("GET", "/memory", **sent).status for sent in EMBEDDED} == {403}
        opened = {"Sec_Fetch_Site": "cross-site", "Sec_Fetch_Mode": "navigate", "Sec_Fetch_Dest": "document"}
        assert stranger.ask("GET", "/login?link=x", **opened).status == 200
        assert stranger.ask("GET", "/healthz", Sec_Fetch_Site="none").status == 200
        assert stranger.ask("GET", "/healthz", Sec_Fetch_Site="same-origin").status == 200
        assert stranger.ask("POST", "/login", **opened).status == 403


@pytest.mark.loopback
def test_requests_without_a_key_lock_nobody_out(tmp_path: Path) -> None:
    with serving(tmp_path / "home", settings={"server.failures_per_minute": 3}) as served:
        stranger = served.with_key(None)
        assert [stranger.ask("GET", "/memory").status for _ in range(20)] == [401] * 20
        assert served.with_key("rk_wrong").ask("GET", "/memory").status == 401
        assert served.ask("GET", "/memory").status == 200


@pytest.mark.loopback
def test_a_right_key_passes_whatever_others_do_at_the_same_address(tmp_path: Path) -> None:
    few = {"server.failures_per_minute": 3, "server.address_rate_per_minute": 20}
    with serving(tmp_path / "home", settings=few) as served:
        guesses = [served.with_key(f"rk_{n}").ask("GET", "/memory").status for n in range(40)]
        assert guesses[-1] == 429
        assert served.with_key(None).ask("GET", "/healthz").status == 429
        assert served.ask(*ADD).status == 200
        assert served.with_key(TOKEN).ask("GET", "/memory", Recollectum_User="alice").status == 200
        link = served.with_key(TOKEN).ask("POST", "/login/links", {"user": "alice"})
        assert link.status == 201
        cookie = served.app.state.console_desk.redeem(link.json["path"].partition("=")[2])
        assert served.with_key(None).ask("GET", "/", Cookie=f"recollectum_session={cookie}").status == 200
        assert served.with_key(None).ask("GET", "/", Cookie="recollectum_session=wrong").status == 429
        assert served.with_key("rk_wrong").ask("GET", "/memory").status == 429


@pytest.mark.loopback
def test_a_key_has_one_limit_however_it_is_spelt(tmp_path: Path) -> None:
    with serving(tmp_path / "home", settings={"server.rate_per_minute": 4}) as served:
        spelt = [f"{scheme} {gap}{served.secret}" for scheme in ("Bearer", "bearer", "Token") for gap in ("", "   ")]
        statuses = [served.ask("GET", "/memory", Authorization=one).status for one in spelt]
        assert statuses == [200] * 4 + [429] * 2


@pytest.mark.loopback
def test_two_authorization_headers_are_refused(served: Served) -> None:
    keys = (f"Authorization: Bearer {served.secret}", "Authorization: Bearer rk_other")
    for lines in (keys, keys[::-1], keys[:1] * 2):
        with socket.create_connection((served.address, served.port), timeout=10) as raw:
            head = (f"Host: 127.0.0.1:{served.port}", *lines, "Connection: close")
            raw.sendall(("GET /memory HTTP/1.1\r\n" + "\r\n".join(head) + "\r\n\r\n").encode())
            answer = raw.makefile("rb").read()
        assert answer.split()[1] == b"400"
        assert b"two Authorization headers" in answer


@pytest.mark.loopback
def test_a_name_that_is_not_allowed_gets_the_cure_as_a_page_or_as_a_problem(served: Served) -> None:
    cure = "recollectum settings set server.hosts NAME"
    page = served.ask("GET", "/", Host="evil.example", Accept="text/html,application/xhtml+xml")
    assert (page.status, page.headers["content-type"]) == (421, "text/html; charset=utf-8")
    assert cure in page.body.decode()
    # An attacker's page must not tell the operator to allow the attacker's name.
    assert b"evil" not in page.body
    told = served.ask("GET", "/v1/memories", Host="evil.example")
    assert (told.status, told.headers["content-type"]) == (421, "application/problem+json")
    assert cure in json.loads(told.body)["detail"]


@pytest.mark.loopback
def test_who_guesses_keys_in_the_form_is_stopped_too_and_a_right_key_is_let_in(tmp_path: Path) -> None:
    with serving(tmp_path / "home", settings={"server.failures_per_minute": 3}) as served:
        form = {"Content_Type": "application/x-www-form-urlencoded"}
        stranger = served.with_key(None)
        tried = [stranger.ask("POST", "/login", f"key=rk_{n}".encode(), **form) for n in range(5)]
        assert [one.status for one in tried] == [401, 401, 401, 429, 429]
        assert int(tried[-1].headers["retry-after"]) >= 1
        assert stranger.ask("POST", "/login", f"key={served.secret}".encode(), **form).status == 303
