"""Journey 7: a person is erased after a preview, with a receipt that shows every change made to it."""

import shlex
from pathlib import Path

import pytest

from tests.journeys.machines import Machine

pytestmark = pytest.mark.process


def test_a_person_is_erased_with_a_receipt_that_cannot_be_changed(laptop: Machine, tmp_path: Path) -> None:
    laptop.does("recollectum users add ben")
    laptop.does("recollectum remember --user ben The zyzzyva sleeps in the attic")
    # Without a terminal nothing happens, and the sentence says so.
    refused = laptop.types("recollectum purge user ben")
    assert refused.code == 2
    assert "Nothing was erased. This would permanently erase ben; add --yes to confirm." in refused.err
    with laptop.sits_at("recollectum purge user ben") as asked:
        preview = asked.waits_for("Continue? [y/N]")
        assert "memories 1" in preview
        asked.types("y")
        assert asked.end() == 0, asked.shown
    (receipt,) = {word.strip("(),.;:") for word in asked.shown.split() if word.startswith("prg_")}
    shown = laptop.does(f"recollectum purge receipts show {receipt} --json")
    file = tmp_path / "receipt.json"
    file.write_text(shown)
    verify = f"recollectum purge receipts verify {shlex.quote(str(file))}"
    assert laptop.types(verify).code == 0
    file.write_text(shown.replace('"done"', '"lost"', 1))
    assert laptop.types(verify).code == 1
    gone = laptop.types("recollectum recall --user ben zyzzyva")
    assert (gone.code, "there is no user 'ben'" in gone.err) == (1, True)
    assert not [path for path in laptop.home.rglob("*") if path.is_file() and b"zyzzyva" in path.read_bytes()]
