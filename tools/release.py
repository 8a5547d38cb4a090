"""Prepares and checks a version: `python -m tools.release prepare 0.2.0`, `python -m tools.release check v0.2.0`.

`prepare` sets the version and turns what is unreleased in the changelog into its section; `check` is what the workflow
that publishes asks of a tag. RELEASING.md has the other steps.
"""

import argparse
import re
import sys
import tomllib
from datetime import UTC, datetime
from pathlib import Path

ROOT = Path(__file__).parents[1]
UNRELEASED = "## Unreleased\n"
_VERSION = re.compile(r"\d+\.\d+\.\d+")
_HEADING = re.compile(r"^## (.+)$", re.MULTILINE)
_RELEASED = re.compile(r"(?P<version>\d+\.\d+\.\d+) - (?P<day>\d{4}-\d{2}-\d{2})")


class NotReady(Exception):
    """The version cannot be prepared or published; the message says why."""


def prepare(root: Path, version: str, day: str) -> None:
    """Set the version of the project, and give the section of the changelog its heading."""
    if not _VERSION.fullmatch(version):
        raise NotReady(f"{version!r} is not a version; write three numbers, such as 0.2.0")
    project, changelog = root / "pyproject.toml", root / "CHANGELOG.md"
    text = changelog.read_text(encoding="utf-8")
    released = [as_numbers(one) for one in released_versions(text)]
    if released and as_numbers(version) <= max(released):
        raise NotReady(
            f"{version} is not above the last version, {'.'.join(map(str, max(released)))}; choose a higher one"
        )
    unreleased = text.partition(UNRELEASED)[2].split("\n## ")[0]
    if "\n- " not in unreleased:
        raise NotReady("the changelog has no line under Unreleased; there is nothing to publish")
    changelog.write_text(text.replace(UNRELEASED, f"{UNRELEASED}\n## {version} - {day}\n", 1), encoding="utf-8")
    settings = project.read_text(encoding="utf-8")
    project.write_text(re.sub(r'^version = ".*"$', f'version = "{version}"', settings, count=1, flags=re.M), "utf-8")


def check(root: Path, tag: str) -> None:
    """Raise NotReady unless the tag names the version of the project, and the changelog tells of it first."""
    version = tomllib.loads((root / "pyproject.toml").read_text(encoding="utf-8"))["project"]["version"]
    if tag != f"v{version}":
        raise NotReady(f"the tag is {tag}, but the project is at {version}; tag it v{version}")
    released = released_versions((root / "CHANGELOG.md").read_text(encoding="utf-8"))
    if version not in released[:1]:
        raise NotReady(f"the changelog has no section {version}; run: python -m tools.release prepare {version}")


def released_versions(changelog: str) -> list[str]:
    """Return the versions that the changelog has sections for, as they follow each other; refuse another heading."""
    found: list[str] = []
    for heading in _HEADING.findall(changelog):
        if heading == "Unreleased":
            continue
        match = _RELEASED.fullmatch(heading)
        if match is None:
            raise NotReady(f"{heading!r} is no heading of the changelog; write 'VERSION - YYYY-MM-DD'")
        found.append(match["version"])
    return found


def as_numbers(version: str) -> tuple[int, ...]:
    """Return a version as numbers, which compare as versions do."""
    return tuple(int(part) for part in version.split("."))


def main(arguments: list[str]) -> int:
    """Run one of both steps; return 1 when the version is not ready."""
    parser = argparse.ArgumentParser(prog="python -m tools.release")
    parser.add_argument("step", choices=("prepare", "check"))
    parser.add_argument("name", help="the version to prepare, or the tag to check")
    asked = parser.parse_args(arguments)
    try:
        if asked.step == "prepare":
            prepare(ROOT, asked.name, datetime.now(UTC).date().isoformat())
        else:
            check(ROOT, asked.name)
    except NotReady as error:
        print(error, file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
