"""`recollectum consolidate`, `review` and `grow`: from a conversation to a decision, at the command line."""

import pytest

from tests.doors.cli.calls import call, ok, refused

ALLERGY = "I am allergic to peanuts."

pytestmark = [pytest.mark.usefixtures("home"), pytest.mark.process]


def say(text: str = ALLERGY) -> str:
    return ok("sessions", "add", "user", text, "--json").json["message"]["session_id"]


def waiting() -> list[str]:
    return [one["id"] for one in ok("review", "list", "--json").json["proposals"]]


@pytest.mark.feature("A10")
def test_a_conversation_becomes_a_proposal_and_then_a_memory() -> None:
    session = say()
    (outcome,) = ok("consolidate", session, "--json").json["outcomes"]
    assert (outcome["run"]["by"], outcome["run"]["proposed"]) == ("rules", 1)
    (proposal,) = waiting()
    shown = ok("review", "show", proposal).out
    assert "+++ proposed" in shown
    assert "peanuts" in shown
    memory = ok("review", "approve", proposal).word
    assert "peanuts" in ok("memories", "show", memory).out
    assert ok("review", "approve", proposal).word == memory
    assert "approved already" in refused("review", "reject", proposal)


def test_it_can_be_approved_in_other_words() -> None:
    ok("consolidate", say())
    memory = ok("review", "approve", waiting()[0], "--edit", "Peanuts are poison to me").word
    assert "Peanuts are poison to me" in ok("memories", "show", memory).out


@pytest.mark.feature("A10")
def test_what_is_rejected_does_not_come_back() -> None:
    session = say()
    ok("consolidate", session)
    ok("review", "reject", waiting()[0])
    say()
    ok("consolidate", session)
    assert waiting() == []
    assert ok("review", "list").err == "no waiting proposals\n"


def test_a_dry_run_shows_and_writes_nothing() -> None:
    session = say()
    for words in ([session], ["--all"]):
        (found,) = ok("consolidate", *words, "--dry-run", "--json").json["findings"]
        assert found["session_id"] == session
    assert waiting() == []
    assert "nothing to read" in ok("consolidate").err


def test_two_choices_at_once_and_unknown_ids_are_refused() -> None:
    assert "do not go together" in refused("consolidate", "ses_1", "--all", code=2)
    assert "no session 'ses_none'" in refused("consolidate", "ses_none")
    assert "no run 'run_none'" in refused("consolidate", "--revert", "run_none")
    assert "no proposal 'prp_none'" in refused("review", "show", "prp_none")
    assert "decision 'maybe' is unknown" in refused("review", "list", "--decision", "maybe")


def test_a_run_is_taken_back() -> None:
    (outcome,) = ok("consolidate", say(), "--json").json["outcomes"]
    said = ok("consolidate", "--revert", outcome["run"]["id"]).out
    assert said == "0 changes undone, 0 kept, 1 proposal withdrawn\n"
    assert waiting() == []


@pytest.mark.feature("A10")
def test_growing_proposes_to_replace_what_cannot_both_hold_and_nothing_more() -> None:
    ok("remember", "I live in Porto")
    ok("remember", "I live in Lisbon")
    assert len(ok("review", "grow", "--dry-run", "--json").json["findings"]) == 1
    assert waiting() == []
    (laid,) = ok("review", "grow", "--json").json["proposals"]
    assert call("review", "grow").err == "nothing to propose\n"
    ok("review", "approve", laid["id"])
    assert [one["content"] for one in ok("memories", "list", "--json").json["memories"]] == ["I live in Lisbon"]
