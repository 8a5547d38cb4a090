"""Journey 9: the folder is copied to another machine, where the code stands in for the key that stayed behind."""

import shutil

import pytest

from tests.journeys.conftest import Begun
from tests.journeys.machines import Machine

pytestmark = pytest.mark.process


def test_a_copied_home_opens_with_the_code(begun: Begun, other_machine: Machine) -> None:
    begun.machine.does("recollectum remember The spare key is under the third pot")
    shutil.copytree(begun.machine.home, other_machine.home)
    # On a real second machine the old key file is not there; here it would be.
    for key in (begun.machine.folder / ".config").rglob("*.key"):
        key.rename(key.with_suffix(".away"))
    try:
        closed = other_machine.types("recollectum recall spare key")
        assert closed.code == 1
        assert "recollectum encryption recover" in closed.err
        other_machine.does("recollectum encryption recover", stdin=f"{begun.code}\n")
        assert "under the third pot" in other_machine.does("recollectum recall spare key")
    finally:
        for key in (begun.machine.folder / ".config").rglob("*.away"):
            key.rename(key.with_suffix(".key"))
