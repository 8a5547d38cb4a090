"""Only plain files inside the folder are taken from an archive, within limits; anything else leaves no trace."""

import gzip
import io
import os
import random
import resource
import stat
import tarfile
import tracemalloc
import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest

from recollectum.domain.errors import InvalidInput, NotFound, RecollectumError
from recollectum.home.extensions import unpacking
from recollectum.home.extensions.entry_names import MAX_DEPTH, EntryNames, check_entry_name
from recollectum.home.extensions.unpacking import MAX_BYTES, MAX_FILES, unpack
from tests.home.extensions.samples import files, tar_bytes, write_archives, write_folder, zip_bytes

#: How many spoiled archives are unpacked; the full run has 10,000.
FUZZED = int(os.environ.get("RECOLLECTUM_TEST_FUZZED_EXTENSIONS", "400"))


def _nothing(_: object) -> None:
    pass


@pytest.fixture(autouse=True)
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    # What is on the medium is not looked at here.
    for name in ("sync_file", "sync_folder"):
        monkeypatch.setattr(unpacking, name, _nothing)


def _unpacked(source: Path, staging: Path) -> dict[str, str]:
    staging.mkdir()
    unpack(source, staging)
    return {one.relative_to(staging).as_posix(): one.read_text("utf-8") for one in staging.rglob("*") if one.is_file()}


def _refused(tmp_path: Path, data: bytes, words: str) -> None:
    before = sorted(tmp_path.rglob("*"))
    source, staging = tmp_path / "bad", tmp_path / "staging"
    source.write_bytes(data)
    staging.mkdir()
    with pytest.raises(InvalidInput, match=words) as caught:
        unpack(source, staging)
    assert "\n" not in str(caught.value)
    assert [
        one for one in sorted(tmp_path.rglob("*")) if staging not in (one, *one.parents) and one != source
    ] == before


def test_every_form_gives_the_same_files(tmp_path: Path) -> None:
    sources = [write_folder(tmp_path / "folder"), *write_archives(tmp_path / "archives")]
    (tmp_path / "folder/.git").mkdir()
    (tmp_path / "folder/.git/config").write_text("left out", encoding="utf-8")
    for number, source in enumerate(sources):
        assert _unpacked(source, tmp_path / f"staging{number}") == files()


def test_files_are_private_and_a_program_can_still_be_run(tmp_path: Path) -> None:
    folder = write_folder(tmp_path / "folder")
    (folder / "server.js").chmod(0o777)
    _unpacked(folder, tmp_path / "staging")
    modes = {one.name: stat.S_IMODE(one.stat().st_mode) for one in (tmp_path / "staging").rglob("*")}
    assert modes["server.js"] == 0o700
    assert modes["CONTEXT.md"] == 0o600
    assert modes["commands"] == 0o700


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("../out", "leads out of its folder"),
        ("a/../../out", "leads out of its folder"),
        ("/etc/passwd", "absolute path"),
        ("a//b", "empty part"),
        ("a\\..\\b", "a character that a file name cannot have"),
        ("C:evil", "a character that a file name cannot have"),
        ("a\nb", "a character that a file name cannot have"),
        ("\u202eabc", "a character that a file name cannot have"),
        ("nul.txt", "device on Windows"),
        ("dot.", "ends with a space or a dot"),
        ("x" * 300, "longer than 240 bytes"),
        ("/".join("d" * (MAX_DEPTH + 1)), "nested deeper"),
    ],
)
def test_a_name_that_is_unsafe_anywhere_is_refused(tmp_path: Path, name: str, words: str) -> None:
    with pytest.raises(InvalidInput, match=words):
        check_entry_name(name)
    _refused(tmp_path, gzip.compress(tar_bytes({**files(), name: "x"})), words)


@pytest.mark.parametrize(
    "pair",
    [("A.md", "a.md"), ("x", "x"), ("Dir/a", "dir/b"), ("a", "a/b"), ("a/b", "a"), ("\u00e9", "e\u0301"), ("ß", "SS")],
)
def test_names_that_collide_somewhere_are_refused(tmp_path: Path, pair: tuple[str, str]) -> None:
    names = EntryNames()
    names.take(pair[0], is_folder=False)
    with pytest.raises(InvalidInput, match=r"twice|collides"):
        names.take(pair[1], is_folder=False)
    made = io.BytesIO()
    with tarfile.open(fileobj=made, mode="w") as archive:
        for name in pair:
            archive.addfile(tarfile.TarInfo(name))
    _refused(tmp_path, gzip.compress(made.getvalue()), "twice|collides")


@pytest.mark.parametrize(
    "kind",
    [tarfile.SYMTYPE, tarfile.LNKTYPE, tarfile.CHRTYPE, tarfile.BLKTYPE, tarfile.FIFOTYPE, tarfile.GNUTYPE_SPARSE],
)
def test_links_and_devices_in_a_tar_file_are_refused(tmp_path: Path, kind: bytes) -> None:
    info = tarfile.TarInfo("odd")
    info.type, info.linkname = kind, "/etc/passwd"
    _refused(tmp_path, gzip.compress(tar_bytes(None, info)), "is a link, a device|damaged")


def test_a_link_in_a_zip_file_is_refused(tmp_path: Path) -> None:
    made = io.BytesIO()
    with zipfile.ZipFile(made, "w") as archive:
        info = zipfile.ZipInfo("odd")
        info.external_attr = (stat.S_IFLNK | 0o777) << 16
        archive.writestr(info, "/etc/passwd")
    _refused(tmp_path, made.getvalue(), "is a link or a special file")


@pytest.mark.parametrize("method", [zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA])
def test_another_compression_in_a_zip_file_is_refused(tmp_path: Path, method: int) -> None:
    made = io.BytesIO()
    with zipfile.ZipFile(made, "w", method) as archive:
        archive.writestr("a", "b" * 1000)
    _refused(tmp_path, made.getvalue(), "compressed by another method")


def test_links_and_pipes_in_a_folder_are_refused(tmp_path: Path) -> None:
    for number in range(3):
        folder = write_folder(tmp_path / f"folder{number}")
        if number == 2:
            os.mkfifo(folder / "odd")
        else:
            (folder / "odd").symlink_to(("/etc/passwd", ".")[number])
        staging = tmp_path / f"staging{number}"
        staging.mkdir()
        with pytest.raises(InvalidInput, match="is a link or a special file"):
            unpack(folder, staging)


def test_what_is_no_archive_is_refused(tmp_path: Path) -> None:
    _refused(tmp_path, b"plain text", "is no zip, tar.gz or tar.zst file")
    with pytest.raises(NotFound, match="there is no folder or archive at"):
        unpack(tmp_path / "nothing", tmp_path)
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(InvalidInput, match="not a regular file"):
        unpack(tmp_path / "pipe", tmp_path)


def _zeros() -> dict[str, str]:
    return {"big": "\0" * (4 * 2**20)}


def _many() -> dict[str, str]:
    return {f"f{number}": "" for number in range(MAX_FILES + 1)}


def _long_header() -> bytes:
    header = tarfile.TarInfo("x" * 90)
    header.type, header.size = tarfile.XHDTYPE, 8 * 2**30
    return gzip.compress(header.tobuf() + bytes(100 * 2**20))


#: Each is made for its own test alone: they are large.
_BOMBS: dict[str, Callable[[], bytes]] = {
    "a zip of zeros": lambda: zip_bytes(_zeros()),
    "a tar.gz of zeros": lambda: gzip.compress(tar_bytes(_zeros())),
    "many empty files in a zip": lambda: zip_bytes(_many()),
    "many empty files in a tar.gz": lambda: gzip.compress(tar_bytes(_many())),
    "a header of gigabytes": _long_header,
    "a chain of headers": lambda: gzip.compress(b"".join(_long_names())),
}


def _long_names() -> list[bytes]:
    info = tarfile.TarInfo("././@LongLink")
    info.type, info.size = tarfile.GNUTYPE_LONGNAME, 1
    return [info.tobuf(tarfile.GNU_FORMAT), b"x".ljust(512, b"\0")] * 3000


@pytest.mark.parametrize(
    "bomb",
    [pytest.param(one, marks=pytest.mark.slow) if one == "many empty files in a tar.gz" else one for one in _BOMBS],
)
def test_a_bomb_ends_at_the_limit_in_bounded_memory(tmp_path: Path, bomb: str) -> None:
    data = _BOMBS[bomb]()
    tracemalloc.start()
    try:
        _refused(tmp_path, data, "as bombs do|more than 5,000 files|damaged")
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak < 4 * MAX_BYTES
    assert sum(one.stat().st_size for one in (tmp_path / "staging").rglob("*")) <= MAX_BYTES


_PARTS = ("a", "A", "..", ".", "", "b", "nul", "\u00e9", "e\u0301", "c\\d", "x" * 90, "~", "-rf", "\u202e", "a:b")
_TYPES = (tarfile.REGTYPE, tarfile.REGTYPE, tarfile.DIRTYPE, tarfile.SYMTYPE, tarfile.LNKTYPE, tarfile.FIFOTYPE, b"?")


def _made_up(chance: random.Random) -> bytes:
    """A tar file with a few entries of any name and type, one leading through the other."""
    made = io.BytesIO()
    with tarfile.open(
        fileobj=made, mode="w", format=chance.choice((tarfile.PAX_FORMAT, tarfile.GNU_FORMAT))
    ) as archive:
        for _ in range(chance.randrange(1, 5)):
            info = tarfile.TarInfo(
                chance.choice(("", "/")) + "/".join(chance.choices(_PARTS, k=chance.randrange(1, 4)))
            )
            info.type = chance.choice(_TYPES)
            info.linkname = chance.choice(("/etc/passwd", "..", "a", ""))
            archive.addfile(info)
    return made.getvalue()


def test_spoiled_archives_never_write_elsewhere_nor_end_in_an_unknown_error(tmp_path: Path) -> None:
    chance = random.Random(16)
    archives = [one.read_bytes() for one in write_archives(tmp_path / "archives")]
    plain = tar_bytes()
    source, room = tmp_path / "source", tmp_path / "room"
    room.mkdir()
    outside = sorted(tmp_path.iterdir())
    outcomes = {True: 0, False: 0}
    told: set[int] = set()
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    for number in range(FUZZED):
        # Spoiled inside the compression half of the time, or else the checksum of gzip ends most of them.
        data = bytearray(chance.choice((*archives, plain, plain, _made_up(chance))))
        for _ in range(chance.choice((0, 1, 1, 2, 8, 40))):
            data[chance.randrange(len(data))] = chance.randrange(256)
        if chance.random() < 0.2:
            del data[chance.randrange(len(data)) :]
        source.write_bytes(gzip.compress(data, 1) if not data.startswith((b"PK", b"\x1f\x8b", b"\x28\xb5")) else data)
        staging = room / str(number)
        staging.mkdir()
        try:
            unpack(source, staging)
            outcomes[True] += 1
        except RecollectumError as error:
            outcomes[False] += 1
            told.add(len(str(error).splitlines()))
        for one in staging.rglob("*"):
            assert one.is_file() or one.is_dir()
            assert not one.is_symlink()
    assert [one for one in sorted(tmp_path.iterdir()) if one != source] == outside
    assert sorted(room.iterdir()) == sorted(room / str(number) for number in range(FUZZED))
    assert all(outcomes.values())
    assert told == {1}
    # In KiB: what is unpacked is on the disk, and a header is no larger than the limit.
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 4 * MAX_BYTES / 1024
