"""Limits language models: a daily budget of calls, tokens and money shared by all processes, and concurrent calls."""

import json
from collections.abc import Callable, Iterator, Mapping
from dataclasses import asdict, dataclass, replace
from datetime import UTC, date, datetime, timedelta
from pathlib import Path
from threading import BoundedSemaphore
from typing import cast

from recollectum.domain.errors import BudgetSpent, HomeError, ModelMissing, ModelRefused, ModelUnavailable
from recollectum.domain.ids import Clock
from recollectum.domain.models.language_model import ModelIdentity, Piece, Prompt, Reply
from recollectum.home.files import explain, make_private_folder, write_atomic
from recollectum.home.locks import Lock
from recollectum.home.paths import Home
from recollectum.models.language.costs import CallCost, Prices, largest_cost, price_tokens
from recollectum.models.language.port import LanguageModel

_MILLION = 1_000_000
#: Older days are of no use to anybody; several are kept so that a clock set back finds what it had used.
_DAYS_KEPT = 31


@dataclass(frozen=True, slots=True, kw_only=True)
class DailyLimits:
    """The most of each in one day; 0 is no limit."""

    calls: int = 0
    tokens: int = 0
    micros: int = 0
    currency: str = ""

    def __bool__(self) -> bool:
        return bool(self.calls or self.tokens or self.micros)


@dataclass(frozen=True, slots=True, kw_only=True)
class Spent:
    """What was used in one day."""

    calls: int = 0
    tokens: int = 0
    micros: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Reservation:
    """A call that is being made, and the day it counts for."""

    day: date
    cost: CallCost


class SpendingAccount:
    """The account of one home."""

    def __init__(self, home: Home, clock: Clock) -> None:
        self._file = home.root / "spending.json"
        self._folder = home.locks
        self._clock = clock

    def today(self) -> Spent:
        """What has been used since midnight UTC, with what is reserved."""
        return self._read().get(_day(self._clock()), Spent())

    def reserve(self, cost: CallCost, limits: DailyLimits) -> Reservation:
        """Book a call at its estimate, or raise BudgetSpent where a limit does not allow it."""
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
        """Put what a call really used in the place of its estimate; it counts for the day on which it began."""
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
        # A lock of its own for each change: one object cannot be held by two threads.
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
    """Raise BudgetSpent, with the limit, what is used and when it frees, where the call does not fit."""
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
            "language_model.money_per_day cannot be kept without prices; "
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
        # To begin at nothing would let somebody spend a day's budget twice without a word.
        raise HomeError(f"{path} is not what was written to it; look at it, and remove it to count anew") from error


def _spent(values: Mapping[str, int]) -> Spent:
    calls, tokens, micros = (max(0, int(values[name])) for name in ("calls", "tokens", "micros"))
    return Spent(calls=calls, tokens=tokens, micros=micros)


#: The call was made and counts, but nobody bills for tokens.
_UNBILLED = (ModelUnavailable, ModelRefused, ModelMissing)


@dataclass(frozen=True, slots=True, kw_only=True)
class DailyBudget:
    """What a day may cost, and how a call is priced."""

    limits: DailyLimits
    prices: Prices
    #: The most tokens of a reply where the prompt does not say.
    max_output_tokens: int


class BudgetedModel:
    """Books each call before it is made, and settles it afterwards."""

    def __init__(self, inner: LanguageModel, spending: SpendingAccount, budget: DailyBudget) -> None:
        self.inner = inner
        self._spending = spending
        self._budget = budget

    @property
    def identity(self) -> ModelIdentity:
        """The inner one's."""
        return self.inner.identity

    def complete(self, prompt: Prompt) -> Reply:
        """The reply, where the budget allows the call."""
        reserved = self._reserve(prompt)
        try:
            reply = self.inner.complete(prompt)
        except _UNBILLED:
            self._spending.settle(reserved, CallCost(tokens=0, micros=0))
            raise
        # After any other failure, a timeout above all, the work may have been done, and the estimate stands.
        self._settle(reserved, reply)
        return reply

    def stream(self, prompt: Prompt) -> Iterator[Piece]:
        """The reply as it comes in; one that is abandoned or breaks off stays booked at its estimate."""
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
        """Close the inner one."""
        self.inner.close()

    def _reserve(self, prompt: Prompt) -> Reservation:
        usage = largest_cost(prompt, self._budget.max_output_tokens)
        return self._spending.reserve(price_tokens(usage, self._budget.prices), self._budget.limits)

    def _settle(self, reserved: Reservation, reply: Reply) -> None:
        self._spending.settle(reserved, price_tokens(reply.usage, self._budget.prices))


class ConcurrencyLimitedModel:
    """Lets a call wait until there is room for it."""

    def __init__(self, inner: LanguageModel, concurrency: int) -> None:
        self.inner = inner
        self._room = BoundedSemaphore(concurrency)

    @property
    def identity(self) -> ModelIdentity:
        """The inner one's."""
        return self.inner.identity

    def complete(self, prompt: Prompt) -> Reply:
        """The whole reply."""
        with self._room:
            return self.inner.complete(prompt)

    def stream(self, prompt: Prompt) -> Iterator[Piece]:
        """The reply as it comes in; it takes up room until it is read to its end or closed."""
        with self._room:
            yield from self.inner.stream(prompt)

    def close(self) -> None:
        """Close the inner one."""
        self.inner.close()
