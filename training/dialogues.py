"""Reads the dialogues that were written for training, and makes pairs of their questions and turns.

A file in `dialogues/` is plain text: `# speakers | who they are`, `## date` before each session, `12 Ann: …` for a
turn; then questions with the turns that answer them: `Q 12 …`, as keywords `K 12 …`, as a note `F 12 …`, and `N …` for
a question that the dialogue does not answer. Every fifth file is kept from training.
"""

import random
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

Row = tuple[str, str, tuple[str, ...]]

FOLDER = Path(__file__).parent / "dialogues"
_TURN = re.compile(r"(\d+) ([^:]{1,40}): (.+)")
_QUESTION = re.compile(r"([QKF]) ([\d, ]*\d) (.+)")
_KEPT_EVERY = 5
_NEGATIVES = 6


@dataclass(slots=True)
class Dialogue:
    """One conversation: its turns by number, the number of its sessions up to each turn, and its questions."""

    turns: dict[int, str] = field(default_factory=dict[int, str])
    sessions: dict[int, int] = field(default_factory=dict[int, int])
    #: A question and the turns that answer it.
    questions: list[tuple[str, tuple[int, ...]]] = field(default_factory=list[tuple[str, tuple[int, ...]]])
    #: Questions that it does not answer.
    unanswered: list[str] = field(default_factory=list[str])


def read_dialogues(path: Path) -> list[Dialogue]:
    """Return the dialogues of a file; refuse a line that is none of the forms above."""
    found: list[Dialogue] = []
    session = 0
    for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), start=1):
        if line.startswith("# "):
            found.append(Dialogue())
        elif line.startswith("## "):
            session += 1
        elif line.strip() and not (found and _add(found[-1], line, session)):
            raise SystemExit(f"{path} line {number} is no turn, and no question about a turn: {line[:60]!r}")
    return found


def _add(dialogue: Dialogue, line: str, session: int) -> bool:
    """Add a turn or a question; return False for anything else."""
    if line.startswith("N "):
        dialogue.unanswered.append(line[2:].strip())
    elif turn := _TURN.fullmatch(line):
        dialogue.turns[int(turn[1])] = f"{turn[2]}: {turn[3]}"
        dialogue.sessions[int(turn[1])] = session
    elif question := _QUESTION.fullmatch(line):
        answers = tuple(int(one) for one in re.findall(r"\d+", question[2]))
        dialogue.questions.append((question[3].strip(), answers))
        return dialogue.turns.keys() >= set(answers)
    else:
        return False
    return True


def files(*, kept: bool) -> list[Path]:
    """Return the files to train with, or those that are kept from training."""
    every = sorted(FOLDER.glob("*.txt"))
    return [path for at, path in enumerate(every) if (at % _KEPT_EVERY == _KEPT_EVERY - 1) is kept]


def rows(seed: int) -> Iterator[Row]:
    """Yield a pair for each answer of each question; the wrong texts are other turns of the same dialogue."""
    chance = random.Random(seed)
    for path in files(kept=False):
        for dialogue in read_dialogues(path):
            for question, answers in dialogue.questions:
                for answer in answers:
                    yield question, dialogue.turns[answer], _wrong_turns(dialogue, answers, answer, chance)


def _wrong_turns(dialogue: Dialogue, answers: tuple[int, ...], answer: int, chance: random.Random) -> tuple[str, ...]:
    """Return turns that do not answer: half of them from the same session, because they share its topic."""
    others = [number for number in dialogue.turns if number not in answers]
    near = [number for number in others if dialogue.sessions[number] == dialogue.sessions[answer]]
    far = [number for number in others if dialogue.sessions[number] != dialogue.sessions[answer]]
    picked = chance.sample(near, min(_NEGATIVES // 2, len(near)))
    picked += chance.sample(far, min(_NEGATIVES - len(picked), len(far)))
    return tuple(dialogue.turns[number] for number in picked)
