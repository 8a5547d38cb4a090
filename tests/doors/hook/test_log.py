"""The hook's log: bounded, private, and without a word of content."""

from datetime import UTC, datetime
from pathlib import Path

from recollectum.domain.errors import NotFound
from recollectum.doors.hook.log import MAX_BYTES, log_error, log_file
from recollectum.home.paths import Home

NOW = datetime(2026, 11, 15, tzinfo=UTC)


def test_others_errors_are_named_by_kind_alone(tmp_path: Path) -> None:
    home = Home(tmp_path)
    log_error(home, "answer", ValueError("my secret plan"), NOW)
    log_error(home, "answer", NotFound("there is no\nuser"), NOW)
    text = log_file(home).read_text()
    assert "secret" not in text
    assert text.splitlines()[1].endswith("answer NotFound: there is no user")
    assert log_file(home).stat().st_mode & 0o077 == 0


def test_it_never_grows_past_its_bound(tmp_path: Path) -> None:
    home = Home(tmp_path)
    for number in range(3000):
        log_error(home, "answer", NotFound(f"there is no user {number} {'x' * 40}"), NOW)
    assert log_file(home).stat().st_size <= MAX_BYTES + 2000
    assert "user 2999" in log_file(home).read_text()


def test_a_place_that_cannot_be_written_is_no_reason_to_fail(tmp_path: Path) -> None:
    (tmp_path / "run").write_text("a file")
    log_error(Home(tmp_path), "answer", ValueError("x"), NOW)
