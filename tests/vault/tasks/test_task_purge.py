"""A purge of a person erases their tasks in every store that was used, says so, and waits for one that is away."""

import os
from pathlib import Path

import pytest

from recollectum import Recollectum
from recollectum.domain.errors import Conflict
from recollectum.vault.purge.request import PurgeRequest, PurgeState
from tests.vault.task_store.object_servers import BUCKET, s3_server
from tests.vault.tasks.workspaces import fill

_WORDS = "kumquat marmalade from the attic"


def _found(folder: Path, words: str) -> list[Path]:
    return [path for path in folder.rglob("*") if path.is_file() and words.encode() in path.read_bytes()]


@pytest.mark.feature("C15")
@pytest.mark.process
@pytest.mark.parametrize("encryption", ["auto", "off"])
def test_a_purge_of_a_person_erases_their_tasks_everywhere(tmp_path: Path, encryption: str) -> None:
    workspace = fill(tmp_path / "work")
    (workspace / "words").write_bytes(os.urandom(64) + _WORDS.encode())
    old, new = tmp_path / "old-store", tmp_path / "new-store"
    for place in (old, new):
        settings = {"tasks.url": place.as_uri(), "encryption": encryption}
        with Recollectum(tmp_path / "home", settings=settings) as home:
            home.vault("user:ada").tasks.save_workspace("t", workspace, {"note": _WORDS})
            home.vault("user:bob").tasks.save("b", {"note": "bob's"})
    with Recollectum(tmp_path / "home", settings={"encryption": encryption}) as home:
        vault = home.vault("user:ada")
        seen = vault.privacy.purge.preview(PurgeRequest.user())
        assert seen.counts["tasks"] == 2
        receipt = vault.privacy.purge.run(seen.token)
        assert receipt.state is PurgeState.DONE
        assert receipt.counts["tasks"] == 2
    for place in (old, new):
        assert len([path for path in place.rglob("*") if path.is_file()]) == 1
        assert _found(place, _WORDS) == []
        with Recollectum(tmp_path / "home", settings={"tasks.url": place.as_uri(), "encryption": encryption}) as home:
            assert [one.id for one in home.vault("user:bob").tasks.list()] == ["b"]
    assert _found(tmp_path / "home", _WORDS) == []


@pytest.mark.process
def test_a_task_that_is_saved_after_the_preview_stops_the_purge() -> None:
    with Recollectum() as home:
        vault = home.vault("user:ada")
        token = vault.privacy.purge.preview(PurgeRequest.user()).token
        vault.tasks.save("t", {"n": 1})
        with pytest.raises(Conflict, match="changed since the preview"):
            vault.privacy.purge.run(token)
        assert vault.tasks.get("t").data == {"n": 1}


@pytest.mark.loopback
@pytest.mark.process
def test_a_purge_waits_for_a_store_that_is_away(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    settings = {"tasks.url": f"s3://{BUCKET}/tasks"}
    with s3_server() as environ:
        for name, value in environ.items():
            monkeypatch.setenv(name, value)
        with Recollectum(tmp_path / "home", settings=settings) as home:
            vault = home.vault("user:ada")
            vault.memories.save(_WORDS)
            vault.tasks.save("t", {"note": _WORDS})
            vault_id = vars(vault)["_runtime"].vault.id
            preview = vault.privacy.purge.preview(PurgeRequest.user())
            monkeypatch.setattr("recollectum.vault.task_store.cloud.CloudObjects.delete", _away)
            receipt = vault.privacy.purge.run(preview.token)
            assert receipt.state is PurgeState.PENDING
            assert receipt.reason == "the store is away; try again; then run: recollectum purge finish"
            monkeypatch.undo()
            for name, value in environ.items():
                monkeypatch.setenv(name, value)
        with Recollectum(tmp_path / "home", settings=settings) as home:
            (done,) = home.receipts.list()
            assert done.state is PurgeState.DONE
            places = home._runtime.tasks  # pyright: ignore[reportPrivateUsage]
            assert places.names(vault_id) == []


def _away(*_: object) -> None:
    from recollectum.domain.errors import Unreachable

    raise Unreachable("the store is away; try again")
