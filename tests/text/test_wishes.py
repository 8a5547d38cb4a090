"""What is a request, and what may state a standing wish."""

import pytest

from recollectum.text.wishes import is_request, may_state_wish


@pytest.mark.parametrize(
    "text",
    [
        "Plan my trip to Munich next month",
        "please suggest a dessert",
        "Could you compare these two phones?",
        "Which boots should I get?",
        "I need something warm for Iceland",
        "Any ideas for Saturday?",
        "How do I repot the monstera?",
        "Soll ich das Auto leasen?",
        "¿Puedes ayudarme con la cena?",
        "おすすめのレストランは？",
    ],
)
def test_a_text_that_asks_for_advice_or_work_is_a_request(text: str) -> None:
    assert is_request(text)


@pytest.mark.parametrize(
    "text",
    [
        "Where does my sister live?",
        "When did Ann go to Lisbon?",
        "Can you remind me what you said about oil?",
        "What should I have said, and what did I say?",
        "the red car",
        "",
    ],
)
def test_a_question_for_what_is_known_is_no_request(text: str) -> None:
    assert not is_request(text)


@pytest.mark.parametrize(
    "text",
    ["Always cite your sources.", "I don’t eat meat", "no tables, please!", "Ich bin allergisch.", "PREFER TRAINS"],
)
def test_a_word_of_a_wish_is_found_whatever_stands_beside_it(text: str) -> None:
    assert may_state_wish(text)


@pytest.mark.parametrize("text", ["My sister lives in Oslo.", "The nosy neighbour knows it", ""])
def test_a_text_without_such_a_word_states_no_wish(text: str) -> None:
    assert not may_state_wish(text)
