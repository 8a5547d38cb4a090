"""Every kind of object store keeps the same promises, against real servers on this machine."""

import sys
import threading
from collections.abc import Generator
from pathlib import Path

import pytest

from recollectum.domain.errors import InvalidInput, SettingsError, Unreachable
from recollectum.settings.values import is_task_url
from recollectum.vault.task_store.folder import is_temporary
from recollectum.vault.task_store.objects import ObjectStore, parse_url
from recollectum.vault.task_store.places import open_objects
from tests.vault.task_store.object_servers import BUCKET, google_server, s3_server

pytestmark = pytest.mark.loopback


def _no_secret(_: str) -> None:
    return None


@pytest.fixture(params=["file", "memory", "s3", "gs"])
def objects(request: pytest.FixtureRequest, tmp_path: Path) -> Generator[ObjectStore, None, None]:
    match request.param:
        case "file":
            yield open_objects(parse_url((tmp_path / "store").as_uri()), {}, _no_secret)
        case "memory":
            yield open_objects(parse_url(f"memory://{tmp_path.name.replace('_', '-').lower()[:40]}0"), {}, _no_secret)
        case "s3":
            with s3_server() as environ:
                yield open_objects(parse_url(f"s3://{BUCKET}/some/prefix"), environ, _no_secret)
        case _:
            with google_server() as environ:
                yield open_objects(parse_url(f"gs://{BUCKET}/some/prefix"), environ, _no_secret)


@pytest.mark.feature("C15")
def test_objects_are_created_once_read_listed_and_deleted(objects: ObjectStore) -> None:
    assert objects.create("v/tasks/a", b"first")
    assert not objects.create("v/tasks/a", b"second")
    assert objects.read("v/tasks/a") == b"first"
    assert objects.read("v/tasks/none") is None
    assert objects.create("v/parts/b", bytes(5_000_000))
    found = {one.name: one.size for one in objects.list("v/")}
    assert found == {"v/tasks/a": 5, "v/parts/b": 5_000_000}
    assert [one.name for one in objects.list("v/tasks/")] == ["v/tasks/a"]
    assert list(objects.list("other/")) == []
    objects.delete(["v/tasks/a", "v/tasks/none"])
    assert [one.name for one in objects.list("v/")] == ["v/parts/b"]
    assert objects.create("v/tasks/a", b"third")


def test_the_client_of_google_sends_nothing_of_itself(monkeypatch: pytest.MonkeyPatch) -> None:
    begun: list[threading.Thread] = []
    start = threading.Thread.start
    with google_server() as environ:
        objects = open_objects(parse_url(f"gs://{BUCKET}/some"), environ, _no_secret)

        def noted(thread: threading.Thread) -> None:
            begun.append(thread)
            start(thread)

        monkeypatch.setattr(threading.Thread, "start", noted)
        assert objects.create("a", b"text")
        assert objects.read("a") == b"text"
        assert objects.read("none") is None
    # The emulator answers in threads, which it names; the client must begin none.
    assert not [one.name for one in begun if "background" in one.name]


@pytest.mark.parametrize("scheme", ["s3", "gs"])
def test_a_missing_bucket_is_named(scheme: str) -> None:
    with s3_server() if scheme == "s3" else google_server() as environ:
        objects = open_objects(parse_url(f"{scheme}://no-such-bucket"), environ, _no_secret)
        with pytest.raises(Unreachable, match=f"{scheme}://no-such-bucket"):
            objects.create("a", b"")
        with pytest.raises(Unreachable, match=f"{scheme}://no-such-bucket"):
            list(objects.list("a/"))


def test_a_server_that_is_gone_is_named_and_the_secret_is_not() -> None:
    with s3_server() as environ:
        objects = open_objects(parse_url(f"s3://{BUCKET}"), {**environ, "AWS_SECRET_ACCESS_KEY": "h8Fs2"}, _no_secret)
    with pytest.raises(Unreachable, match="did not answer") as caught:
        objects.read("a")
    assert "h8Fs2" not in str(caught.value)


def test_credentials_come_from_the_credential_store_when_the_environment_has_none() -> None:
    asked: list[str] = []

    def secret(name: str) -> str:
        asked.append(name)
        return "x"

    with s3_server() as environ:
        bare = {name: value for name, value in environ.items() if "KEY" not in name}
        assert open_objects(parse_url(f"s3://{BUCKET}"), bare, secret).create("a", b"1")
    assert asked == ["AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "AWS_SESSION_TOKEN"]


@pytest.mark.parametrize(
    "url",
    [
        "s3://key:secret@bucket/x",
        "s3://bucket/x?secret=1",
        "gs://bucket#x",
        "http://bucket",
        "bucket",
        "file://host/path",
        "file:///",
        "file:///a/../b",
        "s3://B/",
        "s3://bucket/a//b",
        "s3://bucket/../b",
        "",
    ],
)
def test_a_url_with_credentials_or_nonsense_is_refused_without_being_repeated(url: str) -> None:
    with pytest.raises(SettingsError) as caught:
        parse_url(url)
    assert "secret" not in str(caught.value)
    if "@" in url or "?" in url or "#" in url or not url.startswith(("s3", "gs", "file:///", "")):
        assert not is_task_url(url)


def test_a_store_without_its_package_names_the_command(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "obstore", None)
    monkeypatch.delitem(sys.modules, "recollectum.vault.task_store.cloud", raising=False)
    with pytest.raises(InvalidInput, match=r"needs the package obstore; run: pip install obstore$"):
        open_objects(parse_url("s3://bucket"), {}, _no_secret)


def test_a_written_object_has_its_name_once_it_is_durable(objects: ObjectStore) -> None:
    finish = [objects.write(f"v/parts/{name}", name.encode()) for name in ("a", "b")]
    for one in finish:
        one()
    objects.settle("v/parts/")
    # A folder that another process has replaced: there is nothing to make durable.
    objects.settle("v/none/")
    assert [objects.read(f"v/parts/{name}") for name in ("a", "b", "c")] == [b"a", b"b", None]
    assert sorted(one.name for one in objects.list("v/")) == ["v/parts/a", "v/parts/b"]


def test_a_file_gets_its_name_after_its_bytes(tmp_path: Path) -> None:
    objects = open_objects(parse_url(tmp_path.as_uri()), {}, _no_secret)
    finish = objects.write("v/a", b"bytes")
    assert objects.read("v/a") is None
    (temporary,) = objects.list("v/")
    assert is_temporary(temporary.name)
    finish()
    assert objects.read("v/a") == b"bytes"
    assert [one.name for one in objects.list("v/")] == ["v/a"]
