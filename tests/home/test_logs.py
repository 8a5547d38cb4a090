"""The log of a home: named events, an allow-list of fields, private files, and nothing that anybody said."""

import json
import stat
import sys
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from recollectum.home.logs import FIELDS, Log, places, to_line
from recollectum.home.paths import Home

CANARY = "zqxcanaryzqx"


def _lines(home: Home) -> list[dict[str, Any]]:
    path = home.root / "logs/recollectum.jsonl"
    return [json.loads(line) for line in path.read_text().splitlines()] if path.exists() else []


def test_levels_and_fields(tmp_path: Path) -> None:
    home = Home(tmp_path)
    for level, expected in (("off", 0), ("error", 1), ("info", 2), ("debug", 3)):
        log = Log(home, level)
        log.error("a.b", {"count": 1})
        log.info("a.b")
        log.debug("a.b")
        log.close()
        assert len(_lines(home)) == expected
        (tmp_path / "logs/recollectum.jsonl").unlink(missing_ok=True)


@pytest.mark.feature("C8")
def test_what_is_not_on_the_list_is_dropped_and_counted() -> None:
    told = {"count": 2, "content": CANARY, "error": f"{CANARY} {CANARY}", "session": f"ses_{CANARY}", "state": CANARY}
    line = json.loads(to_line("info", "x.y", told, "now"))
    assert line == {"at": "now", "level": "info", "event": "x.y", "count": 2, "dropped": 4}
    assert json.loads(to_line("info", CANARY + " 1", {}, "now"))["event"] == "log.unnamed"


@given(st.dictionaries(st.sampled_from(sorted(FIELDS)) | st.text(), st.text(alphabet="zqx \n\"'{}:é") | st.integers()))
def test_no_text_passes_through_any_field(fields: dict[str, object]) -> None:
    line = to_line("error", "x.y", fields, "now")
    assert "\n" not in line
    for value in json.loads(line).values():
        # A class of an error is a word of code; nothing with a space or a sign in it is.
        assert not isinstance(value, str) or " " not in value


def _raised() -> ValueError:
    secret = CANARY
    try:
        raise KeyError(secret)
    except KeyError as error:
        try:
            raise ValueError(f"it was {secret}") from error
        except ValueError as caught:
            return caught


def test_a_traceback_is_places_without_messages_or_values(tmp_path: Path) -> None:
    home = Home(tmp_path)
    log = Log(home, "error")
    log.failure("x.y", _raised())
    log.close()
    (line,) = _lines(home)
    assert line["error"] == "ValueError"
    assert len(line["places"]) == 2
    assert all(place.startswith("home/test_logs.py:") for place in line["places"])
    assert CANARY not in (tmp_path / "logs/recollectum.jsonl").read_text()
    assert list(places(ValueError(CANARY))) == []


@pytest.mark.skipif(sys.platform == "win32", reason="there are no such modes")
def test_files_are_private_and_turned_over(tmp_path: Path) -> None:
    log = Log(Home(tmp_path), "info")
    for _ in range(12_000):
        log.info("retention.sweep", {name: 1 for name in ("archived", "deleted", "marked", "purged", "waiting")})
    log.close()
    files = list((tmp_path / "logs").iterdir())
    assert len(files) >= 2
    assert {stat.S_IMODE(one.stat().st_mode) for one in files} == {0o600}
    assert stat.S_IMODE((tmp_path / "logs").stat().st_mode) == 0o700
    assert all(one.stat().st_size <= 1_000_000 for one in files)


def test_a_log_that_cannot_be_written_stops_nothing(tmp_path: Path) -> None:
    (tmp_path / "logs").write_text("in the way")
    Log(Home(tmp_path), "info").info("x.y")
