"""Measures what a score of recall means: chances against labels, foreign questions, and what the floor costs.

Foreign questions are those of the other spaces of a set, and general ones from `calibration_questions.txt`: nobody in
the vault ever spoke of their topic. `unanswered` are the questions of a set that are close to its texts and have no
answer in them; they are measured, and nothing is fitted to them. Beside the labelled sets there are small vaults of
facts from `calibration_facts.txt`. Weights are fitted without the vault they are measured on.
"""

import argparse
import os
import random
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from bench.calibration_fit import (
    OWN,
    UNANSWERED,
    AskedQuestion,
    area,
    chances,
    cross_validated,
    fit,
    lost,
    reliability,
    silent,
)
from bench.kept_vectors import local_embedder
from bench.open_sets import SETS, load_sets, open_sets
from bench.sizes import is_small, sized
from recollectum import Recollectum, Vault
from recollectum.doors.cli.benchmark.labelled_set import (
    LabelledQuery,
    LabelledSet,
    LabelledUnit,
    load_unanswered,
)
from recollectum.doors.cli.benchmark.runner import Feeder, SetClock, SetSpace, set_spaces, start_time
from recollectum.models.embedding.port import Embedder
from recollectum.recall.calibration import Calibration, find_calibration
from tests.doors.cli.benchmark.labelled_sets import write_set

_QUESTIONS = Path(__file__).with_name("calibration_questions.txt")
_FACTS = Path(__file__).with_name("calibration_facts.txt")
#: The vaults of somebody who has just begun: so many facts in each, drawn from the file.
_SIZES = (5, 8, 12, 20, 40) * 4
_SEED = 12
#: Foreign questions of each kind for one vault: many where a set has few vaults.
_FOREIGN = 150
_SETTINGS = {"encryption": "off", "storage.reserve_mib": 0, "lifecycle.active_days": 0}
_DEPTH = 10

Found = list[tuple[AskedQuestion, list[float]]]


def main(arguments: Sequence[str] = ()) -> None:
    parser = argparse.ArgumentParser(prog="python -m bench calibration", description=__doc__)
    parser.add_argument("folders", nargs="*", type=Path, metavar="FOLDER", help=f"sets; else those in {SETS.name}/")
    parser.add_argument("--words", action="store_true", help="search by words alone")
    parser.add_argument("--vectors", type=Path, metavar="FILE", help="keep vectors in this file by digest")
    parser.add_argument("--model", default="", help="a local model other than the default")
    parser.add_argument("--fit", action="store_true", help="also print the weights, fitted on all questions")
    asked = parser.parse_args(arguments)
    with tempfile.TemporaryDirectory() as folder:
        folders: list[Path] = asked.folders or ([write_set(Path(folder) / "tiny")] if is_small() else open_sets(SETS))
        if not folders:
            print("there are no labelled sets beside this repository; name their folders")
            return
        close = [unanswered_questions(one) for one in folders]
        sets = [*zip(load_sets(folders), close, strict=True), (small_vaults(), dict[str, list[str]]())]
        embedder = None if asked.words else local_embedder(asked.vectors, asked.model)
        found = [one for data, unanswered in sets for one in ask_set(data, embedder, unanswered)]
    if not found:
        print("no question of these sets could be asked")
        return
    model = None if embedder is None else embedder.identity.text_key()
    report(found, find_calibration(model), show_fit=asked.fit)


def report(asked: Sequence[AskedQuestion], shipped: Calibration | None, *, show_fit: bool = False) -> None:
    """Print what the shipped weights give, and what weights give that were fitted without the vault."""
    if shipped is None:
        print("no calibration is shipped for this embedder")
    else:
        print(f"\nshipped weights, floor {shipped.floor}")
        _tables([(one, chances(shipped, one)) for one in asked], shipped.floor)
    held = cross_validated(asked)
    if held:
        floor = shipped.floor if shipped else fit(asked).floor
        print(f"\nfitted without the vault that is asked, floor {floor}")
        _tables(held, floor)
    if show_fit:
        print(f"\n{fit(asked)}")


def small_vaults() -> LabelledSet:
    """Return a set of small vaults, each with some of the facts of the file and their questions."""
    facts = [line.split("\t") for line in _FACTS.read_text(encoding="utf-8").splitlines()]
    chosen = random.Random(_SEED)
    units: list[LabelledUnit] = []
    queries: list[LabelledQuery] = []
    for place, size in enumerate(sized(_SIZES, _SIZES[:2])):
        space = f"vault{place}"
        for number, (fact, question) in enumerate(chosen.sample(facts, size)):
            id = f"{space}-{number}"
            units.append(LabelledUnit(space=space, id=id, session="", speaker=None, text=fact, at=None))
            queries.append(
                LabelledQuery(
                    space=space,
                    id=id,
                    category="fact",
                    text=question,
                    gold=frozenset({id}),
                    gold_sessions=frozenset(),
                    asked_at=None,
                )
            )
    return LabelledSet(name="small_vaults", units=tuple(units), queries=tuple(queries))


def unanswered_questions(folder: Path) -> dict[str, list[str]]:
    """Return the questions of a set that its texts do not answer, by space."""
    found: dict[str, list[str]] = {}
    for query in load_unanswered(folder):
        found.setdefault(query.space, []).append(query.text)
    return found


def filled_vaults(
    data: LabelledSet, embedder: Embedder | None, storage: Mapping[str, object] | None = None
) -> Iterator[tuple[Vault, Feeder, SetSpace]]:
    """Yield a vault for each space of a set, with all its units, at the time of its last question."""
    spaces = list(set_spaces(data))
    with tempfile.TemporaryDirectory() as folder:
        clock = SetClock(start_time(spaces[0]))
        settings = {**_SETTINGS, "embedding.provider": "none" if embedder is None else "local", **(storage or {})}
        environ = {"HOME": folder, "PATH": os.environ.get("PATH", "")}
        with Recollectum(
            Path(folder) / "home", settings=settings, environ=environ, clock=clock, embedder=embedder
        ) as home:
            for number, space in enumerate(spaces):
                clock.now = start_time(space)
                vault = home.vault(f"user:space{number}")
                feeder = Feeder(vault, clock, clock.now)
                feeder.feed(space.units)
                if embedder is not None:
                    vault.admin.index.update(lambda _: None)
                clock.now = max([feeder.latest, *(one.asked_at for one in space.queries if one.asked_at)])
                yield vault, feeder, space


def ask_set(
    data: LabelledSet, embedder: Embedder | None, unanswered: Mapping[str, list[str]]
) -> Iterator[AskedQuestion]:
    """Put its own and foreign questions to each vault of a set."""
    spaces = list(set_spaces(data))
    general = _QUESTIONS.read_text(encoding="utf-8").splitlines()
    chosen = random.Random(_SEED)
    most = max(8, _FOREIGN * 5 // max(5, len(spaces)))
    for vault, feeder, space in filled_vaults(data, embedder):
        own = {one.text for one in space.queries}
        others = [one.text for other in spaces for one in other.queries if one.text not in own]
        foreign = {
            "others": chosen.sample(others, min(most, len(others))),
            "general": chosen.sample(general, min(most, len(general))),
            UNANSWERED: unanswered.get(space.queries[0].space, []),
        }
        yield from _ask(data.name, vault, feeder, space, foreign)


def _ask(
    name: str, vault: Vault, feeder: Feeder, space: SetSpace, foreign: dict[str, list[str]]
) -> Iterator[AskedQuestion]:
    for query in space.queries:
        yield _asked(name, vault, feeder, query.space, OWN, query.text, query)
    for kind, texts in foreign.items():
        for text in texts:
            yield _asked(name, vault, feeder, space.queries[0].space, kind, text, None)


def _asked(
    name: str, vault: Vault, feeder: Feeder, space: str, kind: str, text: str, query: LabelledQuery | None
) -> AskedQuestion:
    found = vault.recall(text, limit=_DEPTH)
    gold = query.gold if query else frozenset[str]()
    return AskedQuestion(
        set=name,
        space=space,
        kind=kind,
        evidence=found.evidence,
        fused=tuple(hit.reasons.fused or 0.0 for hit in found),
        gold=tuple(len(gold & set(feeder.ids([hit]))) for hit in found),
        golds=len(gold),
    )


def _tables(found: Found, floor: float) -> None:
    kinds = sorted({one.kind for one, _ in found} - {OWN})
    print(
        "| set | R@10 | lost | " + " | ".join(f"{kind}: nothing" for kind in kinds) + " | AUROC | AUROC, unanswered |"
    )
    print("|---|---|---|" + "---|" * (len(kinds) + 2))
    for name in sorted({one.set for one, _ in found}):
        of_set = [one for one in found if one[0].set == name]
        own = [one for one, _ in of_set if one.kind == OWN and one.golds]
        cells = [f"{sum(one.recall for one in own) / max(1, len(own)):.3f}", f"{lost(of_set, floor):.3f}"]
        cells += [f"{silent([one for one in of_set if one[0].kind == kind], floor):.2f}" for kind in kinds]
        cells += [f"{area([one for one in of_set if one[0].kind != UNANSWERED]):.3f}"]
        cells += [f"{area([one for one in of_set if one[0].kind in (OWN, UNANSWERED)]):.3f}"]
        print(f"| {name} | " + " | ".join(cells) + " |")
    found = [one for one in found if one[0].kind != UNANSWERED]
    foreign = [one for one in found if one[0].kind != OWN]
    of_sets = [[one for one in foreign if one[0].set == name] for name in sorted({one.set for one, _ in foreign})]
    mean = sum(silent(one, floor) for one in of_sets) / max(1, len(of_sets))
    share = f"{silent(foreign, floor):.3f} of {len(foreign)}"
    print(f"foreign questions that get nothing: {share}, {mean:.3f} in the mean of the sets")
    print("| hits | mean score | relevant |\n|---|---|---|")
    for count, mean, true in reliability(found):
        if count:
            print(f"| {count} | {mean:.3f} | {true:.3f} |")
