"""Generated histories in plain files, which are read with a mapping; see `generated_files`."""

import csv
import json
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

from tests.transfer.generated_files import Written, facts, stamp, talks


def _rows(count: int) -> Iterator[tuple[str, str, str, str]]:
    for one in talks(count):
        for _, role, text, at in one.turns():
            yield one.name, role, text, stamp(at)


_MAPPED = {"conversation": "talk", "role": "who", "text": "said", "time": "at"}


def plain_csv(folder: Path, count: int) -> Written:
    """A table with a row for each message."""
    folder.mkdir(parents=True)
    path = folder / "talk.csv"
    with path.open("w", newline="") as file:
        csv.writer(file).writerows([("talk", "who", "said", "at"), *_rows(count)])
    return Written("CSV file", [path], [one.rows for one in talks(count)], mapping=_MAPPED)


def plain_jsonl(folder: Path, count: int) -> Written:
    """A line of JSON for each message."""
    folder.mkdir(parents=True)
    path = folder / "talk.jsonl"
    lines = (dict(zip(("talk", "who", "said", "at"), row, strict=True)) for row in _rows(count))
    path.write_text("".join(json.dumps(line, ensure_ascii=False) + "\n" for line in lines))
    return Written("JSONL file", [path], [one.rows for one in talks(count)], mapping=_MAPPED)


def plain_markdown(folder: Path, count: int) -> Written:
    """A section for each memory."""
    folder.mkdir(parents=True)
    path, made = folder / "notes.md", facts(count)
    path.write_text("".join(f"# {name}\n\n{text}\n\n" for name, text, _ in made))
    texts = [text for _, text, _ in made]
    return Written("Markdown file", [path], [], texts, {"text": "section", "title": "heading"})


PLAIN: Sequence[Callable[[Path, int], Written]] = (plain_csv, plain_jsonl, plain_markdown)
