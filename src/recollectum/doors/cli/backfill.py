"""What reading many conversations would cost: said before it begins, and asked about when it is much."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from recollectum.doors.cli.asking import confirm, on_terminal
from recollectum.doors.cli.flags import Run
from recollectum.doors.cli.output import answer, note, plural

if TYPE_CHECKING:
    from recollectum.domain.language_model import Estimate
    from recollectum.engine import Recollectum
    from recollectum.vault.vault import Vault

_MILLION = 1_000_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Bill:
    """What is going to be read, and what of it should make one think."""

    conversations: int
    estimate: "Estimate"
    #: Why one should be asked first; None where it is little.
    doubt: str | None

    @property
    def sentence(self) -> str:
        """The bill in words."""
        cost = self.estimate
        tokens = f"{cost.input_tokens:,} tokens read and {cost.output_tokens:,} written"
        money = "at a price that is not known" if cost.money is None else f"for {cost.money:.2f} {cost.currency}"
        told = f"{plural(self.conversations, 'conversation')}: at most {plural(cost.calls, 'call')}, {tokens}"
        return told if cost.money == 0 else f"{told}, {money}"


def bill_for(recollectum: "Recollectum", vault: "Vault", chosen: Callable[[], list[str]]) -> Bill | None:
    """The bill for some conversations; None where no model is going to read them."""
    settings = recollectum.loaded.settings.language_model
    if settings.provider == "none":
        return None
    sessions = chosen()
    estimate = vault.consolidation.estimate(sessions)
    if estimate is None:
        return None
    return Bill(conversations=len(sessions), estimate=estimate, doubt=_doubt(recollectum, estimate))


def show(run: Run, bill: Bill | None) -> None:
    """The bill as an answer."""
    if bill is None:
        answer(run, {"estimate": None}, ["no model is set, so reading costs nothing"])
        return
    document = {"conversations": bill.conversations, "estimate": bill.estimate, "doubt": bill.doubt}
    answer(run, document, [bill.sentence, *([bill.doubt] if bill.doubt else [])])


def agreed(bill: Bill, *, yes: bool) -> bool:
    """Whether to read: told beforehand, asked where it is much, and else only said."""
    if bill.estimate.money == 0 or not bill.conversations:
        return True
    if bill.doubt and not yes and on_terminal():
        note(bill.doubt)
        return confirm(bill.sentence, yes=False)
    # A timer that runs at night has nobody to ask, and its budget is kept all the same.
    note(bill.sentence)
    return True


def _doubt(recollectum: "Recollectum", estimate: "Estimate") -> str | None:
    # The clients of providers take a while to load, and here one is loaded already.
    from recollectum.domain.ids import system_clock  # noqa: PLC0415
    from recollectum.models.language_registry import limits  # noqa: PLC0415
    from recollectum.models.spending import Spending  # noqa: PLC0415

    settings = recollectum.loaded.settings.language_model
    if estimate.money == 0:
        return None
    most, spent = limits(settings), Spending(recollectum.home, system_clock).today()
    tokens = estimate.input_tokens + estimate.output_tokens
    wanted = (
        ("calls", most.calls, spent.calls + estimate.calls),
        ("tokens", most.tokens, spent.tokens + tokens),
        ("money", most.micros, spent.micros + round((estimate.money or 0) * _MILLION)),
    )
    for name, limit, needed in wanted:
        if limit and needed > limit:
            return f"this may take more than language_model.{name}_per_day leaves for today; the rest waits"
    if tokens > settings.ask_above_tokens:
        return f"this may take more than language_model.ask_above_tokens, which is {settings.ask_above_tokens:,}"
    return None
