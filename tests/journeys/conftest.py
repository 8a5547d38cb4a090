"""Ada's laptop, on which the program was just installed: the home is made once, and every journey begins there."""

import re
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.journeys.machines import Machine

_CODE = re.compile(r"^    ((?:[0-9A-Z]{4}-){8}[0-9A-Z])$", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Begun:
    """A machine after `recollectum init`, with what that printed."""

    machine: Machine
    said: str
    code: str


@pytest.fixture(scope="session", name="begun")
def fixture_begun(tmp_path_factory: pytest.TempPathFactory) -> Begun:
    """Ada's machine, with the answer of `recollectum init`."""
    machine = Machine(tmp_path_factory.mktemp("laptop"))
    said = machine.does("recollectum init")
    (code,) = _CODE.findall(said)
    return Begun(machine, said, code)


@pytest.fixture(name="laptop")
def fixture_laptop(begun: Begun) -> Machine:
    """Ada's machine."""
    return begun.machine


@pytest.fixture(name="other_machine")
def fixture_other_machine(tmp_path: Path) -> Machine:
    """A machine on which nothing was done yet."""
    return Machine(tmp_path / "other")
