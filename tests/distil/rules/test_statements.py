"""Without a model only first-person statements are found: many of them, and nothing that is none."""

import pytest

from recollectum.distil.pipeline import distil
from recollectum.domain.memory import Kind
from recollectum.domain.proposal import RULES
from tests.distil.said import said

F, P, J, T = Kind.FACT, Kind.PREFERENCE, Kind.PROJECT, Kind.TASK

POSITIVE = [
    ("I live in Oslo.", F),
    ("I live with my two sisters.", F),
    ("Hi, I'm living in Berlin with my partner.", F),
    ("I am from Portugal.", F),
    ("I grew up in Leeds.", F),
    ("I was born in 1984.", F),
    ("We moved to Bergen last spring.", F),
    ("I've just moved to Lyon.", F),
    ("My name is Anna Berg.", F),
    ("Call me Sam.", F),
    ("You can call me Lexi", F),
    ("I go by Max.", F),
    ("I work as a nurse.", F),
    ("I work at Equinor.", F),
    ("I currently work for the city council.", F),
    ("I work from home on Fridays.", F),
    ("I'm a software engineer.", F),
    ("I am an early bird.", F),
    ("I'm a retired teacher.", F),
    ("I teach maths at a secondary school.", F),
    ("I speak Norwegian and Spanish.", F),
    ("I play the cello.", F),
    ("I drive an old Volvo.", F),
    ("I run a small bakery.", F),
    ("I'm allergic to peanuts.", F),
    ("I have a severe nut allergy.", F),
    ("I’m lactose intolerant.", F),
    ("I'm vegetarian.", F),
    ("I am 34 years old.", F),
    ("I'm left-handed.", F),
    ("I'm married.", F),
    ("I have two cats.", F),
    ("I've got a dog.", F),
    ("I have three kids.", F),
    ("I have type 2 diabetes.", F),
    ("My wife's name is Ingrid.", F),
    ("My sister lives in Madrid.", F),
    ("My birthday is 3 May.", F),
    ("My daughter is seven.", F),
    ("My dog is called Rex.", F),
    ("My time zone is CET.", F),
    ("By the way, my pronouns are they/them.", F),
    ("My doctor is Dr. Smith.", F),
    ("I use Arch Linux.", F),
    ("I like green tea.", P),
    ("I really love hiking in the mountains.", P),
    ("I hate coriander.", P),
    ("I can't stand loud offices.", P),
    ("I prefer short answers.", P),
    ("I don't eat pork.", P),
    ("I never drink coffee after noon.", P),
    ("I love to cook on Sundays.", P),
    ("My favourite colour is green.", P),
    ("I'm a big fan of Arsenal.", P),
    ("I usually wake up at six.", P),
    ("I'm working on a novel about whales.", J),
    ("I'm training for the Bergen marathon.", J),
    ("We're building a cabin near Voss.", J),
    ("I need to renew my passport by 12 June.", T),
    ("My deadline is next Friday.", T),
    ("Please remember that the gate code changes in May.", F),
    ("Remember that I hate surprises.", P),
    ("Keep in mind that the cleaner comes every Tuesday.", F),
]

NEGATIVE = [
    "Do I live in Oslo?",
    "Where do I live",
    "If I live in Oslo, do I pay the tax?",
    "I think I like tea.",
    "Maybe I live too far away.",
    "I would like a coffee.",
    "I'd love to see that.",
    "I like it.",
    "I love that!",
    "I like your answer.",
    "I prefer the second option.",
    "I like the idea.",
    "I love how you explained this.",
    "I hate to say it, but no.",
    "I have a question.",
    "I have an idea.",
    "I have no idea.",
    "I have to go.",
    "I have been there.",
    "I need help with this.",
    "I need to know how it works.",
    "I am tired.",
    "I'm a bit lost here.",
    "I'm sorry.",
    "I'm not sure about this.",
    "I am going to the shop.",
    "I'm working on it.",
    "I'm writing to you about the invoice.",
    "I use it every day.",
    "I used the wrong key.",
    "Call me later.",
    "call me when you are done",
    "My question is simple.",
    "My guess is that it broke.",
    "My code is failing.",
    "My computer is slow.",
    "My mother is calling.",
    "My dog is barking again.",
    "My car is broken.",
    "My point is that we should wait.",
    "She said I live in Oslo.",
    "He told me: I love tea.",
    '"I love tea," she said.',
    "> I live in Oslo.",
    "| I live in Oslo.",
    "Translate this: I live in Oslo.",
    "Proofread my letter. I am a nurse. I live in Oslo.",
    "Pretend I am a doctor. I work at a clinic.",
    "Write a poem about spring. I love spring.",
    "Imagine this. I live in Paris.",
    "You live in Oslo.",
    "They like green tea.",
    "What is my name?",
    "Remember when we talked?",
    "Do you remember that I like tea?",
    "Remember me!",
    "I wish I lived in Rome.",
    "I might move to Rome.",
    "I am in Paris right now.",
    "I'm just kidding, I love rain.",
    "My password is hunter2.",
    "My PIN is 4711 and my name is Bob.",
    "I live in...",
    "I did what you said.",
    "I like the quiet approach.",
    "I don't like any of those.",
    "Note: table 2 is an example.",
    "I play Qd1 next.",
    "I live in Oslo. " + "And so the story goes on and on. " * 100,
    "I always forget that.",
    "Thanks, I like this a lot",
    "I run into errors all the time.",
]


@pytest.mark.parametrize(("text", "kind"), POSITIVE)
def test_a_first_person_statement_is_found(text: str, kind: Kind) -> None:
    found = distil(said(f"u: {text}"), (), model=None)
    assert [one.kind for one in found.findings] == [kind]
    assert found.by == RULES == found.findings[0].by
    assert not found.findings[0].certain


@pytest.mark.parametrize("text", NEGATIVE)
def test_anything_else_is_not(text: str) -> None:
    assert distil(said(f"u: {text}"), (), model=None).findings == ()


def test_there_are_sixty_of_each() -> None:
    assert len(POSITIVE) >= 60
    assert len(NEGATIVE) >= 60
