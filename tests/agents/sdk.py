"""Lets the Claude Agent SDK start the real Claude Code, with a scripted model that says what memory told it."""

import os
import re
import sys
from collections.abc import Generator, Iterable
from contextlib import contextmanager
from typing import cast

import pytest

from tests.agents.clis import CLAUDE_CODE, NO_NETWORK
from tests.agents.fake_model import FakeModel, Object, fake_model
from tests.tools.npm import node_package

_RECALLED = re.compile(r"<((?:recalled|about)-\w+)>(.*?)</\1>", re.DOTALL)
NOTHING = "I was told nothing."


def _told(body: Object) -> str:
    """Return the recalled texts of a request, each behind its bar, and the lines of the profile."""
    said = "\n".join(_texts(body.get("messages")))
    lines = [line for _, block in _RECALLED.findall(said) for line in block.splitlines()]
    return "; ".join(line[2:] for line in lines if line.startswith(("| ", "- "))) or NOTHING


def _texts(value: object) -> Generator[str]:
    if isinstance(value, str):
        yield value
    inside = cast("Object", value).values() if isinstance(value, dict) else value
    for inner in cast("Iterable[object]", inside) if isinstance(value, dict | list) else ():
        yield from _texts(inner)


@contextmanager
def claude_on_path(patch: pytest.MonkeyPatch) -> Generator[FakeModel]:
    """Put the program of Claude Code on the path, as for a person who installed it, and its model on this machine."""
    if sys.platform != "linux":
        pytest.skip("the package of Claude Code that the tests start is for Linux")
    program = node_package(CLAUDE_CODE.package, CLAUDE_CODE.version).with_name("claude-code-linux-x64")
    with fake_model(_told) as model:
        patch.setenv("PATH", str(program), prepend=os.pathsep)
        for name, value in {**NO_NETWORK, **CLAUDE_CODE.set_up(program, model)}.items():
            patch.setenv(name, value)
        yield model
