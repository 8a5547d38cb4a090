"""What a sample of a foreign file is, and what the readers of the samples share."""

import json
import shutil
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

SAMPLES = Path(__file__).parent / "samples"
#: Who speaks, and the text; a memory is spoken by nobody.
Row = tuple[str, str]


@dataclass(frozen=True, slots=True)
class Sample:
    """A file of a form, and what an independent reader finds in it."""

    name: str
    path: Path
    rows: list[Row]
    #: What is not imported, with its count.
    left_out: dict[str, int]


def copied(folder: Path, sample: str, name: str) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    return Path(shutil.copy(SAMPLES / sample, folder / name))


def sample_lines(sample: str) -> Iterator[Any]:
    return (json.loads(line) for line in (SAMPLES / sample).read_text().splitlines())


def texts_of(content: str | list[dict[str, Any]]) -> str:
    if isinstance(content, str):
        return content
    return "\n".join(part["text"] for part in content if isinstance(part.get("text"), str))
