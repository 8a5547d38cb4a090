"""Measures embedding models side by side: texts per CPU second, ms per question, load time and memory.

Each model is measured in a fresh process with one thread, in rounds, one model after the other in each.
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from statistics import median
from typing import cast

from bench.models_found import Absent, Candidate, find_models, parse_model, static_table
from bench.sizes import is_small
from tests.shape.source import ROOT

#: The sizes of the texts, in tokens.
SIZES = (10, 40, 128)
_ROUNDS, _SMALL_ROUNDS = 5, 1
#: How many texts of each size a process embeds, and how many questions.
_TEXTS, _SMALL_TEXTS = {10: 96, 40: 48, 128: 24}, {10: 4, 40: 2, 128: 2}
_QUESTIONS, _SMALL_QUESTIONS = 40, 3

Measured = Mapping[str, float]


def main(arguments: Sequence[str] = ()) -> None:
    parser = argparse.ArgumentParser(prog="python -m bench models", description=__doc__)
    parser.add_argument(
        "--model",
        action="append",
        default=[],
        metavar="NAME=PATH",
        help="also measure an ONNX file, with the tokenizer.json beside it or else that of gte-small; may be repeated",
    )
    parser.add_argument("--rounds", type=int, default=0, help=f"how often each is measured; {_ROUNDS} unless told")
    parser.add_argument("--json", action="store_true", help="print the figures as one JSON object")
    parser.add_argument("--small", action="store_true", help="few texts, one round: only to see that it works")
    asked = parser.parse_args(arguments)
    small = asked.small or is_small()
    found, absent = find_models()
    try:
        found += [parse_model(given, found) for given in cast("list[str]", asked.model)]
    except ValueError as error:
        parser.error(str(error))
    if asked.rounds < 0:
        parser.error(f"--rounds is {asked.rounds}; give a number from 1 on")
    # A model that is not installed may be given by its path.
    absent = [one for one in absent if one.name not in {given.name for given in found}]
    rounds = asked.rounds or (_SMALL_ROUNDS if small else _ROUNDS)
    if not found:
        parser.error("no embedder is installed to measure; run: pip install 'recollectum[local]'")
    with tempfile.TemporaryDirectory() as folder:
        measured = measure(found, Path(folder), rounds=rounds, small=small)
    if asked.json:
        print(json.dumps({"rounds": rounds, "models": measured, "absent": [asdict(one) for one in absent]}))
    else:
        print(f"one thread, CPU time, each in a fresh process, medians of {rounds} round{'s'[: rounds > 1]}\n")
        print(table(measured, absent))


def measure(
    found: Sequence[Candidate], folder: Path, *, rounds: int, small: bool, echo: bool = True
) -> dict[str, dict[str, float]]:
    """Return the medians of every model, and of a static table made of the first one."""
    texts = folder / "texts.json"
    plan = {
        "sizes": _SMALL_TEXTS if small else _TEXTS,
        "questions": _SMALL_QUESTIONS if small else _QUESTIONS,
        "to": str(texts),
    }
    _ask("texts", found[0], plan)
    sized = [one.with_dimensions(int(_ask("shape", one, {})["dimensions"])) for one in found]
    _say(f"making a static table of the tokens of {found[0].name}", echo=echo)
    fixed = static_table(sized[0], folder / "table.npy")
    _ask("table", sized[0], {"to": str(fixed.model), "texts": str(texts), "small": small})
    every = [*sized, fixed]
    taken: dict[str, list[Measured]] = {one.name: [] for one in every}
    for number in range(rounds):
        for step in range(len(every)):
            # Another model begins each round, so that none always follows the same one.
            one = every[(number + step) % len(every)]
            _say(f"round {number + 1} of {rounds}: {one.name}", echo=echo)
            taken[one.name].append(_ask("measure", one, {"texts": str(texts)}))
    return {
        one.name: {
            "bytes": one.model.stat().st_size,
            **{key: median(each[key] for each in taken[one.name]) for key in taken[one.name][0]},
        }
        for one in every
    }


def table(measured: Mapping[str, Measured], absent: Sequence[Absent]) -> str:
    """Return one row for each model; those that are not installed say so, and how to get them."""
    sizes = " | ".join(f"{size} tokens, texts/CPU s" for size in SIZES)
    lines = [
        f"| model | file MiB | {sizes} | × first at {SIZES[1]} "
        "| question, CPU ms | load, CPU s | load, s | memory MiB |",
        "|---|--:|" + "--:|" * (len(SIZES) + 5),
    ]
    first = next(iter(measured.values()))[f"texts_{SIZES[1]}"]
    for name, one in measured.items():
        rates = " | ".join(f"{one[f'texts_{size}']:,.1f}" for size in SIZES)
        lines.append(
            f"| {name} | {one['bytes'] / 2**20:.1f} | {rates} | {one[f'texts_{SIZES[1]}'] / first:.2f} "
            f"| {one['question_ms']:.2f} | {one['load_cpu_s']:.2f} | {one['load_s']:.2f} | {one['memory_mib']:.0f} |"
        )
    lines += [f"| {one.name} | not installed: {one.cure} |" + " |" * (len(SIZES) + 5) for one in absent]
    return "\n".join(lines)


def _ask(work: str, model: Candidate, plan: Mapping[str, object]) -> Measured:
    """Return the answer of a fresh process."""
    # Libraries for linear algebra start a thread for each core unless told.
    single = {f"{name}_NUM_THREADS": "1" for name in ("OMP", "OPENBLAS", "MKL", "RAYON")}
    ran = subprocess.run(
        [sys.executable, "-m", "bench.models_process", work, json.dumps({**model.as_json(), **plan})],
        cwd=ROOT,
        env={**os.environ, **single, "TOKENIZERS_PARALLELISM": "false"},
        capture_output=True,
        text=True,
        check=False,
    )
    if ran.returncode:
        reason = ran.stderr.strip().splitlines()[-1:] or ["it said nothing"]
        raise SystemExit(f"{model.name} could not be measured: {reason[0]}")
    return cast("Measured", json.loads(ran.stdout))


def _say(what: str, *, echo: bool) -> None:
    if echo and sys.stderr.isatty():
        print(what, file=sys.stderr, flush=True)
