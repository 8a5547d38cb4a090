"""Fits the weights of the ranking's signals again, and measures what each is worth on conversations that were held out.

Each question is asked of the product, with fifty hits. What every signal added to a hit is known from its reasons, so a
conditional logit over the hits of a question gives each signal a factor: 1 means the weight that ships, 0 that the
signal is worth nothing. Factors are fitted without the conversation that they are measured on. Beside the labelled sets
there are the dialogues that no model was trained with (`training/dialogues`, every fifth file).
"""

import argparse
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from bench.calibration import filled_vaults
from bench.kept_vectors import local_embedder
from bench.open_sets import SETS, load_sets, open_sets
from bench.sizes import is_small
from recollectum.domain.hit import Hit
from recollectum.doors.cli.benchmark.labelled_set import LabelledQuery, LabelledSet, LabelledUnit
from recollectum.doors.cli.benchmark.runner import DEPTH
from recollectum.models.embedding.port import Embedder
from tests.doors.cli.benchmark.labelled_sets import write_set
from training import dialogues

#: The score of both arms, and the signals that are added to it.
SIGNALS = (
    *("arms", "who", "told", "echo", "when", "assistant", "before", "reply", "after", "session"),
    *("answer", "wish", "name"),
)
_FOLDS = 5
_RIDGE = 1e-3
_DIALOGUES_IN_VAULT = 8
#: Divides the number of a dialogue from that of its question.
_MARK = "?"

Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Answer:
    """The hits of one question: what each signal added to each, and which gold units it is."""

    set: str
    space: str
    added: Floats
    gold: tuple[frozenset[str], ...]
    golds: int

    @property
    def right(self) -> NDArray[np.bool_]:
        """Which hits are gold."""
        return np.array([bool(one) for one in self.gold])

    def recall(self, factors: Floats, most: int) -> float:
        """The share of the gold units among the first hits in the order of these factors."""
        order = np.argsort(-(self.added @ factors), kind="stable")[:most]
        found: set[str] = set()
        for place in order:
            found |= self.gold[int(place)]
        return len(found) / self.golds


def main(arguments: Sequence[str] = ()) -> None:
    parser = argparse.ArgumentParser(prog="python -m bench ranking", description=__doc__)
    parser.add_argument("folders", nargs="*", type=Path, metavar="FOLDER", help=f"sets; else those in {SETS.name}/")
    parser.add_argument("--vectors", type=Path, metavar="FILE", help="keep vectors in this file by digest")
    asked = parser.parse_args(arguments)
    with tempfile.TemporaryDirectory() as folder:
        small = is_small() and not asked.folders
        folders: list[Path] = [write_set(Path(folder) / "tiny")] if small else asked.folders or open_sets(SETS)
        sets = load_sets(folders)
        sets += [] if small else kept_dialogues()
        embedder = local_embedder(asked.vectors)
        answers = [one for data in sets for one in ask(data, embedder)]
    report(answers)


def kept_dialogues() -> Iterator[LabelledSet]:
    """Yield a set for each kind of the kept dialogues, eight of them in one vault."""
    kinds: dict[str, list[dialogues.Dialogue]] = {}
    for path in dialogues.files(kept=True):
        kinds.setdefault(path.stem.partition("-")[0], []).extend(dialogues.read_dialogues(path))
    for kind, kept in kinds.items():
        units: list[LabelledUnit] = []
        queries: list[LabelledQuery] = []
        for place, dialogue in enumerate(kept):
            space = f"{kind}{place // _DIALOGUES_IN_VAULT}"
            for number, turn in dialogue.turns.items():
                speaker, _, text = turn.partition(": ")
                session = f"{place}-{dialogue.sessions[number]}"
                unit = LabelledUnit(
                    space=space, id=f"{place}:{number}", session=session, speaker=speaker, text=text, at=None
                )
                units.append(unit)
            for at, (text, gold) in enumerate(dialogue.questions):
                query = LabelledQuery(
                    space=space,
                    id=f"{place}{_MARK}{at}",
                    category="question",
                    text=text,
                    gold=frozenset(f"{place}:{one}" for one in gold),
                    gold_sessions=frozenset(),
                    asked_at=None,
                )
                queries.append(query)
        yield LabelledSet(name=f"dialogues, {kind}", units=tuple(units), queries=tuple(queries))


def conversation(query: LabelledQuery) -> str:
    """Return what a question shares people and texts with: the kept dialogue that it is about, or else its vault."""
    dialogue, mark, _ = query.id.partition(_MARK)
    return f"{query.space}: {dialogue}" if mark else query.space


def ask(data: LabelledSet, embedder: Embedder | None) -> Iterator[Answer]:
    """Ask every question of a set, and yield the hits with what each signal added."""
    for vault, feeder, space in filled_vaults(data, embedder):
        for query in space.queries:
            if query.gold and (hits := vault.recall(query.text, limit=DEPTH)):
                gold = tuple(query.gold & set(feeder.ids([hit])) for hit in hits)
                added = np.array([_added(hit) for hit in hits])
                yield Answer(data.name, query.space, added, gold, len(query.gold))


def _added(hit: Hit) -> list[float]:
    signals = dict(hit.reasons.added)
    base = (hit.reasons.fused or 0.0) - sum(signals.values())
    return [base, *(signals.get(name, 0.0) for name in SIGNALS[1:])]


def fit(answers: Sequence[Answer], columns: Sequence[int]) -> Floats:
    """Return the factor of each signal, by Newton's method, as multiples of the factor of the arms; 0 if left out."""
    known = [(one.added[:, columns], one.right) for one in answers if one.right.any() and not one.right.all()]
    weights = np.ones(len(columns))
    sizes = {name: sum(one.set == name for one in answers) for name in {one.set for one in answers}}
    each = [1 / sizes[one.set] for one in answers if one.right.any() and not one.right.all()]
    for _ in range(25):
        slope, bend = -_RIDGE * weights, _RIDGE * np.eye(len(columns))
        for (rows, right), weight in zip(known, each, strict=True):
            scores = rows @ weights
            chance = np.exp(scores - scores.max())
            chance /= chance.sum()
            mean = chance @ rows
            slope = slope + weight * (rows[right].mean(0) - mean)
            bend = bend + weight * ((rows * chance[:, None]).T @ rows - np.outer(mean, mean))
        weights = weights + np.linalg.solve(bend, slope)
    factors = np.zeros(len(SIGNALS))
    factors[list(columns)] = weights / weights[0]
    return factors


def held_out(answers: Sequence[Answer], columns: Sequence[int]) -> list[tuple[Answer, Floats]]:
    """Return each answer with factors that were fitted without its vault."""
    spaces = sorted({(one.set, one.space) for one in answers})
    fold = {space: place % _FOLDS for place, space in enumerate(spaces)}
    found: list[tuple[Answer, Floats]] = []
    for number in range(_FOLDS):
        rest = [one for one in answers if fold[one.set, one.space] != number]
        factors = fit(rest or answers, columns)
        found += [(one, factors) for one in answers if fold[one.set, one.space] == number]
    return found


def report(answers: Sequence[Answer]) -> None:
    """Print turn R@5 and R@10 as shipped, fitted, and fitted without each signal; and the factors."""
    names = sorted({one.set for one in answers})
    print("| ranking | " + " | ".join(names) + " |\n|---|" + "---|" * len(names))
    shipped = np.ones(len(SIGNALS))
    _row("as it ships", [(one, shipped) for one in answers], names)
    every = list(range(len(SIGNALS)))
    used = [place for place in every if any(one.added[:, place].any() for one in answers)]
    _row("fitted, own vault held out", held_out(answers, used), names)
    for place in used[1:]:
        _row(f"without {SIGNALS[place]}", held_out(answers, [one for one in used if one != place]), names)
    factors = fit(answers, used)
    print("\n| signal | factor of the weight that ships |\n|---|---|")
    for place in used[1:]:
        print(f"| {SIGNALS[place]} | {factors[place]:.2f} |")


def _row(label: str, found: Sequence[tuple[Answer, Floats]], names: Sequence[str]) -> None:
    cells: list[str] = []
    for name in names:
        own = [(one, factors) for one, factors in found if one.set == name]
        five, ten = (np.mean([one.recall(factors, most) for one, factors in own]) for most in (5, 10))
        cells.append(f"{five:.3f} / {ten:.3f}")
    print(f"| {label} | " + " | ".join(cells) + " |", flush=True)
