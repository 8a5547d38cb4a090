"""Makes pairs of a request and a standing wish that bears on it, though they share no word."""

import random
from collections.abc import Iterator

Row = tuple[str, str, tuple[str, ...]]

#: A topic: how a person states the wish, and requests that it bears on.
TOPICS: tuple[tuple[tuple[str, ...], tuple[str, ...]], ...] = (
    (("Always cite your sources.", "I want a reference for every claim you make.", "Please link where you got facts from."),
     ("Summarise the causes of the French Revolution", "Is coffee good for the heart?", "Write two paragraphs on coral bleaching", "What do we know about dark matter?")),
    (("I prefer trains to planes.", "I avoid flying whenever I can.", "I would rather take the train, even if it is slower."),
     ("Plan my trip to Munich next month", "How do I get to the conference in Lyon?", "Find me a way to Vienna for the weekend", "Book travel for the client visit")),
    (("I am vegetarian.", "I don't eat meat or fish.", "No meat for me, please."),
     ("Suggest something for dinner tonight", "Find a restaurant near the office", "What could I cook for four guests?", "Plan the menu for the party")),
    (("Keep your answers short.", "Two sentences are enough for me.", "Don't write walls of text; be brief."),
     ("Explain how a heat pump works", "What is the difference between TCP and UDP?", "Tell me about the history of Lisbon", "How does a mortgage work?")),
    (("Answer me in German.", "I'd like replies in German, even if I ask in English."),
     ("What is the weather like in Oslo in May?", "Explain recursion to me", "Write a thank-you note to my landlord")),
    (("Use metric units.", "I think in kilometres and kilograms.", "Celsius, please, not Fahrenheit."),
     ("How far is it from Boston to New York?", "How hot does an oven get?", "Convert this recipe for me", "How tall is the Eiffel Tower?")),
    (("I write Python with type hints everywhere.", "All my Python code has to pass a strict type checker."),
     ("Write a function that merges two sorted lists", "Refactor this parser", "Add caching to the client class")),
    (("Prefer the standard library over new dependencies.", "Don't add packages unless it's unavoidable."),
     ("How should I parse this CSV file?", "Make an HTTP request in this script", "Add a progress bar to the tool")),
    (("Write tests for whatever you change.", "No change without a test, please."),
     ("Fix the bug in the date parser", "Implement the export command", "Rename the config option")),
    (("I'm allergic to peanuts.", "Peanuts could kill me.", "I can't have anything with nuts."),
     ("Recommend a dessert", "What snack should I bring on the hike?", "Find a Thai place for lunch", "Give me a granola recipe")),
    (("I don't drink alcohol.", "I've been sober for three years.", "No alcohol for me."),
     ("What should I order at the bar?", "Choose a drink that goes with salmon", "Plan a fun evening for my birthday", "Gift ideas for the dinner host")),
    (("My budget is tight this year.", "I'm saving for a flat, so keep things cheap.", "Please look for the inexpensive option."),
     ("Which laptop should I buy?", "Where could we go on holiday?", "Recommend a winter coat", "Find a hotel in Rome")),
    (("I get up at five.", "I'm a morning person and in bed by nine."),
     ("When should we schedule the call?", "Plan my day tomorrow", "Is the late show a good idea?")),
    (("Don't book anything on Sundays; that's family time.", "Sundays are for my children, keep them free."),
     ("Set up the workshop for the last weekend of June", "When can the plumber come?", "Find a slot for the interview")),
    (("I use a wheelchair.", "I can't climb stairs.", "Places have to be step-free for me."),
     ("Find a nice museum for Saturday", "Which flat should I rent?", "Suggest a restaurant with a view", "Plan a day out in Porto")),
    (("I hate crowds.", "Busy places make me anxious.", "I like it quiet and empty."),
     ("What should we do on New Year's Eve?", "When should I visit the Louvre?", "Suggest a gym time for me", "Where to spend the holidays?")),
    (("Speak to me like an expert; I'm a cardiologist.", "I have a medical degree, skip the basics."),
     ("Explain how beta blockers work", "What does an elevated troponin mean?", "Summarise this paper on heart failure")),
    (("Explain things as if I were ten.", "I'm a beginner, so use simple words."),
     ("How does electricity get to my house?", "What is inflation?", "What is a neural network?")),
    (("Never use emojis.", "I find emojis childish.", "Plain text only, without smileys."),
     ("Write a cheerful birthday message", "Draft a post for the team channel", "Reply to Tom's invitation")),
    (("Sign my mails with 'Best, Jo'.", "My letters end with 'Best, Jo'."),
     ("Draft a mail to the supplier", "Answer the recruiter", "Write to the school about the absence")),
    (("I run on Linux.", "My machine has Debian on it.", "I don't use Windows or a Mac."),
     ("How do I install the printer?", "Which app should I use to edit photos?", "My screen flickers, what can I do?")),
    (("I only use open source software.", "Nothing proprietary on my computer."),
     ("What should I use for video calls?", "Recommend a notes app", "How do I edit a PDF?")),
    (("Use British spelling.", "Write colour, not color."),
     ("Draft the introduction of the report", "Correct my essay", "Write a caption for the photo")),
    (("I have two small children.", "We travel with a toddler and a baby."),
     ("Suggest a weekend trip", "Which car should we get?", "Find a café for the meeting with Anna", "What could we do when it rains?")),
    (("My knee is bad, no running.", "The doctor told me to avoid jumping and running."),
     ("Make me a training plan", "How could I get fitter?", "Suggest a sport for the summer")),
    (("I'm on call every other week.", "I can be called in to the hospital at night."),
     ("Could I join the choir on Thursdays?", "Plan the camping weekend", "Book theatre tickets for the 14th")),
    (("I don't like surprises; ask before you do something.", "Always confirm with me first."),
     ("Clean up the old branches", "Send the newsletter", "Cancel the subscriptions I don't need", "Delete the duplicates")),
    (("Give me the answer first, then the reasons.", "Start with the conclusion."),
     ("Should we move to the cloud?", "Is it worth repairing the boiler?", "Which of the two offers is better?")),
    (("I love spicy food.", "It can't be hot enough for me.", "Chillies in everything, please."),
     ("Pick a curry recipe", "What should I order at the Sichuan place?", "Suggest a sauce for the noodles")),
    (("I can't see red and green apart.", "I'm colour-blind."),
     ("Make a chart of the sales", "Choose a palette for the slides", "Help me pick a carpet")),
    (("I work from home on Mondays and Fridays.", "On Mondays and Fridays I'm not in the office."),
     ("When can the parcel be delivered?", "Set a day for the team lunch", "Schedule the technician's visit")),
    (("I dislike horror films.", "Scary stories keep me awake."),
     ("What should we watch tonight?", "Recommend a novel for the flight", "Pick a game for the evening")),
    (("I care about the climate and try to fly less.", "Choose the greener option for me when there is one."),
     ("Plan a holiday in August", "Which heating should we install?", "Find a gift for my dad")),
    (("Show amounts in euros.", "I pay in euros."),
     ("What does the course cost?", "Compare the three phones", "How expensive is a week in Tokyo?")),
    (("I like tables.", "Put comparisons in a table, please."),
     ("Compare these four insurers", "What are the differences between the plans?", "List pros and cons of both cities")),
    (("No dairy for me.", "Milk makes me ill.", "I'm lactose intolerant."),
     ("Give me a recipe for a cake", "What should I get at the ice cream parlour?", "Plan breakfast for the week")),
    (("Call me Doctor Weiss.", "Address me formally."),
     ("Write a reply that confirms my appointment", "Draft the invitation in my name", "Prepare the greeting for the event")),
    (("Commits go in English and in the imperative.", "Write commit messages in the imperative mood."),
     ("Commit this change", "Prepare the pull request", "Squash my work and push it")),
    (("I never want to talk about my ex.", "Please don't bring up Robert."),
     ("Help me write a toast for the wedding", "Who should I invite to the party?", "Make a photo album of 2019")),
    (("I'm learning Spanish and want to practise.", "Mix some Spanish into what you tell me."),
     ("Tell me something about Madrid", "What's on my list today?", "Write me a bedtime story")),
    (("I'm left-handed.", "I do everything with my left hand."),
     ("Which mouse should I buy?", "Recommend a guitar for a beginner", "Which scissors are good?")),
    (("I like window seats.", "Always get me a seat at the window."),
     ("Check me in for tomorrow", "Reserve the train to Hamburg", "Book the flight to Denver")),
)  # fmt: skip

_SAID = ("User: {}", "{}", "User: By the way: {}", "User: One thing for the future. {}", "{name}: {}")
_NAMES = ("Mara", "Jonas", "Nadia", "Dmitri", "Priya", "Kofi", "Lucia", "Owen")
_SMALL_TALK = (
    "User: Thanks, that helped a lot.",
    "User: I was in town yesterday and met an old friend.",
    "User: The weather has been dreadful all week.",
    "User: My sister is moving to another city.",
    "User: I finished the book you mentioned.",
    "User: We painted the kitchen last weekend.",
)
#: Every sixth topic is kept for measuring, so no wish or request of it is trained with.
_KEPT = 6


def rows(seed: int) -> Iterator[Row]:
    """Yield a request, the wish that bears on it, and wishes and talk that do not, for the topics to train with."""
    chance = random.Random(f"instructions {seed}")
    topics = [topic for at, topic in enumerate(TOPICS) if at % _KEPT]
    for wishes, requests in topics:
        others = [one for one in topics if one[0] is not wishes]
        for request in requests:
            for wish in wishes:
                wrong = [_said(chance.choice(chance.choice(others)[0]), chance) for _ in range(2)]
                about = chance.choice([one for one in requests if one is not request])
                yield request, _said(wish, chance), (*wrong, f"User: {about}", chance.choice(_SMALL_TALK))


def kept_topics() -> list[tuple[tuple[str, ...], tuple[str, ...]]]:
    """Return the topics that are never trained with."""
    return [topic for at, topic in enumerate(TOPICS) if not at % _KEPT]


def _said(wish: str, chance: random.Random) -> str:
    return chance.choice(_SAID).format(wish, name=chance.choice(_NAMES))
