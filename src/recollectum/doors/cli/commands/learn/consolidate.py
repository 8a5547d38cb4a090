"""`recollectum consolidate`: distils conversations into memories and proposals, after showing the cost."""

from collections.abc import Callable
from typing import TYPE_CHECKING, Annotated

import typer

from recollectum.domain.notice import total
from recollectum.domain.records import dataclass
from recollectum.doors.cli.terminal.errors import FAILED, Misuse
from recollectum.doors.cli.terminal.flags import Run, command
from recollectum.doors.cli.terminal.output import answer, answer_rows, note, plural, tell, working
from recollectum.doors.cli.terminal.prompts import confirm, is_interactive
from recollectum.doors.cli.terminal.target import check_user, open_home

if TYPE_CHECKING:
    from recollectum.domain.models.language_model import Estimate
    from recollectum.domain.proposal import Finding
    from recollectum.engine import Recollectum
    from recollectum.vault.consolidation.job import ConsolidationOutcome
    from recollectum.vault.vault import Vault

_MILLION = 1_000_000


@dataclass(frozen=True, slots=True, kw_only=True)
class CostEstimate:
    """What is going to be read, and a warning when that is much."""

    conversations: int
    estimate: "Estimate"
    #: Why to ask first; None when it is little.
    doubt: str | None

    @property
    def sentence(self) -> str:
        """The estimate in words."""
        cost = self.estimate
        tokens = f"{cost.input_tokens:,} tokens read and {cost.output_tokens:,} written"
        money = "at an unknown price" if cost.money is None else f"for {cost.money:.2f} {cost.currency}"
        told = f"{plural(self.conversations, 'conversation')}: at most {plural(cost.calls, 'call')}, {tokens}"
        return told if cost.money == 0 else f"{told}, {money}"


def estimate_cost(recollectum: "Recollectum", vault: "Vault", chosen: Callable[[], list[str]]) -> CostEstimate | None:
    """Return the estimate for some conversations; None where no model is going to read them."""
    settings = recollectum.settings.language_model
    if settings.provider == "none":
        return None
    sessions = chosen()
    estimate = vault.admin.consolidation.estimate(sessions)
    if estimate is None:
        return None
    return CostEstimate(conversations=len(sessions), estimate=estimate, doubt=_doubt(recollectum, estimate))


def answer_estimate(run: Run, bill: CostEstimate | None) -> None:
    """Print the estimate as the answer."""
    if bill is None:
        answer(run, {"estimate": None}, ["no model is set, so reading costs nothing"])
        return
    document = {"conversations": bill.conversations, "estimate": bill.estimate, "doubt": bill.doubt}
    answer(run, document, [bill.sentence, *([bill.doubt] if bill.doubt else [])])


def confirm_cost(bill: CostEstimate, *, yes: bool) -> bool:
    """Return whether to go on: always report the cost, and ask when it is high."""
    if bill.estimate.money == 0 or not bill.conversations:
        return True
    if bill.doubt and not yes and is_interactive():
        note(bill.doubt)
        return confirm(bill.sentence, yes=False)
    # A nightly timer has nobody to ask, and its budget is enforced anyway.
    note(bill.sentence)
    return True


def _doubt(recollectum: "Recollectum", estimate: "Estimate") -> str | None:
    # Provider clients are slow to import, and here one is imported already.
    from recollectum.domain.ids import system_clock  # noqa: PLC0415
    from recollectum.models.limits.budget import SpendingAccount  # noqa: PLC0415
    from recollectum.models.registry.language import limits  # noqa: PLC0415

    settings = recollectum.settings.language_model
    if estimate.money == 0:
        return None
    most, spent = limits(settings), SpendingAccount(recollectum.home, system_clock).today()
    tokens = estimate.input_tokens + estimate.output_tokens
    wanted = (
        ("calls", most.calls, spent.calls + estimate.calls),
        ("tokens", most.tokens, spent.tokens + tokens),
        ("money", most.micros, spent.micros + round((estimate.money or 0) * _MILLION)),
    )
    for name, limit, needed in wanted:
        if limit and needed > limit:
            return f"this may exceed what is left today of language_model.{name}_per_day; the rest waits"
    if tokens > settings.ask_above_tokens:
        return f"this may exceed language_model.ask_above_tokens, which is {settings.ask_above_tokens:,}"
    return None


_COUNTED = ("added", "updated", "superseded", "renewed", "proposed", "ignored")


def add_to(app: typer.Typer) -> None:
    """Add the command to the app."""
    command(app, "consolidate")(consolidate)


def consolidate(
    run: Run,
    session_id: Annotated[str | None, typer.Argument(metavar="[SESSION]", help="The session's id.")] = None,
    *,
    all_: Annotated[bool, typer.Option("--all", help="Every conversation, also those that are not idle yet.")] = False,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Show what would be found; write nothing.")] = False,
    estimate: Annotated[bool, typer.Option("--estimate", help="Only estimate the maximum cost.")] = False,
    yes: Annotated[bool, typer.Option("--yes", help="Read without asking, whatever it costs.")] = False,
    revert: Annotated[str | None, typer.Option(metavar="RUN", help="Undo what one consolidation run did.")] = None,
) -> None:
    """Turn one conversation, or all idle ones, into memories. Doubtful findings wait in the review inbox."""
    if sum((session_id is not None, all_, revert is not None)) > 1:
        raise Misuse("a session, --all and --revert do not go together; give one of them")
    if estimate and (dry_run or revert is not None):
        raise Misuse("--estimate only says what reading would cost; leave --dry-run and --revert out")
    with open_home(run) as recollectum:
        vault = recollectum.vault(check_user(recollectum, run))
        if revert is not None:
            _revert(run, vault, revert)
            return
        if session_id is not None:
            # Checked first: without a model there is nothing to count, and a wrong id would look free.
            vault.sessions.get(session_id)
        bill = estimate_cost(recollectum, vault, lambda: _chosen(vault, session_id, everything=all_))
        if estimate:
            answer_estimate(run, bill)
        elif session_id is None and bill is not None and not confirm_cost(bill, yes=yes):
            note("nothing was read")
        elif dry_run:
            _preview(run, vault, _chosen(vault, session_id, everything=all_))
        else:
            _work(run, vault, session_id, everything=all_)


def _work(run: Run, vault: "Vault", session_id: str | None, *, everything: bool) -> None:
    with working(run, "reading conversations"):
        outcomes = _consolidate(vault, session_id, everything=everything)
    answer(run, {"outcomes": outcomes}, [_told(one) for one in outcomes])
    if not outcomes:
        note("nothing to read")
    tell(total(one.notice for one in outcomes))
    if any(one.trouble for one in outcomes):
        raise typer.Exit(FAILED)


def _consolidate(vault: "Vault", session_id: str | None, *, everything: bool) -> "list[ConsolidationOutcome]":
    if session_id is not None:
        return [vault.admin.consolidation.run(session_id)]
    if everything:
        vault.admin.consolidation.note_idle(everything=True)
        return vault.admin.consolidation.work()
    from recollectum.upkeep.rounds.tasks import sweep  # noqa: PLC0415 - the engine costs 150 ms, which `--help` must not pay

    return list(sweep(vault).outcomes)


def _told(outcome: "ConsolidationOutcome") -> str:
    if outcome.trouble:
        return f"{outcome.session_id}  failed: {outcome.trouble}"
    if outcome.run is None:
        return f"{outcome.session_id}  nothing unread"
    counts = [f"{count} {name}" for name in _COUNTED if (count := getattr(outcome.run, name))]
    return f"{outcome.session_id}  {', '.join(counts) or 'nothing to keep'}, by {outcome.run.by} ({outcome.run.id})"


def _chosen(vault: "Vault", session_id: str | None, *, everything: bool) -> list[str]:
    if session_id is not None:
        return [session_id]
    return vault.admin.consolidation.list_unread(everything=everything)


def _preview(run: Run, vault: "Vault", chosen: list[str]) -> None:
    found = [
        (session_id, finding) for session_id in chosen for finding in vault.admin.consolidation.preview(session_id)
    ]
    document = {"findings": [{"session_id": session_id, "finding": finding} for session_id, finding in found]}
    rows = [_row(session_id, finding) for session_id, finding in found]
    answer_rows(run, document, ("session", "act", "fate", "kind", "by", "content"), rows)
    if not found:
        note("nothing would be found")


def _row(session_id: str, finding: "Finding") -> tuple[object, ...]:
    fate = "write" if finding.certain else "propose"
    return (session_id, finding.act, fate, finding.kind, finding.by, finding.content)


def _revert(run: Run, vault: "Vault", run_id: str) -> None:
    done = vault.admin.consolidation.revert(run_id)
    line = f"{plural(done.undone, 'change')} undone, {done.kept} kept, {plural(done.withdrawn, 'proposal')} withdrawn"
    answer(run, {"reverted": done}, [line])
