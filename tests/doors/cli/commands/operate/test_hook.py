"""`recollectum hook` by its own name: slower to load than what agents call, and with the same promise."""

import json

import pytest

from tests.doors.cli.calls import call, ok, spawn
from tests.doors.hook.calls import event, no_attendant_left

pytestmark = [pytest.mark.usefixtures("home"), pytest.mark.process]


def test_it_answers_like_the_one_that_agents_call() -> None:
    ok("remember", "the harbour dinner is on the twelfth of May")
    asked = json.dumps(event("UserPromptSubmit", prompt="when is the harbour dinner?")).encode()
    with no_attendant_left():
        answer = spawn("hook", "--within", "30000", "--user", "ada", stdin=asked)
    assert answer.code == 0
    assert "twelfth of May" in answer.json["hookSpecificOutput"]["additionalContext"]


def test_cursor_is_answered_in_its_own_form() -> None:
    ok("remember", "the harbour dinner is on the twelfth of May")
    started = json.dumps({"hook_event_name": "sessionStart", "conversation_id": "c1"}).encode()
    with no_attendant_left():
        answer = spawn("hook", "--agent", "cursor", "--within", "30000", stdin=started)
    assert "twelfth of May" in answer.json["additional_context"]


def test_nonsense_on_stdin_is_answered_with_nothing() -> None:
    assert ok("hook", stdin=b"nonsense").json == {}


def test_nonsense_on_the_line_is_refused() -> None:
    assert call("hook", "--agent", "emacs").code == 2
    assert call("hook", "--within", "0").code == 2
