"""Laws of the budget: no day ever passes its limits, and what is settled is what was used."""

import shutil
import tempfile
from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from recollectum.domain.errors import BudgetSpent, ModelError, ModelRefused, ModelTimeout, ModelUnavailable
from recollectum.domain.message import Role
from recollectum.domain.models.language_model import Finish, Prompt, Reply, Turn, Usage
from recollectum.home.paths import Home
from recollectum.models.language.costs import Prices, estimate_cost, input_tokens, largest_cost
from recollectum.models.limits.budget import BudgetedModel, DailyBudget, DailyLimits, SpendingAccount, Spent
from recollectum.testing import ScriptedModel

pytestmark = pytest.mark.slow

NOON = datetime(2026, 5, 4, 12, tzinfo=UTC)
PROMPT = Prompt(turns=(Turn(role=Role.USER, text="a question"),), max_output_tokens=40)
_IDENTITY = ScriptedModel([]).identity


@dataclass
class Wall:
    """A clock that somebody turns."""

    now: datetime = NOON

    def __call__(self) -> datetime:
        return self.now


@contextmanager
def a_home() -> Generator[Home]:
    folder = Path(tempfile.mkdtemp())
    try:
        yield Home(folder / "home")
    finally:
        shutil.rmtree(folder)


_used = st.builds(Usage, input=st.integers(0, 60), output=st.integers(0, 40))
_failures = st.sampled_from([ModelTimeout("late"), ModelUnavailable("busy"), ModelRefused("no")])
_steps = st.lists(st.tuples(st.integers(-1, 1), _used | _failures), max_size=12)
_limits = st.builds(DailyLimits, calls=st.integers(0, 5), tokens=st.integers(0, 300), micros=st.integers(0, 900))


@given(steps=_steps, limits=_limits)
def test_no_day_passes_its_limits_whatever_the_calls_and_the_clock_do(
    steps: list[tuple[int, Usage | ModelError]], limits: DailyLimits
) -> None:
    wall = Wall()
    prices = Prices(input=1.0, output=4.0)
    asked: dict[object, int] = {}
    with a_home() as home:
        # What a model uses never exceeds what it may: the estimate is an upper bound.
        bound = largest_cost(PROMPT, 0)
        for days, outcome in steps:
            wall.now += timedelta(days=days)
            inner = ScriptedModel([_answer(outcome, bound)])
            # A new one for each call, as if the process had been restarted.
            spending = SpendingAccount(home, wall)
            model = BudgetedModel(inner, spending, DailyBudget(limits=limits, prices=prices, max_output_tokens=0))
            before = spending.today()
            try:
                model.complete(PROMPT)
            except BudgetSpent:
                assert not inner.prompts
                assert spending.today() == before
                continue
            except ModelError:
                assert isinstance(outcome, ModelError)
            day = wall.now.date()
            asked[day] = asked.get(day, 0) + 1
            after = spending.today()
            assert after.calls == asked[day]
            assert not limits.calls or after.calls <= limits.calls
            assert not limits.tokens or after.tokens <= limits.tokens
            assert not limits.micros or after.micros <= limits.micros
            assert after.tokens - before.tokens == _tokens(outcome, bound)


def _answer(outcome: Usage | ModelError, bound: Usage) -> Reply | ModelError:
    if isinstance(outcome, ModelError):
        return outcome
    return Reply(text="x", usage=_within(outcome, bound), finish=Finish.STOP, by=_IDENTITY)


def _within(used: Usage, bound: Usage) -> Usage:
    return Usage(input=min(used.input, bound.input), output=min(used.output, bound.output))


def _tokens(outcome: Usage | ModelError, bound: Usage) -> int:
    """What must be booked: the use, nothing for a refusal, and all that was feared for a call of unknown end."""
    if isinstance(outcome, Usage):
        used = _within(outcome, bound)
        return used.input + used.output
    return bound.input + bound.output if isinstance(outcome, ModelTimeout) else 0


@given(texts=st.lists(st.text(max_size=40), max_size=6), output=st.integers(1, 500))
def test_an_estimate_is_the_sum_of_its_prompts_and_bounds_what_is_booked(texts: list[str], output: int) -> None:
    prompts = [Prompt(turns=(Turn(role=Role.USER, text=text),)) for text in texts]
    prices = Prices(input=2.0, output=8.0, currency="EUR")
    found = estimate_cost(prompts, prices, max_output_tokens=output)
    assert found.calls == len(texts)
    assert found.input_tokens == sum(input_tokens(prompt) for prompt in prompts)
    assert found.output_tokens == output * len(texts)
    assert found.money == (2 * found.input_tokens + 8 * found.output_tokens) / 1_000_000
    assert estimate_cost(prompts, Prices(), max_output_tokens=output).money is None


def test_nothing_is_spent_at_first() -> None:
    with a_home() as home:
        assert SpendingAccount(home, Wall()).today() == Spent()
