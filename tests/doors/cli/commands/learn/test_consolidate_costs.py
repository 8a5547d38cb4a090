"""`recollectum consolidate` says what reading many conversations costs before it reads them, and asks if it is much."""

from typing import Any

import pytest

from tests.doors.cli.calls import Answer, call, ok, refused
from tests.doors.cli.terminals import Terminal

PRICED = {
    "RECOLLECTUM_LANGUAGE_MODEL__PROVIDER": "openai",
    "RECOLLECTUM_LANGUAGE_MODEL__MODEL": "m-1",
    "RECOLLECTUM_LANGUAGE_MODEL__RETRIES": "0",
    "OPENAI_API_KEY": "open-1",
    "RECOLLECTUM_LANGUAGE_MODEL__INPUT_PRICE": "3",
    "RECOLLECTUM_LANGUAGE_MODEL__OUTPUT_PRICE": "15",
    "RECOLLECTUM_LANGUAGE_MODEL__CURRENCY": "EUR",
}
#: Whoever asks this one is refused by the budget before anything leaves the machine.
MUCH = {**PRICED, "RECOLLECTUM_LANGUAGE_MODEL__MONEY_PER_DAY": "0.0001"}
REFUSED = "failed: language_model.money_per_day is 0.0001 EUR"

pytestmark = [pytest.mark.usefixtures("home"), pytest.mark.process]


@pytest.fixture
def talks() -> int:
    for number in range(3):
        ok("sessions", "add", "user", f"I have {number} cats and I live in Oslo.", "--channel", f"c{number}")
    return 3


def with_settings(monkeypatch: pytest.MonkeyPatch, variables: dict[str, str]) -> None:
    for name, value in variables.items():
        monkeypatch.setenv(name, value)


def costs(*words: str) -> dict[str, Any]:
    return ok("consolidate", *words, "--estimate", "--json").json


@pytest.mark.feature("A17")
def test_an_estimate_says_calls_tokens_and_money_and_asks_nobody(monkeypatch: pytest.MonkeyPatch, talks: int) -> None:
    with_settings(monkeypatch, PRICED)
    told = costs("--all")
    estimate = told["estimate"]
    assert (told["conversations"], estimate["calls"], told["doubt"]) == (talks, talks, None)
    assert estimate["output_tokens"] == talks * 1024
    assert estimate["input_tokens"] > talks * 300
    assert estimate["money"] == pytest.approx((estimate["input_tokens"] * 3 + estimate["output_tokens"] * 15) / 1e6)
    said = ok("consolidate", "--all", "--estimate").out
    assert "3 conversations: at most 3 calls" in said
    assert f"for {estimate['money']:.2f} EUR" in said
    # One that is named costs a third, and one that was never read none the less.
    (session, *_) = ok("sessions", "list", "--json").json["sessions"]
    assert costs(session["id"])["estimate"]["calls"] == 1


def test_without_a_model_there_is_nothing_to_say(talks: int) -> None:
    assert costs("--all") == {"estimate": None}
    answer = ok("consolidate", "--all", "--json")
    assert (len(answer.json["outcomes"]), answer.err) == (talks, "")


def test_a_price_that_is_not_known_is_said(monkeypatch: pytest.MonkeyPatch, talks: int) -> None:
    with_settings(monkeypatch, {**PRICED, "RECOLLECTUM_LANGUAGE_MODEL__INPUT_PRICE": "-1"})
    assert talks
    assert "at an unknown price" in ok("consolidate", "--all", "--estimate").out


@pytest.mark.parametrize(
    ("name", "value", "doubt"),
    [
        ("CALLS_PER_DAY", "2", "language_model.calls_per_day"),
        ("TOKENS_PER_DAY", "1500", "language_model.tokens_per_day"),
        ("MONEY_PER_DAY", "0.0001", "language_model.money_per_day"),
        ("ASK_ABOVE_TOKENS", "10", "language_model.ask_above_tokens, which is 10"),
    ],
)
def test_a_budget_that_will_not_do_is_said(
    monkeypatch: pytest.MonkeyPatch, talks: int, name: str, value: str, doubt: str
) -> None:
    with_settings(monkeypatch, {**PRICED, f"RECOLLECTUM_LANGUAGE_MODEL__{name}": value})
    assert talks
    assert doubt in costs("--all")["doubt"]


def test_without_a_terminal_it_is_said_and_done(monkeypatch: pytest.MonkeyPatch, talks: int) -> None:
    with_settings(monkeypatch, MUCH)
    answer = failing("consolidate", "--all")
    assert f"{talks} conversations: at most {talks} calls" in answer.err
    assert answer.out.count(REFUSED) == talks


def failing(*words: str) -> Answer:
    """The model was asked, and the budget refused."""
    answer = call(*words)
    assert answer.code == 1, answer
    return answer


@pytest.mark.feature("A17")
def test_on_a_terminal_it_is_asked_about(talks: int) -> None:
    assert talks
    with Terminal("consolidate", "--all", environ=MUCH) as terminal:
        terminal.wait_for("Continue? [y/N]")
        terminal.press("n\n")
        terminal.wait_for("nothing was read")
        assert terminal.end() == 0
    assert REFUSED not in terminal.shown
    assert "exceed what is left today of language_model.money_per_day" in terminal.shown
    with Terminal("consolidate", "--all", "--yes", environ=MUCH) as terminal:
        assert terminal.end() == 1
    assert "Continue?" not in terminal.shown
    assert REFUSED in terminal.shown


def test_what_costs_nothing_is_not_spoken_of(monkeypatch: pytest.MonkeyPatch, talks: int) -> None:
    with_settings(monkeypatch, {"RECOLLECTUM_LANGUAGE_MODEL__PROVIDER": "scripted"})
    answer = ok("consolidate", "--all", "--json")
    assert (len(answer.json["outcomes"]), answer.err) == (talks, "")
    assert costs("--all")["conversations"] == 0


def test_an_estimate_goes_with_nothing_else() -> None:
    assert "--estimate only says" in refused("consolidate", "--all", "--estimate", "--dry-run", code=2)
    assert "--estimate only says" in refused("consolidate", "--estimate", "--revert", "run_1", code=2)


@pytest.mark.usefixtures("home")
def test_a_session_that_is_not_there_has_no_price() -> None:
    assert "nope" in refused("consolidate", "nope", "--estimate")
