"""Whatever a stream says, nothing is written outside the new folder, and the folder appears whole or not at all."""

import json
import os
import random
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from recollectum.domain.errors import Damaged, RecollectumError
from recollectum.vault.task_store.sealing import TaskSeal
from recollectum.vault.task_store.versions import TaskFiles
from recollectum.vault.tasks.extraction import extract
from recollectum.vault.tasks.snapshot import WorkspaceReader, stays_inside
from tests.vault.tasks.workspaces import contents, fill

FUZZED = int(os.environ.get("TASK_FUZZ", "300"))


def _header(**fields: object) -> bytes:
    data = json.dumps(fields).encode()
    return len(data).to_bytes(4, "big") + data


def _file(path: str, content: bytes = b"x", **more: object) -> bytes:
    return _header(**{"p": path, "t": "f", "m": 0o644, "s": len(content), "n": 0, **more}) + content


def _end(count: int) -> bytes:
    return _header(t="end", n=count)


@pytest.mark.feature("C15")
@pytest.mark.parametrize(
    "entries",
    [
        [_file("../out")],
        [_file("/etc/out")],
        [_file("a/../../out")],
        [_file("no-folder/x")],
        [_file("")],
        [_file(".")],
        [_file("..")],
        [_file("a\0b")],
        [_file("a"), _file("a")],
        [_header(p="d", t="d", m=0o755), _header(p="d", t="d", m=0o755)],
        [_header(p="a", t="l", l="b"), _file("a")],
        [_header(p="a", t="l", l="/etc/passwd")],
        [_header(p="a", t="l", l="../x")],
        [_header(p="a", t="l", l="b/../../x")],
        [_header(p="a", t="l", l="")],
        [_header(p="d", t="l", l="."), _file("d/x")],
        [_header(p="a", t="b", m=0o644)],
        [_header(p="a", t="f", m=0o644, s=-1, n=0)],
        [_header(p="a", t="f", m=0o644, s=2**80, n=0)],
        [_header(p="a", t="f", m=0o644, s=True, n=0)],
        [_header(p="a", t="f", m=0o644, s=5, n=0) + b"xy"],
        [(2**31).to_bytes(4, "big")],
        [(4).to_bytes(4, "big") + b"null"],
        [(3).to_bytes(4, "big") + b"{{{"],
    ],
)
def test_a_hostile_stream_is_refused_and_leaves_nothing(entries: list[bytes], tmp_path: Path) -> None:
    room = tmp_path / "room"
    room.mkdir()
    with pytest.raises(Damaged):
        extract([b"".join(entries), _end(len(entries))], room / "new")
    assert list(room.iterdir()) == []
    assert list(tmp_path.iterdir()) == [room]


@pytest.mark.parametrize("tail", [b"", _end(0), _end(2), _end(1) + b"more"])
def test_a_stream_with_another_end_is_refused(tail: bytes, tmp_path: Path) -> None:
    with pytest.raises(Damaged):
        extract([_file("a"), tail], tmp_path / "new")
    assert list(tmp_path.iterdir()) == []


def test_special_modes_are_dropped_and_closed_folders_are_kept(tmp_path: Path) -> None:
    stream = [_header(p="d", t="d", m=0o555), _file("d/x", m=0o4755), _file("y", m=0o400), _end(3)]
    assert extract(stream, tmp_path / "new") == 3
    assert {name: mode for name, (_, mode, _) in contents(tmp_path / "new").items()} == {
        "d": 0o555,
        "d/x": 0o755,
        "y": 0o400,
    }
    with pytest.raises(Damaged):
        extract([_header(p="d", t="d", m=0o000), _file("d/x"), _end(7)], tmp_path / "other")
    (tmp_path / "new" / "d").chmod(0o755)


@pytest.mark.parametrize(
    ("path", "target", "inside"),
    [
        ("a", "b", True),
        ("a", "./b/c", True),
        ("a/b", "../c", True),
        ("a/b", "../../c", False),
        ("a", "..", False),
        ("a/b", "..", True),
        ("a", "b/../c", False),
        ("a", "/b", False),
        ("a", "", False),
    ],
)
def test_only_links_that_stay_inside_are_kept(path: str, target: str, inside: bool) -> None:  # noqa: FBT001
    assert stays_inside(path, target) is inside


def _mutants(stream: bytes, count: int) -> Iterator[bytes]:
    chance = random.Random(7)
    words = (b"..", b"/", b'"t":"l"', b"\0", b"9999999999", b'"p":"../x"', b"{", b"\xff", b'"l":"/etc"')
    for _ in range(count):
        made = bytearray(stream)
        for _ in range(chance.randint(1, 4)):
            place = chance.randrange(len(made))
            match chance.randrange(5):
                case 0:
                    made[place] ^= 1 << chance.randrange(8)
                case 1:
                    del made[place : place + chance.randint(1, 40)]
                case 2:
                    made[place:place] = chance.choice(words)
                case 3:
                    made[place : place + 1] = chance.choice(words)
                case _:
                    source = chance.randrange(len(made))
                    made[place:place] = made[source : source + chance.randint(1, 80)]
            made = made or bytearray(b"x")
        yield bytes(made)


@pytest.mark.feature("C15")
def test_fuzzed_streams_raise_one_kind_of_error_and_stay_inside(tmp_path: Path) -> None:
    workspace = fill(tmp_path / "work", size=200)
    stream = b"".join(WorkspaceReader(workspace, 2**30).pieces())
    outside = contents(tmp_path)
    room = tmp_path / "room"
    refused = 0
    for made in _mutants(stream, FUZZED):
        room.mkdir()
        try:
            extract([made[:100], made[100:]], room / "new")
        except RecollectumError:
            refused += 1
            assert list(room.iterdir()) == []
        assert {name for name in contents(tmp_path) if not name.startswith("room")} == set(outside)
        _clear(room)
    assert refused > FUZZED // 3


@pytest.mark.feature("C15")
def test_fuzzed_records_raise_one_kind_of_error() -> None:
    chance = random.Random(3)
    seal = TaskSeal("vlt_1", None)
    name = seal.task_name("t")

    class _One:
        data = b""

        def read(self, _: str) -> bytes:
            return self.data

    objects = _One()
    files = TaskFiles(objects, seal, "vlt_1")  # pyright: ignore[reportArgumentType]
    good: dict[str, object] = {
        "id": "t",
        "version": 1,
        "created_at": "2026-01-01T00:00:00+00:00",
        "saved_at": "2026-01-01T00:00:00+00:00",
        "saved_by": "process",
        "data": {},
        "workspace": {"files": 1, "folders": 0, "links": 0, "bytes": 1, "stored_bytes": 1, "left_out": []},
        "deleted": False,
        "parts": [],
        "save": "00",
        "ancestors": [],
    }
    objects.data = seal.seal_record(name, 1, json.dumps(good).encode())
    assert files.read(name, 1) is not None
    odd: tuple[object, ...] = (None, [], {}, "x", -1, 10**400, 1.5, [[1]], {"a": 1}, "\ud800", [["a"]], ["../x"], True)
    for _ in range(FUZZED):
        made = {**good, chance.choice([*good, "extra"]): chance.choice(odd)}
        text = json.dumps(made)
        if chance.random() < 0.3:
            cut = chance.randrange(len(text))
            text = text[:cut] + chance.choice(("", "[", "}", '"')) + text[cut + 1 :]
        objects.data = seal.seal_record(name, 1, text.encode())
        if chance.random() < 0.2:
            spoiled = bytearray(objects.data)
            spoiled[chance.randrange(len(spoiled))] ^= 1
            objects.data = bytes(spoiled)
        try:
            found = files.read(name, 1)
        except RecollectumError:
            continue
        assert found is not None
        assert (found.task.id, found.task.version) == ("t", 1)


def _clear(room: Path) -> None:
    for folder, names, files in os.walk(room):
        for name in names:
            if not (Path(folder) / name).is_symlink():
                (Path(folder) / name).chmod(0o700)
        del files
    shutil.rmtree(room)
