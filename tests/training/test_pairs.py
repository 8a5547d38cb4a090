"""The training pairs: generators that repeat themselves exactly, and texts that are kept from training."""

import json
import lzma
from pathlib import Path

import pytest

from training import dialogues, instructions, languages
from training.pairs import Pair, claims, crops, plain_texts, read_pairs, training_pairs


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


def test_a_question_of_a_dialogue_is_paired_with_each_turn_that_answers_it(tmp_path: Path) -> None:
    path = tmp_path / "one.txt"
    path.write_text(
        "# Ann, Ben | friends\n## 2024-01-01\n1 Ann: hi\n2 Ben: a lute\nQ 1,2 What?\nN Why?\n", encoding="utf-8"
    )
    (dialogue,) = dialogues.read_dialogues(path)
    assert dialogue.turns == {1: "Ann: hi", 2: "Ben: a lute"}
    assert dialogue.questions == [("What?", (1, 2))]
    assert dialogue.unanswered == ["Why?"]


@pytest.mark.parametrize("line", ["Q 7 What?", "Ann: hi", "1 Ann: hi"])
def test_a_line_that_is_no_turn_and_no_question_about_one_is_refused(tmp_path: Path, line: str) -> None:
    path = tmp_path / "one.txt"
    path.write_text(line if line[0] == "1" else f"# Ann | alone\n{line}\n", encoding="utf-8")
    with pytest.raises(SystemExit, match="is no turn, and no question about a turn"):
        dialogues.read_dialogues(path)


def test_every_dialogue_can_be_read_and_none_that_is_kept_is_trained_with() -> None:
    kept = [one for path in dialogues.files(kept=True) for one in dialogues.read_dialogues(path)]
    trained = [one for path in dialogues.files(kept=False) for one in dialogues.read_dialogues(path)]
    assert len(kept) > 40
    assert len(trained) > 200
    rows = list(dialogues.rows(1))
    assert not {turn for one in kept for turn in one.turns.values()} & {positive for _, positive, _ in rows}
    assert all(positive not in negatives and len(negatives) >= 3 for _, positive, negatives in rows)


def test_plain_texts_are_passages_that_nobody_generated_and_long_texts_made_of_them() -> None:
    passage = "A passage about the weather of the high plains, which are dry, cold and windy. " * 3
    pairs = [Pair("q", f"{number} {passage}", ("short",), "qasc") for number in range(10)]
    found = plain_texts([*pairs, Pair("q", f"synthetic {passage}", (), "synth")], 40, seed=1)
    assert len(found) == 30
    assert not [text for text in found if "synthetic" in text]
    assert max(map(len, found)) > 2 * len(passage)
    assert plain_texts([], 40, seed=1) == []


def test_a_claim_is_a_sentence_without_which_its_passage_still_says_something() -> None:
    words = ("first", "second", "third", "fourth", "fifth")
    passages = [
        " ".join(f"The {word} sentence of passage {number} speaks of rain." for word in words) for number in range(60)
    ]
    found = claims(passages, seed=1)
    assert found == claims(passages, seed=1)
    assert len(found) == len(passages)
    stays = [sentence in rest for sentence, rest in found]
    assert 0 < sum(stays) < len(stays) / 2
    assert all(len(rest) > 150 for _, rest in found)
    assert claims(["Only one sentence that is long enough to be a question about something."], seed=1) == []


def test_a_crop_is_a_piece_of_a_text_in_its_words() -> None:
    texts = [" ".join(f"w{text}x{place}" for place in range(60)) for text in range(40)]
    found = crops([*texts, "too short to cut"], 50, seed=1)
    assert len(found) == 50
    assert all(any(f" {piece} " in f" {text} " and piece != text for text in texts) for piece in found)
    assert found == crops([*texts, "too short to cut"], 50, seed=1)
