"""Scores an encoder on labelled sets: by vectors alone, and fused with BM25 by one fixed rule."""

import gzip
import json
import math
import re
import sqlite3
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from torch import Tensor

from training import dialogues, instructions, languages
from training.dialogues import Dialogue, read_dialogues
from training.tokens import TokenTable

_STOP = frozenset(
    re.findall(
        r"\w+",
        "a an the of to in on at for and or is are was were be been do does did have has had i you he she it they we "
        "my your his her its their our me him them what which who whom when where why how that this these those with "
        "by from as about into any some not no can could would should will shall may might there than then so if",
    )
)
_POOL = 60
_WORDS_WEIGHT = 0.6
_LONGEST = 512
_SEED = 2026
_DIALOGUES_IN_FOLDER = 8


@dataclass(frozen=True, slots=True)
class Question:
    """A question, the places of its answers in its folder, and the best places by words with their scores."""

    text: str
    folder: str
    gold: frozenset[int]
    words: dict[int, float]


@dataclass(frozen=True, slots=True)
class LabelledSet:
    """The texts of each folder in order, and the questions."""

    name: str
    folders: dict[str, list[str]]
    questions: list[Question]

    def texts(self) -> Iterator[str]:
        """Yield every text and question."""
        for texts in self.folders.values():
            yield from texts
        for question in self.questions:
            yield question.text


def read_set(path: Path) -> LabelledSet:
    """Return the scored questions of a set, and their folders."""
    folders: dict[str, list[str]] = {}
    places: dict[str, dict[str, int]] = {}
    with gzip.open(path / "units.jsonl.gz", "rt", encoding="utf-8") as lines:
        for line in lines:
            unit = json.loads(line)
            speaker = unit.get("speaker")
            text = unit["text"] if speaker in (None, "", "doc", "log") else f"{speaker}: {unit['text']}"
            places.setdefault(unit["ns"], {})[unit["id"]] = len(folders.setdefault(unit["ns"], []))
            folders[unit["ns"]].append(text)
    rows = [json.loads(line) for line in (path / "queries.jsonl").read_text(encoding="utf-8").splitlines()]
    questions: list[Question] = []
    for folder in folders:
        asked = [row for row in rows if row["ns"] == folder and _is_scored(row)]
        index = _word_index(folders[folder]) if asked else None
        for row in asked:
            known = places[folder]
            gold = frozenset(known[one] for one in row.get("gold_audited") or row.get("gold") or [] if one in known)
            if gold and index:
                questions.append(Question(row["text"], folder, gold, _by_words(index, row["text"])))
    used = {question.folder for question in questions}
    return LabelledSet(path.name, {name: texts for name, texts in folders.items() if name in used}, questions)


def _is_scored(row: dict[str, object]) -> bool:
    category = str(row.get("category", ""))
    return (
        category not in ("adversarial", "abstention")
        and not category.endswith("_abs")
        and not row.get("before_session")
    )


def _word_index(texts: Sequence[str]) -> sqlite3.Connection:
    index = sqlite3.connect(":memory:")
    index.execute("CREATE VIRTUAL TABLE words USING fts5(text, tokenize='porter unicode61')")
    index.executemany("INSERT INTO words (rowid, text) VALUES (?, ?)", enumerate(texts, 1))
    return index


def _by_words(index: sqlite3.Connection, question: str) -> dict[int, float]:
    words = re.findall(r"\w+", question.lower())
    asked = " OR ".join(f'"{word}"' for word in [word for word in words if word not in _STOP] or words)
    found = index.execute("SELECT rowid, -bm25(words) FROM words WHERE words MATCH ? ORDER BY rank LIMIT 200", (asked,))
    return {row - 1: score for row, score in found}


def kept_dialogues() -> Iterator[LabelledSet]:
    """Yield a set for each kind of the dialogues that are kept from training, eight of them to a folder."""
    kinds: dict[str, list[Dialogue]] = {}
    for path in dialogues.files(kept=True):
        kinds.setdefault(path.stem.partition("-")[0], []).extend(read_dialogues(path))
    for kind, kept in kinds.items():
        folders: dict[str, list[str]] = {}
        questions: list[Question] = []
        for start in range(0, len(kept), _DIALOGUES_IN_FOLDER):
            folder = f"{kind}{start}"
            asked: list[tuple[str, frozenset[int]]] = []
            texts = folders[folder] = []
            for dialogue in kept[start : start + _DIALOGUES_IN_FOLDER]:
                places = {number: len(texts) + place for place, number in enumerate(dialogue.turns)}
                texts += dialogue.turns.values()
                asked += [(text, frozenset(places[one] for one in gold)) for text, gold in dialogue.questions]
            index = _word_index(texts)
            questions += [Question(text, folder, gold, _by_words(index, text)) for text, gold in asked]
        yield LabelledSet(f"kept {kind}", folders, questions)


def score_set(vectors: Tensor, table: TokenTable, data: LabelledSet) -> dict[str, float]:
    """Return R@5 and R@10 by vectors, and fused, and the nDCG@10 of the fused list."""

    def rows(texts: Sequence[str]) -> Tensor:
        return vectors[[table.numbers[text] for text in texts]]

    folders = {name: rows(texts) for name, texts in data.folders.items()}
    asked = rows([question.text for question in data.questions])
    scores: dict[str, list[float]] = {name: [] for name in ("dense5", "dense10", "fused5", "fused10", "ndcg")}
    for number, question in enumerate(data.questions):
        near = (folders[question.folder] @ asked[number]).cpu().numpy()
        dense = np.argsort(-near, kind="stable").tolist()
        pool = list(dict.fromkeys([*dense[:_POOL], *list(question.words)[:_POOL]]))
        mixed = _standard(near[pool]) + _WORDS_WEIGHT * _standard(
            np.array([question.words.get(place, 0.0) for place in pool])
        )
        fused = [pool[at] for at in np.argsort(-mixed, kind="stable")]
        for name, found, most in (
            ("dense5", dense, 5),
            ("dense10", dense, 10),
            ("fused5", fused, 5),
            ("fused10", fused, 10),
        ):
            scores[name].append(len(question.gold & set(found[:most])) / len(question.gold))
        gain = sum(1 / math.log2(at + 2) for at, place in enumerate(fused[:10]) if place in question.gold)
        scores["ndcg"].append(gain / sum(1 / math.log2(at + 2) for at in range(min(10, len(question.gold)))))
    return {name: float(np.mean(values)) for name, values in scores.items()}


def _standard(values: "NDArray[np.floating]") -> "NDArray[np.floating]":
    spread = float(values.std())
    return (values - values.mean()) / spread if spread > 1e-9 else values * 0.0


def kept_texts() -> Iterator[str]:
    """Yield every text of the generated pairs that are never trained with."""
    for wishes, requests in instructions.kept_topics():
        yield from wishes
        yield from requests
    for _, (query, positive, negatives) in languages.kept_rows(_SEED):
        yield from (query, positive, *negatives)


def score_kept(vectors: Tensor, table: TokenTable) -> dict[str, float]:
    """Return how often the right text is the nearest: for wishes among all kept wishes, and in each language."""

    def nearest(query: str, texts: Sequence[str]) -> int:
        near = vectors[[table.numbers[text] for text in texts]] @ vectors[table.numbers[query]]
        return int(near.argmax())

    topics = instructions.kept_topics()
    wishes = [wish for own, _ in topics for wish in own]
    hits = [wishes[nearest(request, wishes)] in own for own, requests in topics for request in requests]
    scores = {"wishes": float(np.mean(hits))}
    by_language: dict[str, list[bool]] = {}
    for language, (query, positive, negatives) in languages.kept_rows(_SEED):
        by_language.setdefault(language, []).append(nearest(query, [positive, *negatives]) == 0)
    return scores | {language: float(np.mean(right)) for language, right in by_language.items()}


def evaluation_table(tokenizer: Path, sets: Sequence[LabelledSet], device: str) -> TokenTable:
    """Return the tokens of everything that is scored."""
    texts = [text for data in sets for text in data.texts()]
    return TokenTable(tokenizer, [*texts, *kept_texts()], longest=_LONGEST, device=device)
