"""The benchmark of what must and must not be recalled, on a set of three beliefs."""

import json
from pathlib import Path

from bench.precision import Judged, line, run


def _belief(name: str, content: str, *, user: str = "test-user", superseded_by: str | None = None) -> dict[str, object]:
    return {
        "_id": name,
        "user_id": user,
        "canonical_name": name,
        "aliases": [],
        "content": content,
        "scope": ["domain:code"],
        "superseded_by": superseded_by,
        "resolved_at": None,
    }


def test_what_is_found_and_what_is_served_all_the_same_is_counted(tmp_path: Path) -> None:
    beliefs = [
        _belief("old", "writes kingfisher tests in Java", superseded_by="new"),
        _belief("new", "writes kingfisher tests in Python"),
        _belief("theirs", "kingfisher", user="other-user"),
    ]
    expected = {"shouldOnlyInclude": ["new"], "mustExclude": ["old", "theirs"]}
    cases = [
        {"query": "kingfisher", "scope": ["domain:code"], "expect": {"relevantBeliefs": expected}},
        {"query": "kingfisher", "scope": ["domain:code"], "expect": {"pinnedFacts": {"mustExclude": ["new"]}}},
        {
            "query": "kingfisher",
            "scope": ["domain:other"],
            "expect": {"relevantBeliefs": {"shouldOnlyInclude": ["new"]}},
        },
    ]
    (tmp_path / "beliefs.seed.json").write_text(json.dumps(beliefs), encoding="utf-8")
    (tmp_path / "retrieval.cases.json").write_text(json.dumps(cases), encoding="utf-8")
    judged = run(tmp_path, "none")
    assert judged == [Judged(1.0, 1.0, 0, 2), Judged(None, None, 1, 1), Judged(0.0, None, 0, 0)]
    assert line(judged) == "| 3 | 0.500 | 1.000 | 3 | 1 |"
