"""The workflows call what exists here, and only the job that publishes may.

No workflow is run here: that the actions exist, and that macOS and Windows pass, is not tried.
"""

import re
import tomllib
from collections.abc import Iterator
from typing import Any, cast

import pytest
import yaml

from tests.docs.pages import ROOT

FOLDER = ROOT / ".github" / "workflows"
PAGES = {path.stem: path.read_text(encoding="utf-8") for path in sorted(FOLDER.glob("*.yml"))}
#: YAML reads the word `on` as a truth value.
WORKFLOWS = {name: cast("dict[Any, Any]", yaml.safe_load(text)) for name, text in PAGES.items()}
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
TESTED = [one.rpartition(" ")[2] for one in PROJECT["project"]["classifiers"] if re.search(r"Python :: 3\.\d+$", one)]


def steps(workflow: str) -> Iterator[dict[str, Any]]:
    """Every step of a workflow."""
    for job in WORKFLOWS[workflow]["jobs"].values():
        yield from job["steps"]


def lines(workflow: str) -> list[str]:
    """Every line of shell in a workflow."""
    return [line for step in steps(workflow) for line in str(step.get("run", "")).splitlines() if line]


def test_there_are_two() -> None:
    assert set(WORKFLOWS) == {"publish", "test"}


@pytest.mark.parametrize("workflow", WORKFLOWS)
def test_each_target_module_group_and_marker_exists(workflow: str) -> None:
    said = "\n".join(lines(workflow))
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    assert all(re.search(rf"^{target}:", makefile, re.MULTILINE) for target in re.findall(r"^make (\w+)", said, re.M))
    assert all((ROOT / f"{one.replace('.', '/')}.py").is_file() for one in re.findall(r"-m (tools\.\w+)", said))
    assert set(re.findall(r"--group (\w+)", said)) <= PROJECT["dependency-groups"].keys()
    markers = {one.partition(":")[0].partition("(")[0] for one in PROJECT["tool"]["pytest"]["ini_options"]["markers"]}
    assert set(re.findall(r"not (\w+)", said)) <= markers
    assert all((ROOT / one).exists() for one in re.findall(r"--ignore=(\S+)", said))


@pytest.mark.parametrize("workflow", WORKFLOWS)
def test_each_job_waits_for_one_that_exists_and_has_a_limit(workflow: str) -> None:
    jobs = WORKFLOWS[workflow]["jobs"]
    for job in jobs.values():
        needed = job.get("needs", [])
        assert {needed} if isinstance(needed, str) else set(needed) <= jobs.keys()
        assert job["timeout-minutes"] <= 60
    uploaded = {step["with"]["name"] for step in steps(workflow) if "upload-artifact" in step.get("uses", "")}
    fetched = {step["with"]["name"] for step in steps(workflow) if "download-artifact" in step.get("uses", "")}
    assert fetched <= uploaded


def test_the_versions_that_are_promised_are_tested_on_three_systems() -> None:
    jobs = WORKFLOWS["test"]["jobs"]
    assert jobs["linux"]["strategy"]["matrix"]["python"] == TESTED
    assert [str(one) for one in jobs["systems"]["strategy"]["matrix"]["python"]] == [TESTED[0], TESTED[-1]]
    assert jobs["systems"]["strategy"]["matrix"]["system"] == ["ubuntu-latest", "macos-latest", "windows-latest"]
    assert PROJECT["project"]["requires-python"] == f">={TESTED[0]}"


def test_only_the_last_job_may_publish_and_without_a_secret() -> None:
    jobs = WORKFLOWS["publish"]["jobs"]
    publishing = {name for name, job in jobs.items() for step in job["steps"] if "publish@" in step.get("uses", "")}
    assert publishing == {"publish"}
    assert jobs["publish"]["environment"] == "release"
    assert set(jobs["publish"]["needs"]) == {"build", "install"}
    assert jobs["publish"]["permissions"] == {"id-token": "write"}
    assert jobs["publish"]["steps"][-1]["with"]["attestations"] is True
    assert all(one["permissions"] == {"contents": "read"} for one in WORKFLOWS.values())
    assert "secrets." not in "".join(PAGES.values())
    # Only a tag starts it, and the tag is compared before anything is built.
    assert WORKFLOWS["publish"][True] == {"push": {"tags": ["v*"]}}
    ran = lines("publish")
    assert ran.index('python -m tools.release check "$GITHUB_REF_NAME"') < ran.index("make dist")


def test_each_file_that_is_published_is_attested() -> None:
    build = WORKFLOWS["publish"]["jobs"]["build"]["steps"]
    attested = next(step["with"]["subject-path"] for step in build if "attest" in step.get("uses", ""))
    uploaded = next(step["with"]["path"] for step in build if "upload-artifact" in step.get("uses", ""))
    assert attested == uploaded == "dist/*.whl\ndist/*.tar.gz\n"


def test_no_address_is_written_into_what_builds_and_publishes() -> None:
    # Each tool knows its own: a registry of packages is chosen by those who run it.
    files = [ROOT / "Makefile", ROOT / "RELEASING.md", ROOT / "deploy" / "Dockerfile"]
    pages = [*PAGES.values(), *(path.read_text(encoding="utf-8") for path in files)]
    assert not [page for page in pages if "://" in page]


def test_the_guide_to_releases_names_what_exists() -> None:
    guide = (ROOT / "RELEASING.md").read_text(encoding="utf-8")
    ours = {"recollectum", *(path.parent.name for path in ROOT.glob("packages/*/pyproject.toml"))}
    assert set(re.findall(r"`(recollectum[\w-]*)`", guide)) == ours
    assert set(re.findall(r"workflow `(\w+)`", guide)) <= WORKFLOWS.keys()
    assert set(re.findall(r"`(\w+\.yml)`", guide)) <= {f"{name}.yml" for name in WORKFLOWS}
    assert all((ROOT / f"{one.replace('.', '/')}.py").is_file() for one in re.findall(r"-m (tools\.\w+)", guide))


def test_the_readme_names_the_two_commands_that_do_everything_and_ci_runs_the_second() -> None:
    shown = (ROOT / "README.md").read_text(encoding="utf-8")
    targets = (ROOT / "Makefile").read_text(encoding="utf-8")
    for command in ("demo", "test"):
        assert f"\nmake {command} " in shown
        assert f"\n{command}: " in targets
    assert (ROOT / ".ci" / "run").read_text(encoding="utf-8").splitlines()[-1] == "make test"
