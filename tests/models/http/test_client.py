"""Posting JSON: what is sent, which errors come of what is answered, and that nothing secret is in them."""

from collections.abc import Generator
from contextlib import contextmanager

import pytest

from recollectum.domain.errors import ModelError, ModelRefused, ModelTimeout, ModelUnavailable
from recollectum.models.embedding.openai import key_headers
from recollectum.models.http.client import JsonClient, RequestAccess, connect, provider_access
from recollectum.models.http.endpoint import Endpoint, endpoint
from tests.models.serving import Reply, Server, in_order, serving

SECRET = "k-3141592653"
BODY = {"error": {"message": f"what the server wrote about {SECRET}"}}
HOST = Endpoint("https", "api.example.org", 443, "/v1")


@contextmanager
def wired(
    *replies: Reply, timeout: float = 10.0, most: int = 1000, keyed: bool = True
) -> Generator[tuple[JsonClient, Server]]:
    """A wire to a server that gives these replies."""
    let_in = RequestAccess(headers=key_headers(SECRET), key_variable="THE_KEY") if keyed else RequestAccess()
    with serving(in_order(*replies)) as server:
        wire = JsonClient(HOST, let_in, timeout_seconds=timeout, connect=server.connect, max_answer_bytes=most)
        yield wire, server
        wire.close()


def failure(*replies: Reply, timeout: float = 10.0, most: int = 1000, keyed: bool = True) -> ModelError:
    """The error that these replies lead to."""
    with wired(*replies, timeout=timeout, most=most, keyed=keyed) as (wire, _), pytest.raises(ModelError) as raised:
        wire.post("/x", {})
    assert SECRET not in str(raised.value)
    assert "wrote" not in str(raised.value)
    return raised.value


def test_a_question_arrives_and_the_answer_comes_back() -> None:
    with wired(Reply({"answer": [1, 2.5]})) as (wire, server):
        assert wire.post("/embeddings", {"input": ["ä\ud83d", 1]}) == {"answer": [1, 2.5]}
    (asked,) = server.asked
    assert asked.path == "/v1/embeddings"
    assert asked.body == {"input": ["ä\ud83d", 1]}
    assert asked.headers["authorization"] == f"Bearer {SECRET}"
    assert asked.headers["content-type"] == "application/json"
    assert asked.headers["host"] == "api.example.org"


@pytest.mark.parametrize("reply", [Reply([1]), Reply([1], chunked=True), Reply([1], status=201)])
def test_a_connection_is_used_again(reply: Reply) -> None:
    with wired(reply) as (wire, server):
        assert [wire.post("/x", {}) for _ in range(3)] == [[1], [1], [1]]
    assert {asked.connection for asked in server.asked} == {1}


def test_a_connection_the_server_closed_meanwhile_is_no_failure() -> None:
    with wired(Reply([1], headers={"Connection": "close"}), Reply([2]), Reply(drop=True), Reply([3])) as (wire, server):
        assert [wire.post("/x", {}) for _ in range(3)] == [[1], [2], [3]]
    assert [asked.connection for asked in server.asked] == [1, 2, 2, 3]


@pytest.mark.parametrize(
    ("status", "error", "said"),
    [
        (301, ModelRefused, "points to another address"),
        (307, ModelRefused, "points to another address"),
        (400, ModelRefused, "refused the request (400)"),
        (401, ModelRefused, "check the variable THE_KEY"),
        (403, ModelRefused, "check the variable THE_KEY"),
        (404, ModelRefused, "has no such model"),
        (408, ModelTimeout, "(408)"),
        (422, ModelRefused, "refused the request (422)"),
        (429, ModelUnavailable, "too busy"),
        (500, ModelUnavailable, "(500)"),
        (503, ModelUnavailable, "(503)"),
        (504, ModelTimeout, "(504)"),
    ],
)
def test_a_status_becomes_an_error_in_our_words(status: int, error: type[ModelError], said: str) -> None:
    found = failure(Reply(BODY, status=status, headers={"Location": "https://elsewhere.example.org/"}))
    assert type(found) is error
    assert "api.example.org" in str(found)
    assert said in str(found)


def test_a_redirect_is_not_followed() -> None:
    with wired(Reply(status=302, headers={"Location": "/v1/y"}), Reply([1])) as (wire, server):
        with pytest.raises(ModelRefused):
            wire.post("/x", {})
        assert len(server.asked) == 1


def test_a_key_that_was_never_named_is_asked_for() -> None:
    assert "name its variable in embedding.key_variable" in str(failure(Reply(BODY, status=401), keyed=False))


def test_how_long_the_server_wants_to_be_left_alone_is_passed_on() -> None:
    found = failure(Reply(BODY, status=429, headers={"Retry-After": "7"}))
    assert isinstance(found, ModelUnavailable)
    assert found.retry_after_seconds == 7


def test_a_server_that_does_not_answer_is_not_waited_for() -> None:
    assert isinstance(failure(Reply(hold=True), timeout=0.1), ModelTimeout)


def test_an_answer_that_drips_in_is_late_too() -> None:
    # Each byte comes in time for a single read; only the whole does not.
    found = failure(Reply("x" * 200, drip=True), timeout=0.3)
    assert type(found) is ModelTimeout
    assert "within 0.3 s" in str(found)


@pytest.mark.parametrize("reply", [Reply(drop=True), Reply([1, 2, 3], cut=True)])
def test_an_answer_that_breaks_off_is_unavailability(reply: Reply) -> None:
    assert type(failure(reply)) is ModelUnavailable


def test_nobody_there_is_unavailability() -> None:
    with serving(in_order(Reply())) as server:
        pass
    wire = JsonClient(HOST, RequestAccess(), timeout_seconds=1, connect=server.connect)
    with pytest.raises(ModelUnavailable, match=r"api\.example\.org cannot be reached"):
        wire.post("/x", {})


@pytest.mark.parametrize("reply", [Reply("x" * 2000), Reply("x" * 2000, chunked=True)])
def test_an_answer_larger_than_any_is_refused(reply: Reply) -> None:
    assert "answer is too large" in str(failure(reply))


@pytest.mark.parametrize("raw", [b"", b"<html>wrote</html>", b"{", b"\xff\xfe", b"[" * 900])
def test_an_answer_that_is_not_json_is_refused(raw: bytes) -> None:
    found = failure(Reply(raw=raw))
    assert type(found) is ModelRefused
    assert "did not answer in JSON" in str(found)


@pytest.mark.feature("A17")
def test_a_key_is_in_no_representation() -> None:
    let_in = provider_access("THE_KEY", {"THE_KEY": f" {SECRET}\n"}, key_headers, named=True)
    assert let_in.headers == {"Authorization": f"Bearer {SECRET}"}
    assert SECRET not in repr(let_in)


@pytest.mark.feature("A17")
@pytest.mark.parametrize("value", [f"{SECRET}\r\nHost: evil", f"{SECRET} {SECRET}", f"{SECRET}ä", f"{SECRET}\0"])
def test_what_cannot_be_a_key_is_not_shown(value: str) -> None:
    with pytest.raises(ModelRefused, match="the variable THE_KEY holds something that is not an API key") as raised:
        provider_access("THE_KEY", {"THE_KEY": value}, key_headers, named=True)
    assert SECRET not in str(raised.value)


@pytest.mark.feature("A17")
def test_a_key_written_where_its_variable_belongs_is_not_shown() -> None:
    with pytest.raises(ModelRefused, match="names a variable that is not set") as raised:
        provider_access(SECRET, {}, key_headers, named=True)
    assert SECRET not in str(raised.value)


@pytest.mark.parametrize("environ", [{}, {"THE_KEY": ""}, {"THE_KEY": " \n"}])
def test_a_variable_that_is_not_set_is_named(environ: dict[str, str]) -> None:
    with pytest.raises(ModelRefused, match="the variable THE_KEY is not set"):
        provider_access("THE_KEY", environ, key_headers, named=False)


def test_https_checks_the_certificate() -> None:
    import ssl
    from http.client import HTTPSConnection

    secure = connect(HOST, 3)
    assert isinstance(secure, HTTPSConnection)
    context: object = vars(secure)["_context"]
    assert isinstance(context, ssl.SSLContext)
    assert context.verify_mode is ssl.CERT_REQUIRED
    assert context.check_hostname
    plain = connect(endpoint("http://localhost:1", plain_http=False), 3)
    assert not isinstance(plain, HTTPSConnection)
