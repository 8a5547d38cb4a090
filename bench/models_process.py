"""One process of the models benchmark: measures one embedder, or prepares what the others need. Run by bench.models.

python -m bench.models_process texts|shape|table|measure PLAN
"""

import json
import re
import resource
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from statistics import median
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from bench.models_found import Candidate
    from recollectum.models.embedding.port import Vectors
    from recollectum.models.onnx import LoadedModel

    Embed = Callable[[Sequence[str]], Vectors]

Plan = Mapping[str, Any]
#: Tokens in one run when the table is made.
_AT_ONCE = 512


def _candidate(plan: Plan) -> "Candidate":
    from bench.models_found import Candidate  # noqa: PLC0415 - not before the clock of a measurement has started

    return Candidate(
        name=plan["name"],
        model=Path(plan["model"]),
        tokenizer=Path(plan["tokenizer"]),
        dimensions=plan["dimensions"],
        static=plan["static"],
    )


def _load(plan: Plan) -> "LoadedModel":
    from bench.models_found import local_model  # noqa: PLC0415
    from recollectum.models.onnx import load_model  # noqa: PLC0415

    return load_model(local_model(_candidate(plan)), threads=1)


def texts(plan: Plan) -> dict[str, float]:
    """Write texts of exactly so many tokens, and short questions; all of them are turns of the consolidation set."""
    from bench.consolidation_set.conversations import HALVES, conversations  # noqa: PLC0415

    tokenizer = _load(plan).tokenizer
    turns = [turn.text for half in HALVES for one in conversations(half) for turn in one.turns]
    words = " ".join(turns).split()
    made: dict[str, list[str]] = {}
    for size, count in plan["sizes"].items():
        found = pieces(words, int(size), lambda text: len(tokenizer.encode(text).ids))
        made[size] = [text for text, _ in zip(found, range(count), strict=False)]
        if len(made[size]) < count:
            raise SystemExit(f"the set has only {len(made[size])} texts of {size} tokens, and {count} are needed")
    asked = [turn for turn in turns if turn.endswith("?") and len(turn.split()) <= 12]
    made["questions"] = asked[: plan["questions"]]
    Path(plan["to"]).write_text(json.dumps(made), encoding="utf-8")
    return {size: float(len(found)) for size, found in made.items()}


def pieces(words: Sequence[str], size: int, count: Callable[[str], int]) -> Iterator[str]:
    """Yield runs of words that are exactly so many tokens."""
    begin = 0
    while begin < len(words):
        # A word is at least one token, so this many words cannot be too few.
        length = next((n for n in range(1, size + 1) if count(" ".join(words[begin : begin + n])) >= size), size)
        text = " ".join(words[begin : begin + length])
        if count(text) == size:
            yield text
        begin += length


def shape(plan: Plan) -> dict[str, float]:
    """Return the length of the vectors of a model."""
    loaded = _load(plan)
    return {"dimensions": float(_rows(loaded, [[loaded.tokenizer.encode("a").ids[0]]]).shape[-1])}


def table(plan: Plan) -> dict[str, float]:
    """Write a table with one row for each token: what the model makes of the token alone."""
    import numpy as np  # noqa: PLC0415

    loaded = _load(plan)
    size = len(json.loads(Path(plan["tokenizer"]).read_text(encoding="utf-8"))["model"]["vocab"])
    wanted = range(size)
    if plan["small"]:
        known: dict[str, list[str]] = json.loads(Path(plan["texts"]).read_text(encoding="utf-8"))
        wanted = sorted({id for lot in known.values() for text in lot for id in loaded.tokenizer.encode(text).ids})
    made = np.zeros((size, plan["dimensions"]), np.float32)
    for start in range(0, len(wanted), _AT_ONCE):
        ids = list(wanted[start : start + _AT_ONCE])
        made[ids] = _rows(loaded, [[id] for id in ids])[:, 0]
    np.save(plan["to"], made)
    return {"rows": float(len(wanted))}


def _rows(loaded: "LoadedModel", ids: Sequence[Sequence[int]]) -> "Vectors":
    import numpy as np  # noqa: PLC0415

    tokens = np.array(ids, np.int64)
    inputs = {"input_ids": tokens, "attention_mask": np.ones_like(tokens), "token_type_ids": np.zeros_like(tokens)}
    (rows,) = loaded.session.run(["last_hidden_state"], inputs)
    return rows


def measure(plan: Plan) -> dict[str, float]:
    """Return the speed, the load time and the memory of one embedder."""
    known: dict[str, list[str]] = json.loads(Path(plan["texts"]).read_text(encoding="utf-8"))
    questions = known.pop("questions")
    make = _static(plan) if plan["static"] else _local(plan)
    began = time.perf_counter(), time.process_time()
    embed = make()
    embed(questions[:1])
    load_s, load_cpu_s = time.perf_counter() - began[0], time.process_time() - began[1]
    found = {f"texts_{size}": len(lot) / _seconds(embed, lot) for size, lot in known.items()}
    return {
        **found,
        "question_ms": 1000 * median(_seconds(embed, [one]) for one in questions),
        "load_s": load_s,
        "load_cpu_s": load_cpu_s,
        "dimensions": float(embed(questions[:1]).shape[1]),
        "memory_mib": _peak() / 2**20,
    }


def _peak() -> int:
    """Return the most memory that this process has had, in bytes."""
    now = Path("/proc/self/status")
    if now.exists():
        # What getrusage says includes the memory of the process that started this one.
        return 1024 * int(re.findall(r"VmHWM:\s*(\d+) kB", now.read_text(encoding="ascii"))[0])
    unit = 1 if sys.platform == "darwin" else 1024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * unit


def _seconds(embed: "Embed", lot: Sequence[str]) -> float:
    began = time.process_time()
    embed(lot)
    return time.process_time() - began


def _local(plan: Plan) -> "Callable[[], Embed]":
    from bench.models_found import local_model  # noqa: PLC0415

    # The product knows the digests beforehand, so computing them is not counted.
    model = local_model(_candidate(plan))

    def make() -> "Embed":
        from recollectum.domain.models.embedder import Purpose  # noqa: PLC0415
        from recollectum.models.embedding.local import LocalEmbedder  # noqa: PLC0415

        embedder = LocalEmbedder(model, threads=1)
        return lambda lot: embedder.embed(lot, Purpose.PASSAGE)

    return make


def _static(plan: Plan) -> "Callable[[], Embed]":
    def make() -> "Embed":
        import numpy as np  # noqa: PLC0415
        from tokenizers import Tokenizer  # noqa: PLC0415

        from recollectum.models.embedding.vectors import to_unit_length  # noqa: PLC0415

        rows = np.load(plan["model"])
        tokenizer = Tokenizer.from_file(plan["tokenizer"])
        return lambda lot: to_unit_length(np.array([rows[tokenizer.encode(text).ids].mean(axis=0) for text in lot]))

    return make


if __name__ == "__main__":
    works = {"texts": texts, "shape": shape, "table": table, "measure": measure}
    print(json.dumps(works[sys.argv[1]](json.loads(sys.argv[2]))))
