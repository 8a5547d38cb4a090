"""The command that adds a package is the one for the environment that the program is in."""

from pathlib import Path

import pytest

from recollectum.home.install_command import ProgramEnvironment, install_command


def installation(prefix: Path, **changed: object) -> ProgramEnvironment:
    """An environment in a folder, which is not active and has pip."""
    given: dict[str, object] = {"has_pip": True, "environ": {"PATH": "/nowhere"}, **changed}
    return ProgramEnvironment(prefix=prefix, python=prefix / "bin" / "python", **given)  # pyright: ignore[reportArgumentType]


def test_in_an_active_environment_it_is_pip() -> None:
    assert install_command("recollectum[local]") == "pip install 'recollectum[local]'"


def test_pip_on_the_path_is_enough_when_it_is_the_one_of_the_environment(tmp_path: Path) -> None:
    pip = tmp_path / "bin" / "pip"
    pip.parent.mkdir()
    pip.write_text("#!/bin/sh\n")
    pip.chmod(0o755)
    active = installation(tmp_path, environ={"PATH": str(pip.parent)})
    assert active.install_command("zstandard") == "pip install zstandard"


def test_elsewhere_the_interpreter_is_named(tmp_path: Path) -> None:
    there = installation(tmp_path / "my env")
    assert there.install_command("zstandard") == f"'{tmp_path}/my env/bin/python' -m pip install zstandard"


def test_without_pip_it_is_uv(tmp_path: Path) -> None:
    there = installation(tmp_path, has_pip=False)
    assert there.install_command("zstandard") == f"uv pip install --python {tmp_path}/bin/python zstandard"


@pytest.mark.parametrize(
    ("wanted", "line"),
    [
        (("recollectum[local]",), "uv tool install 'recollectum[all]'"),
        (("obstore", "zstandard"), "uv tool install 'recollectum[all]' --with obstore --with zstandard"),
    ],
)
def test_a_tool_of_uv_keeps_every_extra(wanted: tuple[str, ...], line: str, tmp_path: Path) -> None:
    (tmp_path / "uv-receipt.toml").touch()
    assert installation(tmp_path, has_pip=False).install_command(*wanted) == line


def test_a_tool_of_pipx_is_asked_by_its_name(tmp_path: Path) -> None:
    (tmp_path / "pipx_metadata.json").touch()
    there = installation(tmp_path)
    assert there.install_command("recollectum[local]") == "pipx runpip recollectum install 'recollectum[local]'"
    assert there.pip_command("--no-deps", "a") == "pipx runpip recollectum install --no-deps a"
