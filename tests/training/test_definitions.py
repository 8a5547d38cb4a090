"""The definitions of ontologies and of WordNet: what is read, in which order, and what is left out."""

import json
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest
import zstandard

from training.definitions import ONTOLOGIES, lines_of, read_definitions, write_definitions
from training.glosses import glosses, passages

_TERMS = {
    "X:3": {"label": "skin", "description": "The outer\n covering.", "ancestors": {"X:9": 2, "X:1": 1}},
    "X:2": {"label": "liver", "description": "An organ.", "ancestors": {"X:0": 1}, "synonyms": ["iecur", "jecur", "a"]},
    "X:1": {"label": "hair", "description": "A filament.", "ancestors": {"X:1": 1}},
    "X:4": {"label": "gone", "description": "Not used.", "deprecated": True},
    "X:5": {"label": "bare"},
}


def test_children_of_one_parent_are_beside_each_other_and_terms_without_a_definition_are_left_out() -> None:
    assert list(lines_of(_TERMS)) == [
        "liver, iecur, jecur: An organ.",
        "hair: A filament.",
        "skin: The outer covering.",
    ]


def test_the_latest_version_in_the_wheel_is_written_and_read_once_for_each_line(tmp_path: Path) -> None:
    wheel, file = tmp_path / "some.whl", tmp_path / "definitions.txt.xz"
    older = {"X:1": {"label": "older", "description": "Gone."}}
    with zipfile.ZipFile(wheel, "w") as archive:
        for name in ONTOLOGIES:
            for version, terms in (("v2024-01-01", older), ("v2026-01-01", _TERMS)):
                packed = zstandard.ZstdCompressor().compress(json.dumps(terms).encode())
                archive.writestr(f"guide/data/{name}-ontology-{version}.json.zst", packed)
    assert write_definitions(wheel, file) == 3
    assert read_definitions(file) == list(lines_of(_TERMS))


def test_a_passage_is_made_of_neighbours(tmp_path: Path) -> None:
    lines = [f"00001740 03 n 01 word{number} 0 000 | meaning {number}  " for number in range(40)]
    for part in ("noun", "verb", "adj", "adv"):
        (tmp_path / f"data.{part}").write_text("\n".join(["  1 the licence", *lines]), encoding="latin-1")
    found = glosses(tmp_path)
    assert len(found) == 160
    assert found[1] == "word1: meaning 1"
    made = passages(found, 20, 7)
    assert made == passages(found, 20, 7) != passages(found, 20, 8)
    assert len(made) == 20
    assert all(one in ". ".join(found) for one in made)


@pytest.mark.process
@pytest.mark.parametrize(
    ("wheel", "file", "told"),
    [("nothing.whl", "out.xz", "nothing.whl is no wheel"), ("empty.whl", "none/out.xz", "out.xz cannot be written")],
)
def test_a_wrong_path_is_named_in_one_sentence(tmp_path: Path, wheel: str, file: str, told: str) -> None:
    with zipfile.ZipFile(tmp_path / "empty.whl", "w"):
        pass
    command = [sys.executable, "-m", "training.definitions", str(tmp_path / wheel), str(tmp_path / file)]
    run = subprocess.run(command, cwd=Path(__file__).parents[2], capture_output=True, text=True, check=False)
    assert (run.returncode, run.stderr.count("Traceback")) == (2, 0)
    assert told in run.stderr
