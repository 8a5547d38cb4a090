"""`pytest --features` prints the table with its proofs, and a false claim fails collection."""

import re
from pathlib import Path

import pytest

from tests.plugins.features import NO_PROOF, PAGE, Feature, listing, read_features, summary
from tests.plugins.runs import run_pytest

pytestmark = pytest.mark.process

_MARK = re.compile(r'^ *@pytest\.mark\.feature\("([A-Z]\d+)"\)$', re.MULTILINE)
_CLAIM = """
import pytest

@pytest.mark.feature({id!r})
@pytest.mark.parametrize("case", [1, 2])
def test_claims(case):
    raise AssertionError("it ran")
"""


def test_rows_are_read() -> None:
    page = (
        "| id | what it does | state |\n|---|---|---|\n| G1 | one \\| two | built |\n| A12 | three | built for text |\n"
    )
    assert read_features(page) == [Feature("G1", "one \\| two", "built"), Feature("A12", "three", "built for text")]


def test_a_feature_without_proof_says_so() -> None:
    features = [Feature("G1", "one.", "built"), Feature("G2", "two.", "planned")]
    assert list(listing(features, {"G1": ["test_x.py::test_y"]})) == [
        "G1   [built] one.",
        "       test_x.py::test_y",
        "G2   [planned] two.",
        f"       {NO_PROOF}",
    ]


def test_every_feature_is_proven_at_a_door() -> None:
    root = PAGE.parents[1]
    proofs: dict[str, list[str]] = {}
    for path in sorted((root / "tests").rglob("test_*.py")):
        for id_ in _MARK.findall(path.read_text(encoding="utf-8")):
            proofs.setdefault(id_, []).append(path.relative_to(root).as_posix())
    features = read_features(PAGE.read_text(encoding="utf-8"))
    (line,) = summary(features, proofs, root)
    assert line.startswith("80 of 80 features are proven, 80 of them at a door:")


def test_a_feature_that_no_door_proves_is_named(tmp_path: Path) -> None:
    (tmp_path / "test_x.py").write_text("def test_y(): ...")
    (tmp_path / "test_z.py").write_text("from recollectum import Recollectum")
    features = [Feature(one, "", "built") for one in ("G1", "G2", "G3", "G4")]
    proofs = {"G1": ["test_x.py::test_y"], "G2": ["test_z.py::test_a"], "G3": ["tests/doors/test_b.py::test_b"]}
    count, missing = summary(features, proofs, tmp_path)
    assert count.startswith("3 of 4 features are proven, 2 of them at a door:")
    assert missing == "not at a door: G1, G4"


def test_the_table_is_printed_and_nothing_runs(tmp_path: Path) -> None:
    run = run_pytest(tmp_path, _CLAIM.format(id="M10"), "--features", plugin="features")
    assert run.returncode == pytest.ExitCode.OK, run.stdout + run.stderr
    lines = [line.strip() for line in run.stdout.splitlines()]
    row = next(number for number, line in enumerate(lines) if line.startswith("M10 "))
    assert lines[row + 1] == "test_it.py::test_claims"
    assert lines.count("test_it.py::test_claims") == 1
    assert NO_PROOF in lines
    assert any(line.startswith("1 of 80 features are proven, 0 of them at a door:") for line in lines)


@pytest.mark.parametrize("option", ["-n0", "-n1", "--features"])
def test_a_claim_that_the_page_does_not_list_fails_collection(tmp_path: Path, option: str) -> None:
    run = run_pytest(tmp_path, _CLAIM.format(id="Z99"), option, plugin="features")
    assert run.returncode != pytest.ExitCode.OK
    assert "it ran" not in run.stdout
    assert "test_claims[1] is marked feature('Z99'), which docs/features.md does not list" in run.stdout
