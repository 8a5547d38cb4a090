"""`python -m training OUT --pairs FILE`: trains the model, then its student, and writes both as ONNX files.

Run it on a machine with a GPU. `--small` takes a hundred steps of a small batch on the processor.
"""

import argparse
import hashlib
import json
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import torch

from training.contrastive import Numbered, Plan, number_pairs, train
from training.encoder import Encoder, encoder_with, mixed, weights_of
from training.mining import with_mined
from training.onnx_weights import Weights, read_weights, write_weights
from training.pairs import Pair, training_pairs
from training.sets import LabelledSet, evaluation_table, read_set, score_kept, score_set
from training.tokens import TokenTable, encode_all

_BASE = Path("packages/recollectum-gte-small/src/recollectum_gte_small")
_MODEL = _BASE / "gte-small.w8.onnx"
_TOKENIZER = _BASE / "tokenizer.json"
_ALL_LAYERS = tuple(range(12))
_LONGEST = 128
_SEED = 2026
#: The share of the trained weights; the rest is gte-small, which knows ordinary text better.
SHARE = 0.8
STUDENT_LAYERS = (0, 3, 7, 11)


@dataclass(frozen=True, slots=True)
class _Sizes:
    """How long each stage takes: in full, or in small."""

    first: Plan
    second: Plan
    student: Plan
    pairs: int


_FULL = _Sizes(
    first=Plan(steps=200),
    second=Plan(steps=700, negatives=5, seed=2027),
    student=Plan(steps=3600, rate=2e-4, follow=2.0, follow_order=1.0, negatives=3),
    pairs=10**9,
)
_SMALL = _Sizes(
    first=Plan(steps=60, batch=16, negatives=2, tokens=2048),
    second=Plan(steps=40, batch=16, negatives=2, tokens=2048, seed=2027),
    student=Plan(steps=100, batch=16, negatives=2, tokens=2048, rate=1e-4, follow=2.0, follow_order=1.0),
    pairs=2000,
)


class _Bench:
    """What is measured after each stage."""

    def __init__(self, sets: Sequence[LabelledSet], device: str) -> None:
        self._sets = sets
        self._table = evaluation_table(_TOKENIZER, sets, device)
        self._began = time.monotonic()

    def tell(self, name: str, encoder: Encoder, *, before: bool = False) -> None:
        """Print the scores of an encoder."""
        vectors = encode_all(encoder, self._table)
        said = [f"[{time.monotonic() - self._began:.0f} s] {name}"]
        for data in self._sets:
            for share in (0.0, 0.15, 0.3) if before else (0.0,):
                found = score_set(vectors, self._table, data, share)
                label = data.name if not share else f"{data.name}+{share} of the text before"
                said.append(
                    f"{label}: vectors {found['dense5']:.4f}/{found['dense10']:.4f} "
                    f"fused {found['fused5']:.4f}/{found['fused10']:.4f} nDCG {found['ndcg']:.4f}"
                )
        said.append(" ".join(f"{key} {value:.3f}" for key, value in score_kept(vectors, self._table).items()))
        print(" | ".join(said), flush=True)

    def told(self, step: int, loss: float) -> None:
        """Print the loss."""
        print(f"[{time.monotonic() - self._began:.0f} s] step {step}: loss {loss:.4f}", flush=True)


def main() -> None:
    """Train, or do one stage."""
    parser = argparse.ArgumentParser(prog="training", description=__doc__)
    parser.add_argument("out", type=Path, help="the folder for the models")
    parser.add_argument("--pairs", type=Path, required=True, help="pairs.jsonl.xz")
    parser.add_argument("--sets", type=Path, nargs="*", default=[], help="folders of labelled sets to score")
    parser.add_argument("--texts", type=Path, help="JSON lines [digest, purpose, text] to embed with both models")
    parser.add_argument("--stage", choices=("model", "student", "both"), default="both")
    parser.add_argument("--small", action="store_true", help="a hundred steps, on any machine")
    options = parser.parse_args()
    for path in (options.pairs, *options.sets, *([options.texts] if options.texts else [])):
        if not path.exists():
            parser.error(f"{path} does not exist; training/README.md says what each input is")
    options.out.mkdir(parents=True, exist_ok=True)
    device = "cuda" if torch.cuda.is_available() else "cpu"
    sizes = _SMALL if options.small else _FULL
    torch.set_float32_matmul_precision("high")
    bench = _Bench([read_set(path) for path in options.sets], device)
    pairs = training_pairs(options.pairs, seed=_SEED)[: sizes.pairs]
    texts = [text for one in pairs for text in (one.query, one.positive, *one.negatives)]
    table = TokenTable(_TOKENIZER, texts, longest=_LONGEST, device=device)
    print(f"{len(pairs)} pairs, {len(table.texts)} texts", flush=True)
    numbered = number_pairs(pairs, table)
    model = options.out / "recollectum-embed.onnx"
    if options.stage != "student":
        weights = _train_model(read_weights(_MODEL), pairs, numbered, table, sizes, bench, device)
        write_weights(_MODEL, weights, len(_ALL_LAYERS), model)
        _finish(model, options.texts, bench, device)
    if options.stage != "model":
        weights = _train_student(read_weights(model), numbered, table, sizes, bench, device)
        student = options.out / "recollectum-embed-quick.onnx"
        write_weights(model, weights, len(STUDENT_LAYERS), student)
        _finish(student, options.texts, bench, device)


def _train_model(
    base: Weights,
    pairs: Sequence[Pair],
    numbered: Sequence[Numbered],
    table: TokenTable,
    sizes: _Sizes,
    bench: _Bench,
    device: str,
) -> Weights:
    encoder = encoder_with(base, _ALL_LAYERS).to(device)
    bench.tell("gte-small", encoder, before=True)
    train(encoder, table, numbered, sizes.first, told=bench.told)
    bench.tell("after the given negatives", encoder)
    harder = with_mined(pairs, numbered, encode_all(encoder, table), each=3)
    print(f"{sum(len(one.negatives) for one in harder) / len(harder):.2f} negatives a pair", flush=True)
    train(encoder, table, harder, sizes.second, told=bench.told)
    trained = weights_of(encoder)
    for share in (0.7, 0.8, 0.9, 1.0):
        bench.tell(
            f"share {share}", encoder_with(mixed(trained, base, share), _ALL_LAYERS).to(device), before=share == 0.8
        )
    return mixed(trained, base, SHARE)


def _train_student(
    weights: Weights,
    numbered: Sequence[Numbered],
    table: TokenTable,
    sizes: _Sizes,
    bench: _Bench,
    device: str,
) -> Weights:
    teacher = encoder_with(weights, _ALL_LAYERS).to(device)
    vectors = encode_all(teacher, table)
    bench.tell("teacher", teacher)
    student = encoder_with(weights, STUDENT_LAYERS).to(device)
    train(student, table, numbered, sizes.student, teacher=vectors, told=bench.told)
    bench.tell("student", student)
    return weights_of(student)


def _finish(model: Path, texts: Path | None, bench: _Bench, device: str) -> None:
    """Print the digest and the scores of the written file, and embed the given texts with it."""
    print(model.name, model.stat().st_size, hashlib.sha256(model.read_bytes()).hexdigest(), flush=True)
    weights = read_weights(model)
    layers = 1 + max(int(name.split(".")[2]) for name in weights if name.startswith("encoder."))
    encoder = encoder_with(weights, range(layers)).to(device)
    bench.tell(f"{model.name} as written", encoder)
    if texts is None:
        return
    lines = [json.loads(line) for line in texts.read_text(encoding="utf-8").splitlines()]
    table = TokenTable(_TOKENIZER, [text for _, _, text in lines], longest=512, device=device)
    rows = encode_all(encoder, table)[[table.numbers[text] for _, _, text in lines]].cpu().numpy()
    np.save(
        model.with_suffix(".vectors.npy"), np.round(rows * 127 / np.abs(rows).max(1, keepdims=True)).astype(np.int8)
    )


if __name__ == "__main__":
    main()
