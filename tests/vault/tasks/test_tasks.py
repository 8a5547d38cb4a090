"""Tasks are saved with their workspace, loaded as they were, listed, kept for a while and deleted."""

import os
from collections.abc import Generator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from recollectum import Recollectum
from recollectum.domain.errors import Conflict, Damaged, InvalidInput, NotFound
from recollectum.domain.page import every
from recollectum.vault.task_store import transfer
from recollectum.vault.vault import Vault
from tests.vault.task_store.object_servers import BUCKET, google_server, s3_server
from tests.vault.tasks.workspaces import contents, fill


class _Clock:
    def __init__(self) -> None:
        self.ahead = timedelta()

    def __call__(self) -> datetime:
        return datetime.now(UTC) + self.ahead


@pytest.fixture
def clock() -> _Clock:
    return _Clock()


@pytest.fixture
def home(clock: _Clock, monkeypatch: pytest.MonkeyPatch) -> Generator[Recollectum, None, None]:
    # Small parts, so that a small workspace has several.
    monkeypatch.setattr(transfer, "PART_BYTES", 65536)
    with Recollectum(clock=clock) as home:
        yield home


@pytest.fixture
def vault(home: Recollectum) -> Vault:
    return home.vault("user:ada")


def _objects(home: Recollectum) -> list[Path]:
    return sorted(path for path in (home.home.root / "tasks").rglob("*") if path.is_file())


@pytest.mark.feature("C15")
def test_a_workspace_comes_back_as_it_was(vault: Vault, tmp_path: Path) -> None:
    workspace = fill(tmp_path / "work")
    os.mkfifo(workspace / "pipe")
    (workspace / "out").symlink_to("/etc/passwd")
    saved = vault.tasks.save_workspace("task-1", workspace, {"state": "working"})
    assert (saved.version, saved.data) == (1, {"state": "working"})
    assert saved.workspace is not None
    assert dict(saved.workspace.left_out) == {"out": "a link that leads out of the workspace", "pipe": "a pipe"}
    assert vault.tasks.get("task-1") == saved
    assert vault.tasks.extract("task-1", tmp_path / "new") == saved
    (workspace / "pipe").unlink()
    (workspace / "out").unlink()
    assert contents(tmp_path / "new") == contents(workspace)
    assert [path.name for path in tmp_path.iterdir() if path.name not in ("work", "new")] == []


@pytest.mark.feature("C15")
@pytest.mark.loopback
@pytest.mark.parametrize("scheme", ["s3", "gs", "memory"])
def test_object_storage_keeps_tasks_as_a_folder_does(
    scheme: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(transfer, "PART_BYTES", 65536)
    workspace = fill(tmp_path / "work")
    with s3_server() if scheme == "s3" else google_server() as environ:
        for name, value in environ.items():
            monkeypatch.setenv(name, value)
        with Recollectum(settings={"tasks.url": f"{scheme}://{BUCKET}/tasks"}) as home:
            vault = home.vault("user:ada")
            vault.tasks.save_workspace("one", workspace, {"n": 1}, version=0)
            (workspace / "src" / "main.py").write_text("changed")
            vault.tasks.save_workspace("one", workspace, version=1)
            with pytest.raises(Conflict, match="version 2, not the version 1"):
                vault.tasks.save("one", {}, version=1)
            vault.tasks.extract("one", tmp_path / "new")
            assert contents(tmp_path / "new") == contents(workspace)
            assert [(one.id, one.version, one.data) for one in vault.tasks.list()] == [("one", 2, {"n": 1})]
            vault.tasks.delete("one")
            assert vault.tasks.find("one") is None
            assert not (home.home.root / "tasks").exists()


def test_nothing_of_a_task_is_readable_in_the_store(home: Recollectum, vault: Vault, tmp_path: Path) -> None:
    workspace = fill(tmp_path / "work")
    vault.tasks.save_workspace("secret-task-name", workspace, {"note": "kumquat marmalade"})
    for path in _objects(home):
        assert b"kumquat" not in path.read_bytes()
        assert b"secret-task" not in path.read_bytes()
        assert b"main.py" not in path.read_bytes()
        assert "secret" not in str(path.relative_to(home.home.root))
        assert path.stat().st_mode & 0o077 == 0


def test_only_changed_parts_are_stored_again(home: Recollectum, vault: Vault, tmp_path: Path) -> None:
    workspace = fill(tmp_path / "work", size=600_000)
    vault.tasks.save_workspace("t", workspace)
    before = {path.name for path in _objects(home) if path.suffix == ".part"}
    (workspace / "src" / "main.py").write_text("print('HELLO')\n" * 50)
    vault.tasks.save_workspace("t", workspace)
    after = {path.name for path in _objects(home) if path.suffix == ".part"}
    assert len(after) == len(before)
    assert len(after & before) >= len(before) - 2
    vault.tasks.save_workspace("t", workspace, fresh=True)
    assert not {path.name for path in _objects(home) if path.suffix == ".part"} & (before | after)


def test_data_and_workspace_stay_when_only_the_other_is_saved(vault: Vault, tmp_path: Path) -> None:
    workspace = fill(tmp_path / "work")
    first = vault.tasks.save_workspace("t", workspace, {"a": 1})
    second = vault.tasks.save("t", {"a": 2})
    assert (second.workspace, second.created_at) == (first.workspace, first.created_at)
    assert vault.tasks.save_workspace("t", workspace).data == {"a": 2}
    vault.tasks.extract("t", tmp_path / "new")


def test_one_of_two_writers_wins_and_the_other_is_told(vault: Vault) -> None:
    vault.tasks.save("t", {"by": "nobody"})
    vault.tasks.save("t", {"by": "first"}, version=1)
    with pytest.raises(Conflict, match="'t' has the version 2, not the version 1"):
        vault.tasks.save("t", {"by": "second"}, version=1)
    with pytest.raises(Conflict, match="not the version 0"):
        vault.tasks.save("t", {}, version=0)
    assert vault.tasks.get("t").data == {"by": "first"}


def test_a_save_that_another_one_overtakes_is_told(vault: Vault, tmp_path: Path) -> None:
    workspace = fill(tmp_path / "work")
    vault.tasks.save_workspace("t", workspace, {"n": 0})
    overtaken: list[int] = []

    def overtake(_: int) -> None:
        if not overtaken:
            # Two, so that the number which the slow one wants is free again.
            overtaken.append(vault.tasks.save("t", {"n": 1}).version)
            overtaken.append(vault.tasks.save("t", {"n": 2}).version)

    with pytest.raises(Conflict, match="another process has saved or deleted"):
        vault.tasks.save_workspace("t", workspace, {"n": 9}, progress=overtake)
    assert overtaken == [2, 3]
    assert vault.tasks.get("t").data == {"n": 2}
    vault.tasks.extract("t", tmp_path / "new")


def test_a_deleted_task_is_not_brought_back_by_a_slow_save(vault: Vault, tmp_path: Path) -> None:
    workspace = fill(tmp_path / "work")
    vault.tasks.save_workspace("t", workspace)
    done: list[str] = []

    def delete(_: int) -> None:
        if not done:
            done.append(vault.tasks.delete("t").id)

    with pytest.raises(Conflict):
        vault.tasks.save_workspace("t", workspace, fresh=True, progress=delete)
    assert vault.tasks.find("t") is None
    with pytest.raises(NotFound, match="there is no task 't'"):
        vault.tasks.get("t")
    assert vault.tasks.save("t", {"again": True}, version=0).version == 3


def test_a_reader_gets_the_new_archive_when_the_old_one_is_replaced(vault: Vault, tmp_path: Path) -> None:
    workspace = fill(tmp_path / "work", size=900_000)
    vault.tasks.save_workspace("t", workspace)
    changed: list[int] = []

    def change(_: int) -> None:
        if not changed:
            (workspace / "src" / "deep" / "data.bin").write_bytes(os.urandom(900_000))
            changed.append(vault.tasks.save_workspace("t", workspace).version)

    assert vault.tasks.extract("t", tmp_path / "new", progress=change).version == 2
    assert contents(tmp_path / "new") == contents(workspace)


def test_an_interrupted_save_is_continued(home: Recollectum, vault: Vault, tmp_path: Path) -> None:
    workspace = fill(tmp_path / "work", size=900_000)

    def stop(done: int) -> None:
        if done > 500_000:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        vault.tasks.save_workspace("t", workspace, progress=stop)
    left = {path.name for path in _objects(home)}
    assert len(left) >= 7
    assert vault.tasks.find("t") is None
    vault.tasks.save_workspace("t", workspace)
    assert left <= {path.name for path in _objects(home)}


@pytest.mark.feature("C15")
def test_leftovers_are_swept_when_no_save_can_use_them(
    home: Recollectum, vault: Vault, clock: _Clock, tmp_path: Path
) -> None:
    workspace = fill(tmp_path / "work", size=900_000)

    def stop(_: int) -> None:
        raise KeyboardInterrupt

    vault.tasks.save_workspace("kept", workspace)
    kept = set(_objects(home))
    with pytest.raises(KeyboardInterrupt):
        vault.tasks.save_workspace("t", workspace, progress=stop)
    (next(iter(kept)).parent / ".recollectum-0011.tmp").write_bytes(b"half")
    assert vault.tasks.run_retention().leftovers == 0
    clock.ahead = timedelta(hours=25)
    seen = vault.tasks.preview_retention()
    assert seen.leftovers >= 2
    assert vault.tasks.run_retention() == seen
    assert set(_objects(home)) == kept
    vault.tasks.extract("kept", tmp_path / "new")


@pytest.mark.feature("C15")
def test_retention_deletes_by_age_and_number_what_the_preview_showed(
    vault: Vault, clock: _Clock, home: Recollectum
) -> None:
    for number in range(5):
        clock.ahead = timedelta(days=number)
        vault.tasks.save(f"t{number}", {"n": number})
    clock.ahead = timedelta(days=5)
    assert vault.tasks.preview_retention().tasks == ()
    seen = vault.tasks.preview_retention(days=4, count=3)
    assert [task for task, _ in seen.tasks] == ["t0", "t1"]
    assert len(list(every(lambda cursor: vault.tasks.list(cursor=cursor)))) == 5
    assert vault.tasks.run_retention(days=4, count=3) == seen
    assert {one.id for one in vault.tasks.list()} == {"t2", "t3", "t4"}
    clock.ahead = timedelta(days=7)
    vault.tasks.run_retention()
    assert len(_objects(home)) == 3
    with pytest.raises(InvalidInput, match="days cannot be -1"):
        vault.tasks.run_retention(days=-1)


def test_the_list_has_pages(vault: Vault) -> None:
    for number in range(7):
        vault.tasks.save(f"t{number}")
    page = vault.tasks.list(limit=3)
    assert len(page) == 3
    assert page.next
    everything = every(lambda cursor: vault.tasks.list(limit=3, cursor=cursor))
    assert sorted(one.id for one in everything) == [f"t{number}" for number in range(7)]
    with pytest.raises(InvalidInput, match="ask for 1 to 1000"):
        vault.tasks.list(limit=0)


def test_people_do_not_see_each_others_tasks(home: Recollectum, vault: Vault) -> None:
    vault.tasks.save("t", {"of": "ada"})
    other = home.vault("user:bob")
    assert other.tasks.find("t") is None
    assert other.tasks.list() == []
    other.tasks.save("t", {"of": "bob"})
    assert vault.tasks.get("t").data == {"of": "ada"}


@pytest.mark.parametrize("harm", ["flip", "cut", "swap", "missing", "other task"])
def test_a_damaged_archive_is_noticed_and_nothing_is_written(
    home: Recollectum, vault: Vault, tmp_path: Path, harm: str
) -> None:
    workspace = fill(tmp_path / "work", size=300_000)
    vault.tasks.save_workspace("t", workspace)
    parts = [path for path in _objects(home) if path.suffix == ".part"]
    first, second = parts[0].read_bytes(), parts[1].read_bytes()
    match harm:
        case "flip":
            parts[0].write_bytes(first[:100] + bytes([first[100] ^ 1]) + first[101:])
        case "cut":
            parts[0].write_bytes(first[:-1])
        case "swap":
            parts[0].write_bytes(second)
            parts[1].write_bytes(first)
        case "missing":
            parts[-1].unlink()
        case _:
            vault.tasks.save_workspace("u", workspace)
            theirs = next(path for path in _objects(home) if path.suffix == ".part" and path not in parts)
            parts[0].write_bytes(theirs.read_bytes())
    with pytest.raises(Damaged):
        vault.tasks.extract("t", tmp_path / "new")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["work"]
    vault.tasks.save_workspace("t", workspace, fresh=True)
    vault.tasks.extract("t", tmp_path / "new")
    assert contents(tmp_path / "new") == contents(workspace)


def test_a_record_of_another_version_or_task_is_noticed(home: Recollectum, vault: Vault) -> None:
    vault.tasks.save("t", {"n": 1})
    vault.tasks.save("u", {"n": 2})
    one, two = (path for path in _objects(home) if path.suffix == ".task")
    two.write_bytes(one.read_bytes())
    with pytest.raises(Damaged):
        vault.tasks.list()
    later = one.with_name("000000000007.task")
    one.rename(later)
    with pytest.raises(Damaged):
        vault.tasks.list()


def test_a_plain_home_keeps_plain_tasks_that_are_checked(tmp_path: Path) -> None:
    workspace = fill(tmp_path / "work")
    with Recollectum(settings={"encryption": "off"}) as home:
        vault = home.vault("user:ada")
        vault.tasks.save_workspace("t", workspace, {"n": 1})
        vault.tasks.extract("t", tmp_path / "new")
        assert contents(tmp_path / "new") == contents(workspace)
        part = next(path for path in _objects(home) if path.suffix == ".part")
        part.write_bytes(part.read_bytes()[:-1] + b"\0")
        with pytest.raises(Damaged):
            vault.tasks.extract("t", tmp_path / "again")


@pytest.mark.parametrize(
    ("task_id", "why"), [("", "is empty"), ("  ", "is empty"), ("x" * 201, "too long"), ("a\nb", "control character")]
)
def test_an_id_that_cannot_be_shown_is_refused(vault: Vault, task_id: str, why: str) -> None:
    with pytest.raises(InvalidInput, match=why):
        vault.tasks.save(task_id)


def test_nonsense_is_refused_and_changes_nothing(
    vault: Vault, home: Recollectum, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with pytest.raises(InvalidInput, match="is not a folder"):
        vault.tasks.save_workspace("t", tmp_path / "none")
    with pytest.raises(InvalidInput, match="JSON object"):
        vault.tasks.save("t", {"x": float("nan")})
    with pytest.raises(InvalidInput, match="not the version of a task"):
        vault.tasks.save("t", version=-1)
    with pytest.raises(NotFound, match="there is no task 't'"):
        vault.tasks.delete("t")
    vault.tasks.save("t")
    with pytest.raises(NotFound, match="has no workspace"):
        vault.tasks.extract("t", tmp_path / "new")
    workspace = fill(tmp_path / "work")
    vault.tasks.save_workspace("t", workspace)
    with pytest.raises(InvalidInput, match="is not empty"):
        vault.tasks.extract("t", workspace)
    with pytest.raises(InvalidInput, match="there is no folder"):
        vault.tasks.extract("t", tmp_path / "no" / "folder")
    (workspace / "src" / "deep").chmod(0)
    if os.geteuid():
        with pytest.raises(InvalidInput, match="cannot be read"):
            vault.tasks.save_workspace("t", workspace)
    (workspace / "src" / "deep").chmod(0o700)


def test_a_workspace_that_is_too_large_is_refused(tmp_path: Path) -> None:
    workspace = fill(tmp_path / "work", size=2_000_000)
    with Recollectum(settings={"tasks.max_mib": 1}) as home:
        with pytest.raises(InvalidInput, match=r"larger than 1 MiB.*tasks\.max_mib"):
            home.vault("user:ada").tasks.save_workspace("t", workspace)
        assert home.vault("user:ada").tasks.find("t") is None


def test_a_new_key_of_the_vault_leaves_its_tasks_readable(home: Recollectum, vault: Vault, tmp_path: Path) -> None:
    from recollectum.upkeep.rekey.vault_keys import rekey_owner

    workspace = fill(tmp_path / "work")
    vault.tasks.save_workspace("t", workspace, {"n": 1})
    rekey_owner(home._runtime, vault.owner)  # pyright: ignore[reportPrivateUsage]
    home.vault("user:ada").tasks.extract("t", tmp_path / "new")
    assert contents(tmp_path / "new") == contents(workspace)


def test_a_backup_has_the_key_of_the_tasks(home: Recollectum, vault: Vault, tmp_path: Path) -> None:
    from recollectum.storage.key_tables import TASK_KEY
    from recollectum.storage.sqlite.backup import drop_keys, keep_only_keys
    from recollectum.storage.sqlite.connection import connect

    vault.tasks.save("t")
    vault_id = vars(vault)["_runtime"].vault.id
    copy = tmp_path / "keys.db"
    source = connect(home.home.root / "keys.db")
    try:
        source.execute("VACUUM INTO ?", (str(copy),))
    finally:
        source.close()

    def names() -> set[object]:
        opened = connect(copy)
        try:
            return {name for (name,) in opened.execute("SELECT vault_id FROM vault_keys")}
        finally:
            opened.close()

    keep_only_keys(copy, [vault_id])
    assert names() == {vault_id, TASK_KEY + vault_id}
    drop_keys(copy, [vault_id])
    assert names() == set()
