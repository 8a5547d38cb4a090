"""Two processes on one vault for a moment; `python -m bench together` has eight for a minute."""

from pathlib import Path

import pytest

from tests.crashes.eight_together import write_together

pytestmark = pytest.mark.process

#: Far more than the two seconds that are promised: a machine that is busy with other tests must not fail this one.
_SOON = 30.0


@pytest.mark.feature("G11")
def test_what_one_process_writes_every_other_finds_by_text_at_once_and_soon_by_meaning(tmp_path: Path) -> None:
    found = write_together(tmp_path, processes=2, seconds=2.0, soon=_SOON)
    assert found.clean, (found.failed, found.not_by_text, found.not_by_meaning)
    assert found.writes >= 2
    assert found.others >= 1
