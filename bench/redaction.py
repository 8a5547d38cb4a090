"""Measures redaction: found secrets of each kind, ordinary lines that are changed, and the time per message."""

import time
from statistics import median, quantiles

from bench.redaction_examples import FORMED, NAMED, examples, ordinary_lines
from bench.sizes import sized
from recollectum.text.secrets.redaction import redact

_EACH = sized(200, 5)
_LINES = sized(10_000, 200)
_MESSAGE = 500


def main() -> None:
    print("| kind | found |\n|---|---|")
    found = {kind: _recall(kind) for kind in (*FORMED, *NAMED)}
    for kind, share in found.items():
        print(f"| {kind} | {share:.3f} |")
    lines = ordinary_lines(_LINES)
    spoilt = sum(bool(redact(line).found) for line in lines) / _LINES
    print(f"\n{len(found)} kinds, recall {sum(found.values()) / len(found):.4f}, false positives {spoilt:.2%}")
    times = _times("\n".join(lines))
    middle, late = median(times) * 1e3, quantiles(times, n=100)[98] * 1e3
    print(f"a message of {_MESSAGE} characters, CPU: p50 {middle:.3f} ms, p99 {late:.3f} ms")


def _recall(kind: str) -> float:
    return sum(secret not in redact(text).text for text, secret in examples(kind, _EACH)) / _EACH


def _times(text: str) -> list[float]:
    taken: list[float] = []
    for start in range(0, len(text) - _MESSAGE, _MESSAGE):
        message = text[start : start + _MESSAGE]
        began = time.process_time()
        redact(message)
        taken.append(time.process_time() - began)
    return taken
