"""Journey 5: a chat without a model answers from what was said in it, and admits what it does not know."""

import pytest

from tests.journeys.machines import Machine

pytestmark = pytest.mark.process


def test_a_chat_without_a_model_answers_from_what_was_said(laptop: Machine) -> None:
    with laptop.sits_at("recollectum chat") as chat:
        assert "no language model is set up" in chat.waits_for("> ")
        for line, answer in (
            ("I live in Oslo.", "Noted for this conversation"),
            ("Where do I live?", "- I live in Oslo. (you said so in this conversation)"),
            ("What is the capital of Mongolia?", "Nothing close to that is known."),
            ("/remember My dog is called Rex", "remembered (mem_"),
            ("What is my dog called?", "- My dog is called Rex ("),
            ("/why", "tokens"),
        ):
            chat.types(line)
            chat.waits_for(answer)
            chat.waits_for("> ")
        chat.types("/quit")
        assert chat.end() == 0
    assert "Traceback" not in chat.shown
