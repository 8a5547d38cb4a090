"""`recollectum recall`: searches the vault, and explains the rank of each hit."""

from typing import Annotated

import typer

from recollectum.domain.hit import (
    ArchivedMatches,
    Hit,
    Neighbour,
    Reasons,
    RecallResult,
    SearchMode,
    Source,
    SourceKind,
)
from recollectum.domain.ids import parse_optional_enum
from recollectum.domain.memory import Kind
from recollectum.domain.records import dataclass
from recollectum.domain.trust import Trust
from recollectum.doors.cli.terminal.errors import Misuse
from recollectum.doors.cli.terminal.excerpts import excerpt
from recollectum.doors.cli.terminal.flags import Run, command
from recollectum.doors.cli.terminal.output import answer, moment, note, plural
from recollectum.doors.cli.terminal.projects import current_project, project_place
from recollectum.doors.cli.terminal.prompts import read_words_or_stdin
from recollectum.doors.cli.terminal.sanitise import one_line, visible
from recollectum.doors.cli.terminal.target import open_vault
from recollectum.doors.cli.terminal.times import parse_time

#: Of the nearest hit, in characters.
_NEAREST = 120
#: Of the archived memories that match.
_NAMED = 3


@dataclass(frozen=True, slots=True, kw_only=True)
class _Wanted:
    """What is shown of each hit besides the text that matches and its source."""

    around: bool
    explain: bool
    full: bool


def explain_reasons(reasons: Reasons) -> list[str]:
    """Return the search mode, rank and score in each arm, the terms, and what other reasons added; one per line."""
    arms = (
        ("by words", reasons.text_rank, reasons.text_score, "BM25"),
        ("by meaning", reasons.vector_rank, reasons.vector_score, "cosine"),
    )
    lines = [
        f"rung: {reasons.rung}",
        *(f"{name}: {_rank_and_score(rank, score, unit, reasons.rung)}" for name, rank, score, unit in arms),
    ]
    lines.append(f"terms: {', '.join(reasons.terms) or 'none'}")
    if reasons.added:
        lines.append("added: " + ", ".join(f"{name} {value:+.3g}" for name, value in reasons.added))
    return [one_line(line) for line in lines]


def _rank_and_score(rank: int | None, score: float | None, unit: str, rung: SearchMode) -> str:
    """Return rank and score; a score without a rank is of a text that only the other arm found."""
    if rank is None and score is None:
        return "not among the best" if rung is SearchMode.HYBRID else "not compared"
    told = [f"place {rank}" if rank is not None else "not among the nearest"]
    if score is not None:
        told.append(f"{unit} {score:.3g}")
    return ", ".join(told)


_Question = Annotated[
    list[str], typer.Argument(metavar="QUERY", help="A question or some words; `-` reads them from stdin.")
]
_Trust = Annotated[
    str | None, typer.Option(help="Only texts of this trust: owner, assistant, tool, imported or unknown.")
]
_Untrusted = Annotated[
    bool | None,
    typer.Option("--untrusted/--no-untrusted", help="Include all text from tools and strangers, or none of it."),
]
_MinScore = Annotated[
    float | None, typer.Option(help="Minimum probability that a hit is relevant; 0 shows everything.")
]
_Project = Annotated[
    str | None, typer.Option(metavar="PROJECT", help="Nothing of other projects: a name, or a folder such as `.`.")
]


def add_to(app: typer.Typer) -> None:
    """Add the command to the app."""
    command(app, "recall")(recall)


def recall(
    run: Run,
    query: _Question,
    *,
    limit: Annotated[int | None, typer.Option(help="How many hits at most.")] = None,
    tokens: Annotated[int | None, typer.Option(help="Approximate token limit for all hits together.")] = None,
    source: Annotated[str | None, typer.Option(help="Only memories, sessions or notes.")] = None,
    session: Annotated[str | None, typer.Option(metavar="ID", help="Only this session.")] = None,
    kind: Annotated[str | None, typer.Option(help="Only memories of this kind.")] = None,
    speaker: Annotated[str | None, typer.Option(metavar="NAME", help="Only what this speaker said.")] = None,
    agent: Annotated[str | None, typer.Option(metavar="NAME", help="Only what was said to this agent.")] = None,
    channel: Annotated[str | None, typer.Option(metavar="NAME", help="Only what was said on this channel.")] = None,
    trust: _Trust = None,
    since: Annotated[str | None, typer.Option(metavar="DATE", help="Only what was said at this time or later.")] = None,
    until: Annotated[str | None, typer.Option(metavar="DATE", help="Only what was said before this time.")] = None,
    untrusted: _Untrusted = None,
    min_score: _MinScore = None,
    project: _Project = None,
    around: Annotated[bool, typer.Option("--around", help="Show what was said just before and after.")] = False,
    full: Annotated[bool, typer.Option("--full", help="Show whole texts, not only the part that matches.")] = False,
    explain: Annotated[bool, typer.Option("--explain", help="Say why each hit ranks where it does.")] = False,
) -> None:
    """Search memories and conversations, best first, with source, author, time and trust.

    In the folder of a project, its texts are preferred a little.
    """
    wanted = _question(query)
    begin = parse_time(since) if since is not None else None
    end = parse_time(until) if until is not None else None
    with open_vault(run) as vault:
        hits = vault.recall(
            wanted,
            limit=limit,
            tokens=tokens,
            source=parse_optional_enum(SourceKind, source, "source"),
            session_id=session,
            kind=parse_optional_enum(Kind, kind, "kind"),
            speaker=speaker,
            agent=agent,
            channel=channel,
            trust=parse_optional_enum(Trust, trust, "trust"),
            since=begin,
            until=end,
            untrusted=untrusted,
            min_score=min_score,
            answers_only=min_score is None,
            project=None if project is None else project_place(project),
            prefer_project=None if project is not None else current_project(vault),
        )
    _show(run, hits, _Wanted(around=around, explain=explain, full=full))


def _question(words: list[str]) -> str:
    question = read_words_or_stdin(words)
    if not question.strip():
        raise Misuse("there is nothing to search for; give some words, such as: recollectum recall vegetarian")
    return question


def _show(run: Run, hits: RecallResult, wanted: _Wanted) -> None:
    document = {
        "hits": list(hits),
        "rung": hits.rung,
        "degraded": hits.degraded,
        "held_back": hits.held_back,
        "calibrated": hits.calibrated,
        "replica": hits.replica,
        "nearest": hits.nearest,
        "archived": hits.archived,
    }
    shown = enumerate(hits, start=1)
    unit = "score" if hits.calibrated else "uncalibrated score"
    lines = (line for place, hit in shown for line in _lines(place, hit, unit, wanted))
    answer(run, document, lines)
    if hits.degraded is not None:
        note(f"degraded: {hits.degraded}")
    if hits.held_back:
        note(f"{plural(hits.held_back, 'hit')} of untrusted origin left out; --untrusted shows all")
    if not hits and hits.nearest:
        nearest = one_line(hits.nearest.text, _NEAREST)
        note(f"nothing close; nearest: {nearest} (score {hits.nearest.score:.2g}); --min-score 0 shows everything")
    elif not hits:
        note("nothing was found; try other words, or fewer filters")
    if hits.archived.count:
        _tell_archived(hits.archived)


def _tell_archived(archived: ArchivedMatches) -> None:
    shown = archived.ids[:_NAMED]
    others = ", …" if archived.count > len(shown) else ""
    note(
        f"{archived.words} ({', '.join(shown)}{others}); bring one back with: recollectum memories restore ID; "
        "see all that is archived with: recollectum memories list --state archived"
    )


def _lines(place: int, hit: Hit, unit: str, wanted: _Wanted) -> list[str]:
    number = f"{place}. "
    indent = " " * len(number)
    text = hit.text if wanted.full else excerpt(hit.text, hit.reasons.terms)
    first, *others = visible(text).splitlines() or [""]
    told = f"by {hit.author or 'unknown'} · {moment(hit.created_at)} · trust: {hit.trust} · {unit} {hit.score:.3g}"
    reasons = explain_reasons(hit.reasons) if wanted.explain else []
    beside = [
        _beside(name, one) for name, one in (("before", hit.before), ("after", hit.after)) if wanted.around and one
    ]
    below = [*others, *beside, citation(hit.source), one_line(told), *reasons]
    return [number + first, *(indent + line for line in below)]


def _beside(name: str, neighbour: Neighbour) -> str:
    return one_line(f"{name}, {neighbour.author}: {visible(neighbour.text)}")


def citation(source: Source) -> str:
    """Return the place of a text in words: the row, its characters, and its conversation."""
    cited = str(source)
    if source.session_id is None:
        return cited
    message = f"message {source.position}" if source.position is not None else "a message"
    begun = "from" if source.memory_id else "in"
    return f"{cited} {begun} {source.session_id}, {message}"
