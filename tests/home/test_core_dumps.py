"""A program of Recollectum that crashes leaves no core dump, unless somebody asks for one."""

import os
import signal
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import pytest

from recollectum.home.core_dumps import VARIABLE
from tests.doors.mcp.stdio_requests import request

pytestmark = [pytest.mark.process, pytest.mark.skipif(sys.platform != "linux", reason="it reads /proc")]

_ASKED = (request("ping") + "\n").encode()
_PROGRAMS = {
    "the command line": ["-m", "recollectum", "mcp", "--user", "ada"],
    "the MCP server": ["-m", "recollectum.doors.mcp", "--user", "ada"],
}
#: A host that uses Recollectum as a library, and answers when it has imported it.
_LIBRARY = ["-c", "import sys, recollectum.doors.cli.entry; sys.stdin.readline(); print('{}', flush=True); input()"]


def _allow_dumps() -> None:
    import resource

    _, hard = resource.getrlimit(resource.RLIMIT_CORE)
    resource.setrlimit(resource.RLIMIT_CORE, (hard, hard))


def _leaves_a_dump(program: Sequence[str], place: Path, **environ: str) -> bool:
    """Whether a dump is left when the program aborts after its first answer."""
    with subprocess.Popen(
        [sys.executable, *program],
        cwd=place,
        env={**os.environ, "RECOLLECTUM_HOME": str(place / "home"), "PYTHONPATH": os.pathsep.join(sys.path), **environ},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        preexec_fn=_allow_dumps,
    ) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        process.stdin.write(_ASKED)
        process.stdin.flush()
        assert process.stdout.readline().startswith(b"{")
        process.send_signal(signal.SIGABRT)
        _, status = os.waitpid(process.pid, 0)
        process.returncode = -os.WTERMSIG(status)
    assert os.WTERMSIG(status) == signal.SIGABRT
    return os.WCOREDUMP(status)


def _needs_dumps(place: Path) -> None:
    if not _leaves_a_dump(_LIBRARY, place):
        pytest.skip("this machine makes no core dumps")


@pytest.mark.parametrize("program", _PROGRAMS.values(), ids=_PROGRAMS.keys())
def test_a_program_that_aborts_leaves_no_dump(program: list[str], tmp_path: Path) -> None:
    _needs_dumps(tmp_path)
    assert not _leaves_a_dump(program, tmp_path)


def test_a_dump_is_left_when_it_is_asked_for(tmp_path: Path) -> None:
    _needs_dumps(tmp_path)
    assert _leaves_a_dump(_PROGRAMS["the MCP server"], tmp_path, **{VARIABLE: "1"})


@pytest.mark.parametrize("module", ["recollectum.doors.hook", "recollectum.doors.hook.worker"])
def test_a_hook_has_no_right_to_a_dump(module: str, tmp_path: Path) -> None:
    with subprocess.Popen(
        [sys.executable, "-m", module, str(tmp_path / "home")],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        preexec_fn=_allow_dumps,
    ) as process:
        limits = Path(f"/proc/{process.pid}/limits")
        # It waits for its event on stdin; before that it has set its limit.
        while "Max core file size        0 " not in limits.read_text():
            assert process.poll() is None
        process.kill()
