"""A set of three beliefs, whose figures can be worked out by hand."""

import json
from pathlib import Path


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


def write_beliefs(folder: Path) -> Path:
    """The folder with the set in it."""
    folder.mkdir(exist_ok=True)
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
            "scope": ["domain:code"],
            "expect": {"pinnedFacts": {"mustExclude": ["new"]}, "openQuestions": {"mustInclude": ["new"]}},
        },
        {
            "query": "kingfisher",
            "scope": ["domain:other"],
            "expect": {"relevantBeliefs": {"shouldOnlyInclude": ["new"]}},
        },
    ]
    (folder / "beliefs.seed.json").write_text(json.dumps(beliefs), encoding="utf-8")
    (folder / "retrieval.cases.json").write_text(json.dumps(cases), encoding="utf-8")
    return folder
