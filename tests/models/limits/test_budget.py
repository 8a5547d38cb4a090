"""The account of a home: shared by processes and threads, kept over restarts, and said in words when it is empty."""

import json
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from recollectum.domain.errors import BudgetSpent, HomeError, ModelRefused, ModelUnavailable, SettingsError
from recollectum.domain.message import Role
from recollectum.domain.models.language_model import Prompt, Turn
from recollectum.home.paths import Home
from recollectum.models.language.costs import CallCost, Prices
from recollectum.models.limits.budget import BudgetedModel, DailyBudget, DailyLimits, SpendingAccount, Spent
from recollectum.models.registry.language import limits, open_language_model, prices
from recollectum.settings.model import LanguageModelSettings
from recollectum.testing import ScriptedModel
from tests.models import serving

pytestmark = pytest.mark.process

NOON = datetime(2026, 5, 4, 12, tzinfo=UTC)
ONE = CallCost(tokens=10, micros=50)
PROMPT = Prompt(turns=(Turn(role=Role.USER, text="hello"),))


@pytest.mark.feature("A17")
@pytest.mark.parametrize(
    ("most", "said"),
    [
        (DailyLimits(calls=2), "language_model.calls_per_day is 2 and 2 are used; it frees at 2026-05-05 00:00 UTC"),
        (
            DailyLimits(tokens=29),
            "language_model.tokens_per_day is 29, 20 are used and this call may take 10; "
            "it frees at 2026-05-05 00:00 UTC",
        ),
        (
            DailyLimits(micros=149, currency="EUR"),
            "language_model.money_per_day is 0.000149 EUR, 0.0001 are used and this call may take 5e-05; "
            "it frees at 2026-05-05 00:00 UTC",
        ),
    ],
)
def test_a_limit_says_which_it_is_what_is_used_and_when_it_frees(tmp_path: Path, most: DailyLimits, said: str) -> None:
    now = [NOON]
    spending = SpendingAccount(Home(tmp_path), lambda: now[0])
    spending.reserve(ONE, most)
    spending.reserve(ONE, most)
    with pytest.raises(BudgetSpent) as raised:
        spending.reserve(ONE, most)
    assert str(raised.value) == said
    now[0] = datetime(2026, 5, 5, tzinfo=UTC)
    spending.reserve(ONE, most)
    # A clock that is set back finds what it had used.
    now[0] = NOON
    assert SpendingAccount(Home(tmp_path), lambda: NOON).today().calls == 2
    with pytest.raises(BudgetSpent):
        spending.reserve(ONE, most)


def test_money_without_prices_is_refused_with_the_cure(tmp_path: Path) -> None:
    with pytest.raises(ModelRefused, match=r"set language_model\.input_price and language_model\.output_price"):
        SpendingAccount(Home(tmp_path), lambda: NOON).reserve(replace(ONE, micros=None), DailyLimits(micros=1))


_SPEND = """
import sys
from datetime import UTC, datetime
from pathlib import Path
from recollectum.domain.errors import BudgetSpent
from recollectum.home.paths import Home
from recollectum.models.language.costs import CallCost
from recollectum.models.limits.budget import DailyLimits, SpendingAccount
spending, made = SpendingAccount(Home(Path(sys.argv[1])), lambda: datetime(2026, 5, 4, tzinfo=UTC)), 0
try:
    while True:
        spending.reserve(CallCost(tokens=1, micros=0), DailyLimits(calls=60))
        made += 1
except BudgetSpent:
    print(made)
"""


@pytest.mark.feature("A17")
def test_processes_share_one_budget(tmp_path: Path) -> None:
    command = [sys.executable, "-c", _SPEND, str(tmp_path)]
    running = [subprocess.Popen(command, stdout=subprocess.PIPE, text=True) for _ in range(3)]
    made = [int(process.communicate()[0]) for process in running]
    assert sum(made) == 60
    assert SpendingAccount(Home(tmp_path), lambda: NOON).today() == Spent(calls=60, tokens=60)


def test_threads_share_one_budget(tmp_path: Path) -> None:
    spending = SpendingAccount(Home(tmp_path), lambda: NOON)

    def one(_: int) -> None:
        spending.settle(spending.reserve(ONE, DailyLimits()), CallCost(tokens=3, micros=7))

    with ThreadPoolExecutor(8) as pool:
        list(pool.map(one, range(40)))
    assert spending.today() == Spent(calls=40, tokens=120, micros=280)


def test_a_call_counts_for_the_day_on_which_it_began(tmp_path: Path) -> None:
    now = [NOON]
    spending = SpendingAccount(Home(tmp_path), lambda: now[0])
    reserved = spending.reserve(ONE, DailyLimits())
    now[0] += timedelta(days=1)
    spending.settle(reserved, CallCost(tokens=1, micros=1))
    assert spending.today() == Spent()
    now[0] = NOON
    assert spending.today() == Spent(calls=1, tokens=1, micros=1)


@pytest.mark.parametrize("damage", [b"", b"{", b"[]", b'{"days": {"x": {}}}', b'{"days": {"2026-05-04": {}}}'])
def test_a_damaged_account_stops_and_does_not_begin_at_nothing(tmp_path: Path, damage: bytes) -> None:
    (tmp_path / "spending.json").write_bytes(damage)
    with pytest.raises(HomeError, match="remove it to start counting again"):
        SpendingAccount(Home(tmp_path), lambda: NOON).reserve(ONE, DailyLimits(calls=1))


def test_only_a_month_of_days_is_kept_and_only_for_the_owner(tmp_path: Path) -> None:
    now = [NOON]
    spending = SpendingAccount(Home(tmp_path), lambda: now[0])
    for _ in range(40):
        spending.reserve(ONE, DailyLimits())
        now[0] += timedelta(days=1)
    file = tmp_path / "spending.json"
    assert len(json.loads(file.read_bytes())["days"]) == 31
    assert file.stat().st_mode & 0o077 == 0


def test_a_stream_is_settled_at_its_end_and_stays_booked_when_it_is_abandoned(tmp_path: Path) -> None:
    spending = SpendingAccount(Home(tmp_path), lambda: NOON)
    budget = DailyBudget(limits=DailyLimits(calls=9), prices=Prices(input=1, output=1), max_output_tokens=1000)
    model = BudgetedModel(ScriptedModel(["two words", "two words", ModelUnavailable("no")]), spending, budget)
    pieces = list(model.stream(PROMPT))
    assert pieces[-1].reply is not None
    used = spending.today().tokens
    assert used == pieces[-1].reply.usage.input + pieces[-1].reply.usage.output
    next(iter(model.stream(PROMPT)))
    assert spending.today().tokens > used + 1000
    booked = spending.today()
    with pytest.raises(ModelUnavailable):
        list(model.stream(PROMPT))
    assert spending.today() == replace(booked, calls=3)


@pytest.mark.feature("A17")
def test_a_budget_of_the_settings_is_kept_before_anything_is_sent(tmp_path: Path) -> None:
    settings = LanguageModelSettings(provider="openai", model="m", calls_per_day=1, retries=0)
    reply = serving.Reply({"choices": [{"message": {"content": "hi"}, "finish_reason": "stop"}]})
    with serving.serving(serving.in_order(reply)) as server:
        for _ in range(2):
            # Opened anew each time, as after a restart.
            model = open_language_model(
                settings, {"OPENAI_API_KEY": "k"}, home=Home(tmp_path), clock=lambda: NOON, connect=server.connect
            )
            assert model is not None
            if not server.asked:
                assert model.complete(PROMPT).text == "hi"
            else:
                with pytest.raises(BudgetSpent, match="calls_per_day is 1 and 1 are used"):
                    model.complete(PROMPT)
            model.close()
        assert len(server.asked) == 1


def test_a_budget_without_a_home_is_refused() -> None:
    with pytest.raises(SettingsError, match="needs a home"):
        open_language_model(LanguageModelSettings(provider="scripted", calls_per_day=1), {})


def test_prices_and_limits_come_from_the_settings_and_only_ones_own_models_are_free() -> None:
    remote = LanguageModelSettings(provider="openai", money_per_day=1.5, currency="EUR")
    assert prices(remote) == Prices(currency="EUR")
    assert limits(remote).micros == 1_500_000
    assert prices(replace(remote, input_price=2.0, output_price=0.0)) == Prices(input=2.0, output=0.0, currency="EUR")
    for provider in ("local", "scripted", "ollama", "llamacpp"):
        assert prices(LanguageModelSettings(provider=provider)) == Prices(input=0.0, output=0.0, currency="USD")
    hosted = LanguageModelSettings(provider="vllm", base_url="https://example.org/v1")
    assert prices(hosted) == Prices(currency="USD")
