"""`python -m training OUT --pairs FILE`: trains the model, then its student, and writes both as ONNX files.

Run it on a machine with a GPU. `--small` takes a hundred steps of a small batch on the processor.
"""

import argparse
import hashlib
import json
import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import torch

from training.contrastive import Plan, number_pairs, train
from training.definitions import read_definitions
from training.encoder import Encoder, encoder_with, mixed, narrowed, weights_of
from training.glosses import glosses, passages
from training.mining import akin, with_mined
from training.onnx_weights import Weights, read_weights, write_weights
from training.pairs import Pair, claims, crops, plain_texts, training_pairs
from training.sets import LabelledSet, evaluation_table, kept_dialogues, read_set, score_kept, score_set
from training.tokens import TokenTable, encode_all

_BASE = Path("packages/recollectum-gte-small/src/recollectum_gte_small")
_MODEL = _BASE / "gte-small.w8.onnx"
_TOKENIZER = _BASE / "tokenizer.json"
_ALL_LAYERS = tuple(range(12))
_LONGEST = 128
#: A student also learns from long passages; without them it fails on documents.
_LONGEST_PLAIN = 320
_SEED = 2026
#: Texts in a group of akin plain texts.
_IN_GROUP = 8
#: A definition of more characters counts as a passage.
_LONG_GLOSS = 240
#: Passages whose sentences are asked for.
_CLAIMED = 60_000
#: The share of the trained weights; the rest is gte-small. Mixing was tried and gave nothing.
SHARE = 1.0
#: More layers that are narrower inside: as fast as four full ones, and nearer to the teacher.
STUDENT_LAYERS = (0, 2, 4, 7, 9, 11)
STUDENT_INNER = 960


@dataclass(frozen=True, slots=True)
class _Sizes:
    """How long each stage takes: in full, or in small."""

    model: Plan
    #: Each plan trains a student from the same start; the mean of their weights is better than each of them.
    students: tuple[Plan, ...]
    pairs: int
    plain: int
    pieces: int
    #: Definitions that are taken of each file.
    lines: int
    #: Passages of WordNet's definitions, and of those of the ontologies.
    glosses: int
    definitions: int
    #: Groups of akin plain texts.
    groups: int


_STUDENT = Plan(steps=0, batch=512, rate=4e-4, contrast=0.3, follow=6.0, follow_order=1.0, negatives=2)
_FULL = _Sizes(
    model=Plan(steps=400),
    students=(
        replace(_STUDENT, steps=1600, plain=512, pieces=1024),
        replace(_STUDENT, steps=2500, plain=384, pieces=512, groups=96),
    ),
    pairs=10**9,
    plain=200_000,
    pieces=400_000,
    lines=10**9,
    glosses=60_000,
    definitions=90_000,
    groups=150_000,
)
_SMALL = _Sizes(
    model=Plan(steps=100, batch=16, negatives=2, tokens=2048),
    students=(
        replace(_STUDENT, steps=60, batch=16, tokens=2048, rate=1e-4, plain=8, pieces=8),
        replace(_STUDENT, steps=100, batch=16, tokens=2048, rate=1e-4, plain=8, pieces=8, groups=2),
    ),
    pairs=2000,
    plain=200,
    pieces=200,
    lines=300,
    glosses=100,
    definitions=100,
    groups=100,
)


class _Bench:
    """What is measured after each stage."""

    def __init__(self, sets: Sequence[LabelledSet], device: str) -> None:
        self._sets = sets
        self._table = evaluation_table(_TOKENIZER, sets, device)
        self._began = time.monotonic()

    def tell(self, name: str, encoder: Encoder) -> None:
        """Print the scores of an encoder."""
        vectors = encode_all(encoder, self._table)
        said = [f"[{time.monotonic() - self._began:.0f} s] {name}"]
        for data in self._sets:
            found = score_set(vectors, self._table, data)
            said.append(
                f"{data.name}: vectors {found['dense5']:.4f}/{found['dense10']:.4f} "
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
    parser.add_argument(
        "--stage",
        choices=("model", "student", "both", "export"),
        default="both",
        help="train both, or one; `export` writes the student again from the weights that its training kept in OUT",
    )
    parser.add_argument("--mined", type=int, default=0, metavar="STEPS", help="then train with mined negatives too")
    parser.add_argument(
        "--documents",
        type=int,
        default=0,
        metavar="CLAIMS",
        help="sentences in each batch that have to find the rest of a long passage, as with gte-small",
    )
    parser.add_argument(
        "--glosses",
        type=Path,
        metavar="FOLDER",
        help="the folder with WordNet's data.noun; the student follows on it too",
    )
    parser.add_argument(
        "--definitions",
        type=Path,
        metavar="FILE",
        help="the file that `python -m training.definitions` writes; the student follows on it too",
    )
    parser.add_argument("--small", action="store_true", help="a hundred steps, on any machine")
    options = parser.parse_args()
    needed = [
        options.pairs,
        *options.sets,
        *(path for path in (options.texts, options.glosses, options.definitions) if path),
    ]
    if options.stage == "export":
        needed.append(options.out / "recollectum-embed-quick.npz")
    if options.stage in {"student", "export"}:
        needed.append(options.out / "recollectum-embed.onnx")
    for path in needed:
        if not path.exists():
            parser.error(f"{path} does not exist; training/README.md says what each input is")
    options.out.mkdir(parents=True, exist_ok=True)
    device = "cuda" if torch.cuda.is_available() else "cpu"
    sizes = _SMALL if options.small else _FULL
    torch.set_float32_matmul_precision("high")
    bench = _Bench([*(read_set(path) for path in options.sets), *kept_dialogues()], device)
    pairs = training_pairs(options.pairs, seed=_SEED)[: sizes.pairs]
    model = options.out / "recollectum-embed.onnx"
    if options.stage in {"model", "both"}:
        plan = replace(sizes.model, claims=options.documents)
        weights = _train_model(read_weights(_MODEL), pairs, plan, options.mined, bench, device)
        write_weights(_MODEL, weights, len(_ALL_LAYERS), model)
        _finish(model, options.texts, bench, device)
    if options.stage != "model":
        kept, student = options.out / "recollectum-embed-quick.npz", options.out / "recollectum-embed-quick.onnx"
        if options.stage != "export":
            # Kept before anything else can fail: they take the longest to make.
            more = _plain_definitions(options.glosses, options.definitions, sizes)
            np.savez(kept, **_train_student(read_weights(model), pairs, more, sizes, bench, device))
        with np.load(kept) as stored:
            weights: Weights = {name: stored[name] for name in stored.files}
        write_weights(model, weights, len(STUDENT_LAYERS), student)
        _finish(student, options.texts, bench, device)


def _plain_definitions(wordnet: Path | None, file: Path | None, sizes: _Sizes) -> list[str]:
    """Return the definitions that are given, and passages of them."""
    words = glosses(wordnet)[: sizes.lines] if wordnet else []
    terms = read_definitions(file)[: sizes.lines] if file else []
    more = [*words, *terms]
    if words:
        more += passages(words, sizes.glosses, _SEED)
    if terms:
        more += passages(terms, sizes.definitions, _SEED)
    return more


def _tokens(pairs: Sequence[Pair], more: Sequence[str], longest: int, device: str) -> TokenTable:
    texts = [text for one in pairs for text in (one.query, one.positive, *one.negatives)]
    table = TokenTable(_TOKENIZER, [*texts, *more], longest=longest, device=device)
    print(f"{len(pairs)} pairs, {len(table.texts)} texts", flush=True)
    return table


def _train_model(base: Weights, pairs: Sequence[Pair], plan: Plan, mined: int, bench: _Bench, device: str) -> Weights:
    asked = claims(plain_texts(pairs, _CLAIMED, _SEED), _SEED) if plan.claims else []
    table = _tokens(pairs, [text for one in asked for text in one], _LONGEST_PLAIN if asked else _LONGEST, device)
    numbered = number_pairs(pairs, table)
    encoder = encoder_with(base, _ALL_LAYERS).to(device)
    bench.tell("gte-small", encoder)
    if asked:
        places = torch.tensor([[table.numbers[text] for text in one] for one in asked], device=device)
        train(encoder, table, numbered, plan, told=bench.told, claims=places, teacher=encode_all(encoder, table))
    else:
        train(encoder, table, numbered, plan, told=bench.told)
    bench.tell("after the given negatives", encoder)
    if mined:
        harder = with_mined(pairs, numbered, encode_all(encoder, table), each=3)
        print(f"{sum(len(one.negatives) for one in harder) / len(harder):.2f} negatives a pair", flush=True)
        train(encoder, table, harder, replace(plan, steps=mined, seed=plan.seed + 1), told=bench.told)
        bench.tell("after the mined negatives", encoder)
    return mixed(weights_of(encoder), base, SHARE)


def _train_student(
    weights: Weights, pairs: Sequence[Pair], more: Sequence[str], sizes: _Sizes, bench: _Bench, device: str
) -> Weights:
    long = [text for text in more if len(text) > _LONG_GLOSS]
    plain = [*plain_texts(pairs, sizes.plain, _SEED), *long]
    given = list(dict.fromkeys(text for one in pairs for text in (one.query, one.positive, *one.negatives)))
    pieces = [*crops([*given, *plain], sizes.pieces, _SEED), *(text for text in more if len(text) <= _LONG_GLOSS)]
    table = _tokens(pairs, [*plain, *pieces], _LONGEST_PLAIN, device)
    teacher = encoder_with(weights, _ALL_LAYERS).to(device)
    # Half the memory: there are over a million texts.
    vectors = encode_all(teacher, table).half()
    bench.tell("teacher", teacher)
    numbered = number_pairs(pairs, table)
    plain_numbers = sorted({table.numbers[text] for text in plain})
    piece_numbers = sorted({table.numbers[text] for text in pieces})
    groups = akin(vectors, plain_numbers + piece_numbers, sizes.groups, _IN_GROUP, _SEED)
    made: list[Weights] = []
    for plan in sizes.students:
        student = encoder_with(narrowed(weights, STUDENT_INNER), STUDENT_LAYERS).to(device)
        train(
            student,
            table,
            numbered,
            plan,
            teacher=vectors,
            told=bench.told,
            plain=plain_numbers,
            pieces=piece_numbers,
            groups=groups,
        )
        bench.tell(f"student after {plan.steps} steps", student)
        made.append(weights_of(student))
    mean = {name: np.mean([one[name] for one in made], axis=0, dtype=np.float32) for name in made[0]}
    bench.tell("mean of the students", encoder_with(mean, range(len(STUDENT_LAYERS))).to(device))
    return mean


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
