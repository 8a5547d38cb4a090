"""Measures what must and must not be recalled: beliefs with scopes, supersession and a second person, per case."""

import argparse
import json
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from bench.open_sets import SETS
from bench.sizes import is_small
from bench.surroundings import own_surroundings
from recollectum import Recollectum
from recollectum.domain.errors import NotFound
from recollectum.models.embedding.port import Embedder
from recollectum.vault.intake.draft import Draft
from recollectum.vault.vault import Vault
from tests.bench.beliefs import write_beliefs

FOLDER = SETS / "precisionmembench"
_CASES = "retrieval.cases.json"
_SHOWN = 5
_OTHER = "other-user"

Case = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Judged:
    """One case: recall, precision, and what should not have been found."""

    found: float | None
    precise: float | None
    wrong: int
    forbidden: int


def main(arguments: Sequence[str] = ()) -> None:
    parser = argparse.ArgumentParser(prog="python -m bench precision", description=__doc__)
    parser.add_argument("folder", nargs="?", type=Path, default=FOLDER, metavar="FOLDER")
    parser.add_argument("--provider", default="auto", help="auto, none or local")
    asked = parser.parse_args(arguments)
    if is_small():
        with tempfile.TemporaryDirectory() as folder:
            print(line(run(write_beliefs(Path(folder)), "none")))
        return
    if not is_set(asked.folder):
        if asked.folder != FOLDER:
            raise NotFound(f"there is no {_CASES} in {asked.folder}; give the folder of precisionmembench")
        print("there is no precisionmembench beside this repository; name its folder: python -m bench precision FOLDER")
        return
    report(asked.folder, asked.provider)


def is_set(folder: Path) -> bool:
    """Return whether the folder has cases of what must and must not be recalled."""
    return (folder / _CASES).exists()


def open_sets(folder: Path) -> list[Path]:
    """Return the folders that hold such a set."""
    return sorted(path.parent for path in folder.glob(f"*/{_CASES}"))


def report(folder: Path, provider: str, embedder: Embedder | None = None) -> None:
    """Run every case, and print the result as a table."""
    judged = run(folder, provider, embedder)
    print("| cases | must be found | precision of five | must not be served | served all the same |")
    print("|---:|---:|---:|---:|---:|")
    print(line(judged))


def run(folder: Path, provider: str, embedder: Embedder | None = None) -> list[Judged]:
    """Run every case in a separate home; `embedder` replaces that of the provider."""
    beliefs: list[dict[str, Any]] = json.loads((folder / "beliefs.seed.json").read_text(encoding="utf-8"))
    cases: list[dict[str, Any]] = json.loads((folder / _CASES).read_text(encoding="utf-8"))
    settings = {"encryption": "off", "embedding.provider": provider, "storage.reserve_mib": 0}
    with (
        tempfile.TemporaryDirectory(prefix="recollectum-bench-") as place,
        own_surroundings(Path(place)),
        Recollectum(Path(place) / "home", settings=settings, embedder=embedder) as recollectum,
    ):
        ids = {name: _save(recollectum.vault(f"user:{name}"), beliefs, name) for name in ("test-user", _OTHER)}
        vault = recollectum.vault("user:test-user")
        return [_judge(vault, ids["test-user"], case) for case in cases]


def line(judged: Sequence[Judged]) -> str:
    """Return the result as a line of the table."""
    found = [one.found for one in judged if one.found is not None]
    precise = [one.precise for one in judged if one.precise is not None]
    wrong, forbidden = sum(one.wrong for one in judged), sum(one.forbidden for one in judged)
    share = (sum(found) / max(1, len(found)), sum(precise) / max(1, len(precise)))
    return f"| {len(judged)} | {share[0]:.3f} | {share[1]:.3f} | {forbidden} | {wrong} |"


def _save(vault: Vault, beliefs: Sequence[Mapping[str, Any]], person: str) -> dict[str, str]:
    """Save the beliefs of one person as memories, by name; a superseded one is followed by its successor."""
    own = [one for one in beliefs if one["user_id"] == person]
    drafts = [Draft(content=_said(one), agent=_scope(one["scope"]), kind="preference") for one in own]
    kept = {
        one["_id"]: memory.id
        for one, memory in zip(own, [one.memory for one in vault.memories.save_many(drafts)], strict=True)
    }
    for one in own:
        if one["superseded_by"] or one["resolved_at"]:
            vault.memories.move(kept[one["_id"]], "archived")
    return kept


def _said(belief: Mapping[str, Any]) -> str:
    names = ", ".join([belief["canonical_name"].replace("_", " "), *belief["aliases"]])
    return f"{names}: {belief['content']}"


def _scope(scopes: Sequence[str]) -> str | None:
    return next((one.partition(":")[2] for one in scopes if one.startswith("domain:")), None)


def _judge(vault: Vault, ids: Mapping[str, str], case: Case) -> Judged:
    parts: Mapping[str, Mapping[str, list[str]]] = case["expect"]
    gold = {ids[one] for one in parts.get("relevantBeliefs", {}).get("shouldOnlyInclude", ()) if one in ids}
    barred = {ids.get(one, one) for part in parts.values() for one in part.get("mustExclude", ())}
    # A belief may be barred from one section of a context and demanded in another, and recall has no sections.
    barred -= {ids[one] for part in parts.values() for one in part.get("mustInclude", ()) if one in ids}
    scope = _scope(case["scope"])
    hits = vault.recall(case["query"], limit=_SHOWN, source="memories", agent=scope)
    served = {hit.source.memory_id or "" for hit in hits}
    return Judged(
        found=len(gold & served) / len(gold) if gold else None,
        precise=len(gold & served) / len(served) if gold and served else None,
        wrong=len(barred & served),
        forbidden=len(barred),
    )
