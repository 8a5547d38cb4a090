"""A made-up person with half a year of memories, for the tests and the pictures of the console."""

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta

from recollectum.domain.memory import Kind
from recollectum.domain.message import Role, ToolCall, ToolStatus
from recollectum.domain.proposal import Act, Finding, Span
from recollectum.engine import Recollectum
from recollectum.vault.sessions.chat import Chat
from recollectum.vault.vault import Vault
from tests.matrix.homes import Turning

PERSON = "user:ada"
BEGIN = datetime(2026, 5, 4, 8, 15, tzinfo=UTC)

_TALKS: Sequence[tuple[str, str, int, Sequence[tuple[str, str]]]] = (
    (
        "A quiet week in Lisbon",
        "telegram",
        0,
        (
            ("user", "We are thinking of Lisbon in October, Tom and I. Somewhere quiet, with a kitchen."),
            ("assistant", "October is lovely there. Shall I look near the river, or up in Graça?"),
            ("user", "Graça. I am vegetarian and allergic to walnuts, so a kitchen really matters."),
            ("assistant", "Noted: vegetarian, no walnuts. I will look for a flat with a proper kitchen in Graça."),
            ("user", "And no early flights please. I am useless before nine."),
        ),
    ),
    (
        "Deploying the greenhouse sensors",
        "cli",
        12,
        (
            ("user", "The soil sensor in bed three reports 140 % moisture again."),
            ("assistant", "I read the log of bed three and the calibration file."),
            ("user", "Always run the tests with make check before you deploy anything, please."),
            ("assistant", "Understood. make check first, and only then the deployment."),
        ),
    ),
    (
        "A present for Mara",
        "whatsapp",
        34,
        (
            ("user", "My sister Mara turns forty on 12 November. She has started to bind books."),
            ("assistant", "A bone folder and Japanese paper, perhaps? Or a weekend course at a bindery?"),
            ("user", "The course. She lives in Ghent now, so something near there."),
            ("assistant", "There is a two-day course in Ghent at the end of November."),
        ),
    ),
    (
        "The piano",
        "main",
        61,
        (
            ("user", "I practise the second Intermezzo every morning now, before work."),
            ("assistant", "Brahms, opus 118? The middle part sings best when the left hand stays behind."),
            ("user", "Yes, opus 118. My teacher is called Irina, lessons are on Thursdays at six."),
        ),
    ),
)
_FACTS: Sequence[tuple[int, str, str, str | None, float]] = (
    (0, "Ada is vegetarian and allergic to walnuts", "fact", "diet", 0.95),
    (1, "Prefers flights that leave after nine in the morning", "preference", None, 0.7),
    (3, "Tom, Ada's partner, works night shifts at the observatory", "fact", None, 0.8),
    (
        9,
        "The greenhouse runs on a Raspberry Pi in the shed; its address is on the label inside the door",
        "fact",
        None,
        0.5,
    ),
    (12, "Run make check before any deployment", "correction", "deploying", 0.9),
    (15, "Likes answers short, with the reason first", "preference", None, 0.85),
    (22, "The tomato seeds come from aunt Greta, and are kept in the blue tin", "fact", None, 0.4),
    (34, "Mara, her sister, turns forty on 12 November and has taken up bookbinding", "fact", None, 0.8),
    (35, "Mara lives in Ghent", "fact", None, 0.6),
    (41, "The allotment is number 27, by the old pear tree", "fact", None, 0.4),
    (48, "When a plan has more than three steps, Ada wants to see it as a list first", "pattern", None, 0.7),
    (55, "Use the metric system and 24-hour times", "preference", "units", 0.75),
    (61, "Practises Brahms, opus 118 number 2, every morning before work", "fact", None, 0.5),
    (62, "Piano lessons with Irina, Thursdays at six", "fact", "piano_lesson", 0.65),
    (70, "The bicycle is at the workshop in Long Lane until Friday", "task", None, 0.3),
    (78, "ripgrep is installed and preferred over grep", "tool_usage", None, 0.5),
    (83, "Writing a small book about the garden; the working title is The Slow Beds", "project", None, 0.7),
)


def fill(home: Recollectum, clock: Turning) -> None:
    """Make the person and all of it, day by day, up to where the clock shows the end."""
    home.people.add(PERSON)
    clock.now = BEGIN
    vault = home.as_person(PERSON).vault(PERSON)
    talks = {day: (title, channel, lines) for title, channel, day, lines in _TALKS}
    for day in range(86):
        clock.now = BEGIN + timedelta(days=day)
        if day in talks:
            _talk(vault, clock, *talks[day])
        for _, text, kind, key, importance in (fact for fact in _FACTS if fact[0] == day):
            clock.turn(timedelta(minutes=7))
            vault.memories.save(text, kind=Kind(kind), key=key, importance=importance, message_id=_heard(vault, text))
        _change(vault, day)
    clock.now = BEGIN + timedelta(days=86, hours=3)
    _propose(vault)


def _talk(vault: Vault, clock: Turning, title: str, channel: str, lines: Sequence[tuple[str, str]]) -> None:
    chat = vault.sessions.open(channel=channel)
    for role, text in lines:
        clock.turn(timedelta(minutes=1))
        calls = _calls() if text.startswith("I read the log") else ()
        chat.add(Role(role), text, tool_calls=calls, model="small-talker-3" if role == "assistant" else None)
    chat.describe(title=title)
    chat.end()


def _calls() -> tuple[ToolCall, ...]:
    log = "2026-05-16 07:58 bed-3 moisture=1.40 raw=933\n2026-05-16 08:08 bed-3 moisture=1.41 raw=934"
    return (
        ToolCall(id="call_1", name="read_file", args={"path": "log/bed-3.txt"}, result=log, status=ToolStatus.COMPLETE),
        ToolCall(
            id="call_2",
            name="read_file",
            args={"path": "calibration.toml"},
            result={"dry": 310, "wet": 640},
            status=ToolStatus.COMPLETE,
        ),
    )


def _heard(vault: Vault, text: str) -> str | None:
    """The message that a fact was heard in, for those that were."""
    word = {"Ada is veg": "allergic", "Run make c": "make check", "Mara, her ": "forty", "Practises ": "Intermezzo"}
    wanted = word.get(text[:10])
    if wanted is None:
        return None
    for session in vault.sessions.list(limit=20):
        for message in _said(vault.sessions.chat(session.id)):
            if wanted in message[1]:
                return message[0]
    return None


def _said(chat: Chat) -> list[tuple[str, str]]:
    return [(one.id, one.text) for one in chat.transcript() if one.role == "user"]


def _change(vault: Vault, day: int) -> None:
    by_text = {one.content[:12]: one for one in vault.memories.list(limit=100)}
    if day == 50:
        vault.memories.edit(
            by_text["Ada is veget"].id, "Ada is vegetarian, allergic to walnuts, and eats fish on holidays"
        )
    if day == 64:
        vault.memories.edit(by_text["Piano lesson"].id, "Piano lessons with Irina, Thursdays at half past six")
    if day == 72:
        vault.memories.supersede(by_text["Mara lives i"].id, "Mara has moved from Ghent to Antwerp")
    if day == 80:
        vault.memories.forget(by_text["The bicycle "].id)
    if day == 84:
        vault.memories.move(by_text["The allotmen"].id, "archived")
        vault.memories.edit(
            by_text["Prefers flig"].id, "Prefers flights and trains that leave after nine in the morning"
        )


def _propose(vault: Vault) -> None:
    by_text = {one.content[:12]: one for one in vault.memories.list(limit=100)}
    chat = vault.sessions.chat(vault.sessions.list(limit=10)[0].id)
    told = chat.transcript()[-1]
    piano = by_text["Piano lesson"]
    vault.admin.review.propose(
        [
            Finding(
                act=Act.UPDATE,
                content="Piano lessons with Irina, Thursdays at six, at her flat above the bakery",
                kind=piano.kind,
                importance=0.7,
                spans=(Span(told.id, 0, len(told.text)),),
                targets=(piano.id,),
                reason="She said it again on another day, and named the place.",
            ),
            Finding(
                act=Act.ADD,
                content="Would like to play for Mara's birthday in November",
                kind=piano.kind,
                importance=0.5,
                spans=(Span(told.id, 5, 40),),
                reason="It was said in passing, and may have been meant as a joke.",
            ),
        ]
    )
