"""Limits language models: a daily budget of calls, tokens and money shared by all processes, and concurrent calls."""

import json
from collections.abc import Callable, Iterator, Mapping
from dataclasses import asdict, replace
from datetime import UTC, date, datetime, timedelta
from pathlib import Path
from threading import BoundedSemaphore
from typing import cast

from recollectum.domain.errors import BudgetSpent, HomeError, ModelMissing, ModelRefused, ModelUnavailable
from recollectum.domain.ids import Clock
from recollectum.domain.models.language_model import ModelIdentity, Piece, Prompt, Reply
from recollectum.domain.records import dataclass
from recollectum.home.files import explain, make_private_folder, write_atomic
from recollectum.home.locks import Lock
from recollectum.home.paths import Home
from recollectum.models.language.costs import CallCost, Prices, largest_cost, price_tokens
from recollectum.models.language.port import LanguageModel

_MILLION = 1_000_000
#: The number of days kept: older ones are of no use, and after a clock is set back the usage of that day is still
#: known.
_DAYS_KEPT = 31


@dataclass(frozen=True, slots=True, kw_only=True)
class DailyLimits:
    """The limits of one day; 0 is no limit."""

    calls: int = 0
    tokens: int = 0
    micros: int = 0
    currency: str = ""

    def __bool__(self) -> bool:
        return bool(self.calls or self.tokens or self.micros)


@dataclass(frozen=True, slots=True, kw_only=True)
class Spent:
    """The usage of one day."""

    calls: int = 0
    tokens: int = 0
    micros: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Reservation:
    """A running call, and the day it counts for."""

    day: date
    cost: CallCost


class SpendingAccount:
    """The usage account of one home."""

    def __init__(self, home: Home, clock: Clock) -> None:
        self._file = home.root / "spending.json"
        self._folder = home.locks
        self._clock = clock

    def today(self) -> Spent:
        """Return the usage since midnight UTC, including reservations."""
        return self._read().get(_day(self._clock()), Spent())

    def reserve(self, cost: CallCost, limits: DailyLimits) -> Reservation:
        """Reserve a call at its estimate, or raise BudgetSpent if a limit does not allow it."""
        day = _day(self._clock())

        def book(spent: Spent) -> Spent:
            if limits:
                check(spent, cost, limits, day)
            return Spent(
                calls=spent.calls + 1, tokens=spent.tokens + cost.tokens, micros=spent.micros + (cost.micros or 0)
            )

        self._change(day, book)
        return Reservation(day=day, cost=cost)

    def settle(self, reserved: Reservation, actual: CallCost) -> None:
        """Replace the estimate of a call by its real usage; it counts for the day on which it began."""
        self._change(
            reserved.day,
            lambda spent: replace(
                spent,
                tokens=max(0, spent.tokens - reserved.cost.tokens + actual.tokens),
                micros=max(0, spent.micros - (reserved.cost.micros or 0) + (actual.micros or 0)),
            ),
        )

    def _change(self, day: date, change: Callable[[Spent], Spent]) -> None:
        make_private_folder(self._folder)
        # Create a lock for each change: two threads cannot share one lock object.
        with Lock(self._folder / "spending.lock"):
            days = self._read()
            days[day] = change(days.get(day, Spent()))
            kept = {str(one): asdict(days[one]) for one in sorted(days)[-_DAYS_KEPT:]}
            write_atomic(self._file, json.dumps({"version": 1, "days": kept}).encode())

    def _read(self) -> dict[date, Spent]:
        try:
            return _days(self._file.read_bytes(), self._file)
        except FileNotFoundError:
            return {}
        except OSError as error:
            raise explain(error, self._file) from error


def check(spent: Spent, cost: CallCost, limits: DailyLimits, day: date) -> None:
    """Raise BudgetSpent, with the limit, the usage and the time of its reset, if the call does not fit."""
    frees = f"it frees at {day + timedelta(days=1)} 00:00 UTC"
    if limits.calls and spent.calls + 1 > limits.calls:
        raise BudgetSpent(f"language_model.calls_per_day is {limits.calls} and {spent.calls} are used; {frees}")
    if limits.tokens and spent.tokens + cost.tokens > limits.tokens:
        raise BudgetSpent(
            f"language_model.tokens_per_day is {limits.tokens}, {spent.tokens} are used "
            f"and this call may take {cost.tokens}; {frees}"
        )
    if not limits.micros:
        return
    if cost.micros is None:
        raise ModelRefused(
            "language_model.money_per_day cannot be enforced without prices; "
            "set language_model.input_price and language_model.output_price"
        )
    if spent.micros + cost.micros > limits.micros:
        most, used, wanted = (f"{one / _MILLION:g}" for one in (limits.micros, spent.micros, cost.micros))
        raise BudgetSpent(
            f"language_model.money_per_day is {most} {limits.currency}, {used} are used "
            f"and this call may take {wanted}; {frees}"
        )


def _day(now: datetime) -> date:
    return now.astimezone(UTC).date()


def _days(data: bytes, path: Path) -> dict[date, Spent]:
    try:
        days = cast("Mapping[str, Mapping[str, int]]", json.loads(data)["days"])
        return {date.fromisoformat(day): _spent(values) for day, values in days.items()}
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        # Starting from zero would silently allow the budget of a day to be spent twice.
        raise HomeError(f"{path} is damaged or was changed; check it, and remove it to start counting again") from error


def _spent(values: Mapping[str, int]) -> Spent:
    calls, tokens, micros = (max(0, int(values[name])) for name in ("calls", "tokens", "micros"))
    return Spent(calls=calls, tokens=tokens, micros=micros)


#: The call was made and counts, but no tokens are billed.
_UNBILLED = (ModelUnavailable, ModelRefused, ModelMissing)


@dataclass(frozen=True, slots=True, kw_only=True)
class DailyBudget:
    """The limits of a day, and the prices of a call."""

    limits: DailyLimits
    prices: Prices
    #: The most tokens of a reply if the prompt does not set a limit.
    max_output_tokens: int


class BudgetedModel:
    """Reserves the cost of each call before it is made, and settles it afterwards."""

    def __init__(self, inner: LanguageModel, spending: SpendingAccount, budget: DailyBudget) -> None:
        self.inner = inner
        self._spending = spending
        self._budget = budget

    @property
    def identity(self) -> ModelIdentity:
        """Return the identity of the inner model."""
        return self.inner.identity

    def complete(self, prompt: Prompt) -> Reply:
        """Return the reply, if the budget allows the call."""
        reserved = self._reserve(prompt)
        try:
            reply = self.inner.complete(prompt)
        except _UNBILLED:
            self._spending.settle(reserved, CallCost(tokens=0, micros=0))
            raise
        # After any other failure, above all a timeout, the work may have been done, so the estimate stays.
        self._settle(reserved, reply)
        return reply

    def stream(self, prompt: Prompt) -> Iterator[Piece]:
        """Yield the reply as it arrives; one that is abandoned or breaks off keeps its estimate."""
        reserved = self._reserve(prompt)
        begun = False
        try:
            for piece in self.inner.stream(prompt):
                begun = True
                if piece.reply is not None:
                    self._settle(reserved, piece.reply)
                yield piece
        except _UNBILLED:
            if not begun:
                self._spending.settle(reserved, CallCost(tokens=0, micros=0))
            raise

    def close(self) -> None:
        """Close the inner model."""
        self.inner.close()

    def _reserve(self, prompt: Prompt) -> Reservation:
        usage = largest_cost(prompt, self._budget.max_output_tokens)
        return self._spending.reserve(price_tokens(usage, self._budget.prices), self._budget.limits)

    def _settle(self, reserved: Reservation, reply: Reply) -> None:
        self._spending.settle(reserved, price_tokens(reply.usage, self._budget.prices))


class ConcurrencyLimitedModel:
    """Makes a call wait until fewer than the limit are running."""

    def __init__(self, inner: LanguageModel, concurrency: int) -> None:
        self.inner = inner
        self._room = BoundedSemaphore(concurrency)

    @property
    def identity(self) -> ModelIdentity:
        """Return the identity of the inner model."""
        return self.inner.identity

    def complete(self, prompt: Prompt) -> Reply:
        """Return the complete reply."""
        with self._room:
            return self.inner.complete(prompt)

    def stream(self, prompt: Prompt) -> Iterator[Piece]:
        """Yield the reply as it arrives; it holds its slot until it is read to its end or closed."""
        with self._room:
            yield from self.inner.stream(prompt)

    def close(self) -> None:
        """Close the inner model."""
        self.inner.close()
