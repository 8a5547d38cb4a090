"""`recollectum consolidate`: read conversations now, and make what they say into memories and proposals."""

from typing import TYPE_CHECKING, Annotated

import typer

from recollectum.doors.cli.backfill import agreed, bill_for, show
from recollectum.doors.cli.edge import FAILED, Misuse
from recollectum.doors.cli.flags import Run, command
from recollectum.doors.cli.output import answer, answer_rows, note, plural
from recollectum.doors.cli.target import check_user, opened

if TYPE_CHECKING:
    from recollectum.domain.proposal import Finding
    from recollectum.vault.consolidation_working import Outcome
    from recollectum.vault.vault import Vault

_COUNTED = ("added", "updated", "superseded", "renewed", "proposed", "ignored")


def add_to(app: typer.Typer) -> None:
    """Add the command."""
    command(app, "consolidate")(consolidate)


def consolidate(
    run: Run,
    session_id: Annotated[str | None, typer.Argument(metavar="[SESSION]", help="The session's id.")] = None,
    *,
    all_: Annotated[bool, typer.Option("--all", help="Every conversation, also those that do not rest yet.")] = False,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Show what would be found; write nothing.")] = False,
    estimate: Annotated[bool, typer.Option("--estimate", help="Only say what reading would cost at most.")] = False,
    yes: Annotated[bool, typer.Option("--yes", help="Read without asking, whatever it costs.")] = False,
    revert: Annotated[str | None, typer.Option(metavar="RUN", help="Take back what one reading did.")] = None,
) -> None:
    """Read one conversation, or those that rest, and keep what they say. What is in doubt waits in the inbox."""
    if sum((session_id is not None, all_, revert is not None)) > 1:
        raise Misuse("a session, --all and --revert do not go together; give one of them")
    if estimate and (dry_run or revert is not None):
        raise Misuse("--estimate only says what reading would cost; leave --dry-run and --revert out")
    with opened(run) as recollectum:
        vault = recollectum.vault(check_user(recollectum, run))
        if revert is not None:
            _revert(run, vault, revert)
            return
        if session_id is not None:
            # Asked first: with no model there is nothing to count, and a wrong id would pass for a free one.
            vault.sessions.get(session_id)
        bill = bill_for(recollectum, vault, lambda: _chosen(vault, session_id, everything=all_))
        if estimate:
            show(run, bill)
        elif session_id is None and bill is not None and not agreed(bill, yes=yes):
            note("nothing was read")
        elif dry_run:
            _preview(run, vault, _chosen(vault, session_id, everything=all_))
        else:
            _work(run, vault, session_id, everything=all_)


def _work(run: Run, vault: "Vault", session_id: str | None, *, everything: bool) -> None:
    if session_id is not None:
        outcomes = [vault.consolidation.run(session_id)]
    elif everything:
        vault.consolidation.note_idle(everything=True)
        outcomes = vault.consolidation.work()
    else:
        from recollectum.upkeep.sweep import sweep  # noqa: PLC0415 - the engine costs 150 ms, which `--help` must not pay

        outcomes = list(sweep(vault).outcomes)
    answer(run, {"outcomes": outcomes}, [_told(one) for one in outcomes])
    if not outcomes:
        note("nothing to read")
    if any(one.trouble for one in outcomes):
        raise typer.Exit(FAILED)


def _told(outcome: "Outcome") -> str:
    if outcome.trouble:
        return f"{outcome.session_id}  failed: {outcome.trouble}"
    if outcome.run is None:
        return f"{outcome.session_id}  nothing unread"
    counts = [f"{count} {name}" for name in _COUNTED if (count := getattr(outcome.run, name))]
    return f"{outcome.session_id}  {', '.join(counts) or 'nothing to keep'}, by {outcome.run.by} ({outcome.run.id})"


def _chosen(vault: "Vault", session_id: str | None, *, everything: bool) -> list[str]:
    if session_id is not None:
        return [session_id]
    return vault.consolidation.unread(everything=everything)


def _preview(run: Run, vault: "Vault", chosen: list[str]) -> None:
    found = [(session_id, finding) for session_id in chosen for finding in vault.consolidation.preview(session_id)]
    document = {"findings": [{"session_id": session_id, "finding": finding} for session_id, finding in found]}
    rows = [_row(session_id, finding) for session_id, finding in found]
    answer_rows(run, document, ("session", "act", "fate", "kind", "by", "content"), rows)
    if not found:
        note("nothing would be found")


def _row(session_id: str, finding: "Finding") -> tuple[object, ...]:
    fate = "write" if finding.certain else "propose"
    return (session_id, finding.act, fate, finding.kind, finding.by, finding.content)


def _revert(run: Run, vault: "Vault", run_id: str) -> None:
    done = vault.consolidation.revert(run_id)
    line = f"{plural(done.undone, 'change')} undone, {done.kept} kept, {plural(done.withdrawn, 'proposal')} withdrawn"
    answer(run, {"reverted": done}, [line])
