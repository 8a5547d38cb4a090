"""Reads from the answer of any entry how many secrets it says were replaced."""

import re
from collections.abc import Mapping
from typing import cast

from recollectum.domain.notice import Notice
from recollectum.doors.mcp.results import ToolAnswer
from tests.doors.cli.calls import Answer as Printed
from tests.doors.http.served import Answer as Sent

_SENTENCE = re.compile(r"\b(\d+) secrets? (?:was|were) replaced: github-token\b")


def count_told(answer: object) -> int:
    """How many secrets the answer of an entry says were replaced; 0 when it does not say so."""
    match answer:
        case str():
            return sum(int(count) for count in _SENTENCE.findall(answer))
        case list():
            return sum(count_told(one) for one in cast("list[object]", answer))
        case Sent():
            return _counted(answer.json["notice"])
        case Printed():
            return count_told(answer.err + answer.out)
        case ToolAnswer():
            # A program reads the one, a model the other.
            structured = answer.structured.get("notice")
            assert isinstance(structured, Mapping)
            assert count_told("\n".join((answer.text, *answer.remarks))) == _counted(structured)
            return _counted(structured)
        case _:
            notice = getattr(answer, "notice", None)
            assert isinstance(notice, Notice), f"{type(answer).__name__} carries no notice"
            return count_told("\n".join(notice.sentences()))


def _counted(notice: Mapping[str, object]) -> int:
    replaced = cast("Mapping[str, int]", notice["replaced"])
    return replaced.get("github-token", 0)
