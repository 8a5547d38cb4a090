"""Processor time to compile a context from 10,000 messages and 5,000 memories, beyond loading and recall."""

import time
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from statistics import median

from recollect.context.compiling import compile_context
from recollect.context.extracting import extract
from recollect.context.summarising import needs_summary, to_summarise
from recollect.domain.context import Budget, Parts, RecalledText
from recollect.domain.message import Message, Role
from recollect.domain.summary import Summary
from recollect.domain.trust import Trust
from recollect.text.tokens import counter, estimate

_MESSAGES, _MEMORIES, _TURNS = 10_000, 5_000, 30
_SAID = "I told Grace that we would take the early train to Lyon on Friday, and she will bring the tickets. "
_AT = datetime(2026, 3, 1, tzinfo=UTC)


def main() -> None:
    parts = _parts()
    print("| what | p50 | worst |\n|---|---|---|")
    for model in (None, "gpt-4o"):
        by = counter(model)
        _show(f"compiling, {by.name}", lambda by=by: compile_context(parts, Budget(), by, mark="0123456789abcdef"))
    _show("whether a summary is due", lambda: needs_summary(parts.messages, covered_to=9000))
    _show("what goes into it", lambda: to_summarise(parts.messages, covered_to=9000))
    _show("1,000 messages by rules", lambda: extract(parts.messages[:1000], 600, counter(None)))


def _show(what: str, work: Callable[[], object]) -> None:
    taken = [_clock(work) for _ in range(_TURNS)]
    print(f"| {what} | {median(taken) * 1000:.2f} ms | {max(taken) * 1000:.2f} ms |")


def _clock(work: Callable[[], object]) -> float:
    began = time.process_time()
    work()
    return time.process_time() - began


def _parts() -> Parts:
    return Parts(
        notes="Answer in French, and never call before nine.\n" * 20,
        profile=["Lives in Lyon with Grace and two cats"] * 20,
        learnings=["Run the tests before the change is sent"] * 100,
        recalled=[
            RecalledText(
                id=f"mem_{number}",
                text=f"{_SAID} {number}",
                source=f"memory mem_{number}",
                trust=Trust.OWNER if number % 5 else Trust.IMPORTED,
                author="ada",
                at=_AT,
            )
            for number in range(_MEMORIES)
        ],
        summary=Summary(text=f"user: {_SAID}\n" * 20, up_to=9000, by="rules"),
        messages=[_message(position) for position in range(1, _MESSAGES + 1)],
    )


def _message(position: int) -> Message:
    return Message(
        id=f"msg_{position}",
        session_id="ses_1",
        position=position,
        role=Role.USER if position % 2 else Role.ASSISTANT,
        content=_SAID * 3,
        created_at=_AT + timedelta(minutes=position),
        token_estimate=estimate(_SAID * 3),
    )
