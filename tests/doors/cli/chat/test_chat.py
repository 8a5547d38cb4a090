"""`recollectum chat` without a terminal: single turns, lines from a pipe, commands, and settings that change."""

import os
import re
import subprocess
from pathlib import Path

import pytest

from recollectum.domain.models.language_model import ModelIdentity
from recollectum.doors.cli.chat.rule_answers import NOTED, NOTHING
from recollectum.testing import ScriptedModel
from recollectum.vault.intake.new_message import MAX_TEXT
from tests.doors.cli.calls import PROGRAM, call, ok, refused

pytestmark = [pytest.mark.usefixtures("home"), pytest.mark.process]

PIPED = ("chat", "--model", "scripted")


def say(*lines: str, model: str = "scripted") -> str:
    """What is shown for some lines."""
    return ok("chat", "--model", model, stdin="".join(f"{line}\n" for line in lines).encode()).out


def told(*lines: str, model: str = "scripted") -> str:
    """The remarks beside it."""
    return ok("chat", "--model", model, stdin="".join(f"{line}\n" for line in lines).encode()).err


@pytest.mark.feature("A18")
def test_a_fact_told_in_one_conversation_comes_back_in_the_next_after_a_restart() -> None:
    first = ok(*PIPED, "--once", "remember that Grace lives in Lyon", "--json").json
    assert first["reply"] == "Remembered: Grace lives in Lyon"
    assert "a new conversation begins" in say("/reset")
    second = ok(*PIPED, "--once", "what do you know about Grace", "--json").json
    assert second["reply"].startswith("- Grace lives in Lyon (")
    assert first["session_id"] != second["session_id"]
    assert [one["name"] for one in second["tool_calls"]] == ["recall"]
    assert second["ledger"]["total"] <= second["ledger"]["budget"]["tokens"]


@pytest.mark.feature("A18")
def test_without_a_model_it_says_so_once_and_answers_by_rules() -> None:
    ok("remember", "Grace lives in Lyon")
    answer = ok("chat", stdin=b"Grace?\nwho is Grace?\n")
    assert answer.err.count("no language model is set up") == 1
    assert answer.out.count("- Grace lives in Lyon (") == 2
    assert ok("chat", "--once", "Grace?", "--json").json["by"] == "rules"


@pytest.mark.parametrize("lines", [b"", b"\n\n", b"/help\n", b"/memory\n/exit\n"])
def test_leaving_before_the_first_message_leaves_no_session(lines: bytes) -> None:
    for named in ((), ("--session", "agent:main:signal:direct")):
        ok(*PIPED, *named, stdin=lines)
    assert ok("sessions", "list", "--json").json["sessions"] == []
    ok(*PIPED, stdin=b"hello\n")
    (session,) = ok("sessions", "list", "--json").json["sessions"]
    assert session["message_count"] == 2


def test_a_refused_message_opens_no_session() -> None:
    assert "is too long" in refused(*PIPED, "--once", "x" * (MAX_TEXT + 1))
    assert ok("sessions", "list", "--json").json["sessions"] == []


@pytest.mark.feature("A15")
def test_remember_memory_and_forget() -> None:
    assert say("/remember Grace lives in Lyon", "/remember tea is best green").count("remembered (mem_") == 2
    newest, oldest = say("/memory").splitlines()
    assert newest.startswith("tea is best green  (mem_")
    assert say("/memory Lyon").splitlines() == [oldest]
    assert say("/memory zebras") == "nothing is remembered about that\n"
    memory = oldest.split("(")[1].split(",")[0]
    assert say("/forget Lyon", "n").splitlines() == [f"1. {oldest}", "nothing was forgotten"]
    assert "nothing was forgotten" in say("/forget Lyon")
    assert "forgotten; for some days" in say(f"/forget {memory}", "y")
    assert say("/memory").splitlines() == [newest]
    assert say(f"/forget {newest.split('(')[1].split(',')[0]}", "yes").count("forgotten;") == 1


@pytest.mark.feature("A15")
def test_forget_shows_all_that_matches_and_asks_which() -> None:
    say("/remember Grace lives in Lyon", "/remember Hedy lives in Lyon")
    out = say("/forget Lyon", "2", "y")
    second = next(line for line in out.splitlines() if line.startswith("2. "))
    assert second.removeprefix("2. ") not in say("/memory").splitlines()
    assert len(say("/memory").splitlines()) == 1
    say("/remember Ada lives in Lyon")
    assert "there is no number '9' in the list" in told("/forget Lyon", "9")
    assert say("/forget Lyon", "").endswith("nothing was forgotten\n")
    assert len(say("/memory").splitlines()) == 2


@pytest.mark.feature("P9")
def test_purge_shows_what_goes_and_asks_twice() -> None:
    say("/remember tea is best green", "remember that Grace lives in Lyon")
    (session,) = ok("sessions", "list", "--json").json["sessions"]
    for answers in ([], ["n"], ["y"], ["y", "n"]):
        out = say("/purge", *answers)
        assert f"({session['id']}) has 3 messages since" in out
        assert "1 memory with no other source: erased too" in out
        assert out.endswith("nothing was purged\n")
    assert re.search(r"\npurged \(prg_\w+, done\)\n$", say("/purge", "y", "y"))
    assert session["id"] not in ok("sessions", "list").out
    # What the conversation taught is gone with it; what was kept by hand is not.
    assert [line.split("  ")[0] for line in say("/memory").splitlines()] == ["tea is best green"]
    assert say("/purge") == "this conversation is empty; there is nothing to purge\n"
    assert "/purge takes no argument" in told("/purge everything")


def test_context_and_why_account_for_what_the_model_sees() -> None:
    ok("remember", "Grace lives in Lyon", "--kind", "task")
    for number in range(25):
        ok("remember", f"Fact number {number} about nothing", "--importance", "1")
    out = say("/why", "where does Grace live?", "/why", "/context Lyon")
    assert out.startswith("nothing was asked yet\n")
    assert "- Fact number 24 about nothing" in out
    assert out.count("of 4000 tokens, counted") == 2
    assert "recalled: Grace lives in Lyon" in out
    assert "  by words: place " in out


def test_checkpoints_lead_back() -> None:
    out = say("one", "/checkpoint here", "two", "/resume here", "/context")
    assert "here is at message 2; continue from it with /resume here" in out
    assert "continuing from here, at message 2" in out
    assert "user: one" in out.partition("continuing")[2]
    assert "user: two" not in out.partition("continuing")[2]
    assert "there is no checkpoint 'gone'" in told("/resume gone")


def test_reset_reads_the_conversation_and_begins_anew() -> None:
    out = say("I am allergic to peanuts.", "/reset", "/context", model="none")
    assert "a new conversation begins; 0 changes kept, 1 to review (by: rules)\n" in out
    assert "user: I am allergic" not in out


def test_an_unknown_command_is_one_sentence_with_the_nearest() -> None:
    assert told("/memori tea") == "there is no command /memori; the nearest is /memory\n"
    assert told("/remember", "/forget", "/checkpoint", "/resume").count("write /") == 4
    assert "/remember TEXT " in say("/help")
    assert say("hello", "/quit", "not said") == "You said: hello\n"
    assert say("//etc is a folder") == "You said: /etc is a folder\n"


@pytest.mark.feature("A16")
def test_settings_that_change_are_taken_over_and_the_session_goes_on() -> None:
    file = Path(os.environ["RECOLLECTUM_HOME"]) / "settings.toml"
    with subprocess.Popen(
        [*PROGRAM, "chat"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
    ) as chat:
        assert chat.stdin
        assert chat.stdout

        def ask(line: str) -> None:
            assert chat.stdin
            chat.stdin.write(f"{line}\n")
            chat.stdin.flush()

        assert chat.stdout.readline().startswith("no language model is set up")
        ask("one")
        assert chat.stdout.readline() == f"{NOTHING}\n"
        file.write_text('[language_model]\nprovider = "nobody"\n')
        ask("two")
        assert "cannot be used, so the old ones stay in force: " in chat.stdout.readline()
        assert chat.stdout.readline() == f"{NOTHING}\n"
        ask("three")
        assert chat.stdout.readline() == f"{NOTHING}\n"
        file.write_text('[language_model]\nprovider = "scripted"\n[context]\ntokens = 300\n')
        ask("four")
        assert "are in force; the conversation continues" in chat.stdout.readline()
        assert chat.stdout.readline() == "You said: four\n"
        ask("/context")
        chat.stdin.close()
        rest = chat.stdout.read()
    assert "of 300 tokens" in rest
    (session,) = ok("sessions", "list", "--json").json["sessions"]
    assert session["message_count"] == 8


@pytest.mark.feature("A18")
def test_a_kill_after_a_reply_loses_nothing_that_was_shown() -> None:
    for number in range(3):
        with subprocess.Popen(
            [*PROGRAM, *PIPED], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE
        ) as chat:
            assert chat.stdin
            assert chat.stdout
            chat.stdin.write(f"remember that number {number} was told\n".encode())
            chat.stdin.flush()
            assert chat.stdout.readline() == f"Remembered: number {number} was told\n".encode()
            chat.kill()
        (session,) = ok("sessions", "list", "--json").json["sessions"]
        said = ok("sessions", "show", session["id"], "--json").json["messages"]
        assert [one["role"] for one in said] == ["user", "assistant", "assistant"] * (number + 1)
        assert said[-1]["content"] == f"Remembered: number {number} was told"
    assert len(ok("memories", "list", "--json").json["memories"]) == 3


def test_a_model_that_fails_is_one_sentence_and_the_message_stays(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RECOLLECTUM_LANGUAGE_MODEL__CALLS_PER_DAY", "1")
    answer = ok(*PIPED, stdin=b"one\ntwo\n/memory\n")
    assert answer.out == "You said: one\nnothing is remembered\n"
    assert "language_model.calls_per_day is 1 and 1 are used; it frees at" in answer.err
    assert "it frees at" in refused(*PIPED, "--once", "three")
    (session,) = ok("sessions", "list", "--json").json["sessions"]
    said = ok("sessions", "show", session["id"], "--json").json["messages"]
    assert [one["content"] for one in said] == ["one", "You said: one", "two", "three"]


def test_what_cannot_be_meant_is_refused() -> None:
    assert (
        refused("chat", "--model", "scriptd", code=2)
        == "--model 'scriptd' is not a provider; the nearest is 'scripted'"
    )
    assert "leave --agent and --channel out" in refused("chat", "--session", "agent:main:main", "--agent", "x", code=2)
    assert refused("chat", "--tokens", "0") == "tokens 0 is out of range; use 1 to 10000000"
    assert "is not a session key" in refused("chat", "--session", "nope", "--model", "none")
    for words, sentence in (((), "add --once TEXT"), (("--once", "/help"), "chat commands have no JSON output")):
        answer = call("chat", *words, "--json")
        assert (answer.code, answer.out) == (2, "")
        assert sentence in answer.err


def test_agent_channel_and_key_name_the_conversation() -> None:
    one = ok(*PIPED, "--once", "hello", "--agent", "coder", "--channel", "signal", "--json").json
    two = ok(*PIPED, "--once", "hello", "--session", "agent:coder:signal:direct", "--json").json
    three = ok(*PIPED, "--once", "hello", "--json").json
    assert one["session_id"] == two["session_id"] != three["session_id"]


def test_bytes_that_are_no_text_are_a_sentence_and_the_next_line_is_read() -> None:
    answer = ok(*PIPED, stdin=b"\xff\xfe\nhello\n")
    assert answer.out == "You said: hello\n"
    assert answer.err == "a line of stdin is not UTF-8; write it in that encoding\n"


@pytest.mark.parametrize("provider", ["none", "local"])
def test_without_a_model_it_answers_from_what_was_said_and_admits_what_it_does_not_know(
    provider: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("RECOLLECTUM_EMBEDDING__PROVIDER", provider)
    ok("remember", "My sister Ada works at a bank")
    said = [
        "I live in Oslo.",
        "Where do I live?",
        "Tell me a joke",
        "What is the capital of Mongolia?",
        "Who is my sister?",
    ]
    answer = ok("chat", stdin="\n".join([*said, "/reset", "Where do I live?", ""]).encode())
    lives = "- I live in Oslo. (you said so in this conversation)"
    first, where, joke, capital, sister, new, later = answer.out.splitlines()
    assert (first, where, joke, capital) == (NOTED, lives, NOTHING, NOTHING)
    assert sister.startswith("- My sister Ada works at a bank (")
    assert new.startswith("a new conversation begins")
    assert later.startswith("- I live in Oslo. (you said so on ")


def test_a_model_that_is_too_small_to_talk_with_is_not_used_to_talk(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    class Small(ScriptedModel):
        @property
        def identity(self) -> ModelIdentity:
            return ModelIdentity(provider="local", model="SmolLM2", small=True)

    small = Small(["I'm glad to hear that."])
    monkeypatch.setattr("recollectum.engine.Recollectum.language_model", small)
    answer = ok("chat", "--once", "Where do I live?")
    assert answer.out == f"{NOTHING}\n"
    assert "local/SmolLM2 is too small to talk with" in answer.err
    assert small.prompts == []
