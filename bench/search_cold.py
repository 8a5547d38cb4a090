"""One process of a search benchmark: what the first search takes, or what memory searching takes. Run by bench.search.

python -m bench.search_cold HOME QUESTIONS first|memory
"""

import json
import resource
import sys
import time
from importlib import import_module
from pathlib import Path

_QUESTIONS = 5


def _run(home: Path, known: Path, what: str) -> dict[str, float]:
    import numpy as np  # noqa: PLC0415 - every embedder needs it, and its import is not part of the search

    with np.load(known) as saved:
        table = dict(zip(saved["texts"].tolist(), saved["rows"], strict=True))
    began = time.perf_counter(), time.process_time()
    from bench.search_embedder import OWNER, TableEmbedder  # noqa: PLC0415
    from recollectum import Recollectum  # noqa: PLC0415 - timed

    with Recollectum(home, embedder=TableEmbedder(table)) as r:
        questions = list(table)
        if what == "memory":
            # The code itself is not counted: only what grows with the vault.
            r.vault("user:nobody").recall(questions[0])
            # An empty vault has nothing to scan.
            import_module("numkong")
        before = _resident()
        for question in questions[: 1 if what == "first" else _QUESTIONS]:
            r.vault(OWNER).recall(question)
        after = _resident()
        wall, processor = time.perf_counter() - began[0], time.process_time() - began[1]
    return {"wall": wall * 1000, "processor": processor * 1000, "bytes": after - before}


def _resident() -> int:
    """Return the resident memory in bytes; where the system does not tell, the peak."""
    now = Path("/proc/self/statm")
    if now.exists():
        return int(now.read_text(encoding="ascii").split()[1]) * resource.getpagesize()
    unit = 1 if sys.platform == "darwin" else 1024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * unit


if __name__ == "__main__":
    print(json.dumps(_run(Path(sys.argv[1]), Path(sys.argv[2]), sys.argv[3])))
