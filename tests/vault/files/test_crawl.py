"""Walking a folder: its limits, and what is remembered of a walk."""

import time
from pathlib import Path

import pytest

from recollectum.vault.files.crawl import crawl
from recollectum.vault.files.crawl_cache import CrawlCache, RefreshThrottle

MOST = 1 << 20


def write(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)


@pytest.mark.feature("C16")
def test_a_crawl_is_remembered_for_its_folder_rules_and_depth(tmp_path: Path) -> None:
    now = [0.0]
    cache = CrawlCache(lambda: now[0])

    def names(depth: int = 9) -> list[str]:
        walked = cache.find(tmp_path, most=MOST, ttl_seconds=2, depth=depth)
        assert walked is not None
        return [file.path for file in walked.files]

    write(tmp_path / "a.md", "a")
    assert names() == ["a.md"]
    write(tmp_path / "sub" / "b.md", "b")
    assert names() == ["a.md"]
    assert names(depth=0) == ["a.md"]
    write(tmp_path / ".gitignore", "a.md")
    assert names() == ["sub/b.md"]
    write(tmp_path / "c.md", "c")
    now[0] = 2.0
    assert names() == ["c.md", "sub/b.md"]


def test_a_crawl_ends_at_its_deadline_and_at_its_depth(tmp_path: Path) -> None:
    write(tmp_path / "a" / "b" / "c.md", "deep")
    assert crawl(tmp_path, most=MOST, deadline=time.monotonic() - 1) is None
    shallow = crawl(tmp_path, most=MOST, depth=1)
    assert shallow is not None
    assert shallow.skipped == (("a/b", "lies more than 1 folders deep"),)


def test_a_crawl_remembers_only_so_many(tmp_path: Path) -> None:
    cache = CrawlCache(lambda: 0.0)
    folders = [tmp_path / str(number) for number in range(40)]
    for folder in folders:
        folder.mkdir()
        cache.find(folder, most=MOST, ttl_seconds=9)
    for folder in folders:
        write(folder / "a.md", "a")
    walks = [cache.find(folder, most=MOST, ttl_seconds=9) for folder in folders]
    assert walks[0] is not None
    assert walks[-1] is not None
    # The first was forgotten and walked again.
    assert len(walks[0].files) == 1


def test_one_look_in_its_time() -> None:
    now = [0.0]
    looks = RefreshThrottle(CrawlCache(), lambda: now[0])
    assert looks.is_due(5)
    now[0] = 4.9
    assert not looks.is_due(5)
    now[0] = 5.0
    assert looks.is_due(5)
    assert looks.is_due(0)
