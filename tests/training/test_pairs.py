"""The training pairs: generators that repeat themselves exactly, and texts that are kept from training."""

import json
import lzma
from pathlib import Path

import pytest

from training import instructions, languages
from training.pairs import Pair, read_pairs, training_pairs


def _write(path: Path, rows: int) -> Path:
    with lzma.open(path, "wt", encoding="utf-8") as file:
        for number in range(rows):
            row = {"q": f"question {number}", "pos": f"answer {number}", "neg": ["no"], "src": "synth"}
            file.write(json.dumps(row) + "\n")
    return path


def test_a_pair_file_with_another_digest_is_refused(tmp_path: Path) -> None:
    path = _write(tmp_path / "pairs.jsonl.xz", 2)
    with pytest.raises(SystemExit, match="give the file that README"):
        list(read_pairs(path))
    assert list(read_pairs(path, any_file=True))[1] == Pair("question 1", "answer 1", ("no",), "synth")


def test_the_same_seed_gives_the_same_pairs_and_another_does_not(tmp_path: Path) -> None:
    path = _write(tmp_path / "pairs.jsonl.xz", 200)
    first, again, other = (training_pairs(path, seed=seed, any_file=True) for seed in (1, 1, 2))
    assert first == again
    assert first != other
    assert 100 < sum(pair.synthetic for pair in first) < 200


def test_no_kept_wish_and_no_kept_request_is_trained_with() -> None:
    rows = list(instructions.rows(2026))
    trained = {text for query, positive, negatives in rows for text in (query, positive, *negatives)}
    for wishes, requests in instructions.kept_topics():
        assert not [wish for wish in wishes if any(wish in text for text in trained)]
        assert not trained & set(requests)
    assert len(rows) > 200


def test_a_wish_and_its_wrong_answers_differ() -> None:
    assert all(positive not in negatives for _, positive, negatives in instructions.rows(2026))


@pytest.mark.parametrize("language", ["de", "fr", "es", "ja"])
def test_no_kept_kind_of_fact_is_trained_with(language: str) -> None:
    trained = {row[1].partition(": ")[2] for name, row in languages.rows(2026) if name == language}
    kept = {row[1].partition(": ")[2] for name, row in languages.kept_rows(2026) if name == language}
    assert len(trained) > 20
    assert len(kept) > 5
    assert not trained & kept
