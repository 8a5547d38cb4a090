"""`recollectum chat` on a terminal: streaming, control characters, questions, Ctrl-C, Ctrl-D, and a real model."""

import os
from pathlib import Path

import pytest

from recollectum.models.language.llama import find_model
from tests.doors.cli.calls import ok
from tests.doors.cli.terminals import Terminal

pytestmark = [pytest.mark.usefixtures("home"), pytest.mark.process]


class Watching(Terminal):
    """One that can wait for more, whatever it says."""

    def __enter__(self) -> "Watching":
        return self

    def wait_past(self, length: int) -> None:
        """Read until so many characters are shown."""
        while len(self.shown) < length:
            assert self._read(), self.shown


@pytest.mark.feature("A18")
def test_a_conversation_on_a_terminal_ends_with_ctrl_d() -> None:
    with Terminal("chat", "--model", "scripted") as terminal:
        terminal.wait_for("Ctrl-D leaves")
        terminal.wait_for("> ")
        terminal.press("remember that Grace lives in Lyon\n")
        terminal.wait_for("Remembered: Grace lives in Lyon")
        terminal.press("what do you know about Grace\n")
        terminal.wait_for("- Grace lives in Lyon (")
        terminal.press("/forget Lyon\n")
        terminal.wait_for("[y/N]")
        terminal.press("y\n")
        terminal.wait_for("forgotten; for some days")
        terminal.settle()
        terminal.press("\x04")
        assert terminal.end() == 0
    assert "Traceback" not in terminal.shown


def test_what_a_hostile_model_says_cannot_act_on_the_terminal() -> None:
    ok("remember", "zebra \x1b]0;owned\x07 \x9b31m \u202eevil")
    with Terminal("chat", "--model", "scripted") as terminal:
        terminal.wait_for("> ")
        terminal.press("recall zebra\n")
        terminal.wait_for("\\u202eevil")
        terminal.press("/quit\n")
        assert terminal.end() == 0
    assert "zebra \\x1b]0;owned\\x07 \\x9b31m \\u202eevil" in terminal.shown
    assert not {"\x07", "\x9b", "\u202e"} & set(terminal.shown)


def test_ctrl_c_at_the_prompt_drops_the_line_and_nothing_else() -> None:
    with Watching("chat", "--model", "scripted") as terminal:
        terminal.wait_for("> ")
        terminal.press("half a line")
        terminal.wait_for("half a line")
        terminal.settle()
        terminal.press("\x03")
        # The next prompt, however this system's line editor shows a line that was dropped.
        terminal.wait_past(len(terminal.shown) + 4)
        terminal.press("hello\n")
        terminal.wait_for("You said: hello")
        terminal.press("/quit\n")
        assert terminal.end() == 0
    (session,) = ok("sessions", "list", "--json").json["sessions"]
    assert session["message_count"] == 2


@pytest.mark.feature("A16")
def test_a_passphrase_is_asked_for_once_also_when_settings_change(monkeypatch: pytest.MonkeyPatch) -> None:
    home = Path(os.environ["RECOLLECTUM_HOME"]).with_name("sealed")
    monkeypatch.setenv("RECOLLECTUM_HOME", str(home))
    monkeypatch.delenv("RECOLLECTUM_ENCRYPTION")
    monkeypatch.setenv("RECOLLECTUM_PASSPHRASE", "four words and more")
    ok("init", "--user", "ada")
    monkeypatch.delenv("RECOLLECTUM_PASSPHRASE")
    with Terminal("chat", "--model", "scripted") as terminal:
        terminal.wait_for("Passphrase: ")
        terminal.press("four words and more\n")
        terminal.wait_for("> ")
        (home / "settings.toml").write_text("[context]\ntokens = 300\n")
        terminal.press("hello\n")
        terminal.wait_for("You said: hello")
        terminal.press("/context\n")
        terminal.wait_for("of 300 tokens")
        terminal.press("/quit\n")
        assert terminal.end() == 0
    assert terminal.shown.count("Passphrase: ") == 1
    assert "four words" not in terminal.shown


@pytest.mark.feature("A17")
@pytest.mark.feature("A18")
def test_a_real_model_answers_and_ctrl_c_stops_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RECOLLECTUM_LANGUAGE_MODEL__PROVIDER", "local")
    # Named by a person, it is used to talk too.
    monkeypatch.setenv("RECOLLECTUM_LANGUAGE_MODEL__MODEL", str(find_model("")))
    monkeypatch.setenv("RECOLLECTUM_LANGUAGE_MODEL__WINDOW_TOKENS", "4096")
    monkeypatch.setenv("RECOLLECTUM_LANGUAGE_MODEL__MAX_OUTPUT_TOKENS", "20")
    ok("remember", "Grace lives in Lyon")
    answered = ok("chat", "--once", "Hello, who are you?", "--json").json
    assert answered["by"] == "local/SmolLM2-135M-Instruct.Q4_1"
    assert answered["reply"].strip()
    monkeypatch.setenv("RECOLLECTUM_LANGUAGE_MODEL__MAX_OUTPUT_TOKENS", "2500")
    with Watching("chat") as terminal:
        terminal.wait_for("> ")
        before = len(terminal.shown)
        terminal.press("Write a very long story about a lighthouse, with many chapters.\n")
        terminal.wait_past(before + 150)
        terminal.press("\x03")
        terminal.wait_for("stopped; the reply so far is saved")
        terminal.press("/quit\n")
        assert terminal.end() == 0, terminal.shown
    said = ok("sessions", "show", answered["session_id"], "--json").json["messages"]
    assert [one["role"] for one in said] == ["user", "assistant", "user", "assistant"]
    assert said[-1]["extra"] == {"interrupted": True}
    assert said[-1]["content"]
    with Watching("chat", "--once", "Write a very long story about a lighthouse.") as terminal:
        terminal.wait_past(40)
        terminal.press("\x03")
        assert terminal.end() == 130
    assert "Traceback" not in terminal.shown
