"""A writer that does one random thing after another to a vault, and says so before and after each."""

import random
from collections.abc import Callable

from recollectum.vault.sessions.chat import Chat
from recollectum.vault.vault import Vault
from tests.crashes.ledger import Intent, Ledger

_WORDS = [
    "amber",
    "birch",
    "cedar",
    "delta",
    "ember",
    "fjord",
    "grove",
    "heath",
    "isle",
    "jade",
    "kelp",
    "lotus",
    "maple",
    "north",
    "olive",
    "pearl",
    "quartz",
]
#: How often it does what; a drop destroys a whole session.
_WEIGHTS = {"save": 30, "say": 30, "edit": 20, "supersede": 10, "forget": 8, "drop": 2}


class Scribe:
    """One writer; it touches only what it wrote itself, so that its ledger is exact."""

    def __init__(
        self,
        vault: Vault,
        name: str,
        chance: random.Random,
        *,
        drops: bool = True,
        begin: Callable[[Intent], None] = lambda intent: None,
        done: Callable[[str], None] = lambda made: None,
    ) -> None:
        self._vault = vault
        self._name = name
        self._chance = chance
        self._begin = begin
        self._done = done
        self._count = 0
        self._weights = {name: weight for name, weight in _WEIGHTS.items() if drops or name != "drop"}
        self.ledger = Ledger()

    def step(self) -> None:
        """Do one thing."""
        name = self._chance.choices(list(self._weights), list(self._weights.values()))[0]
        live = self.ledger.live()
        if name in ("edit", "supersede", "forget"):
            # The newest ones, so that one memory goes through several changes.
            subject = self._chance.choice(live[-4:]) if live else ""
            intent = Intent(name, subject, "" if name == "forget" else self._text()) if live else None
        elif name in ("say", "drop"):
            intent = Intent(name, self._chat().id, self._text() if name == "say" else "")
        else:
            intent = Intent("save", content=self._text())
        if intent:
            self._tell(intent)

    def _tell(self, intent: Intent) -> None:
        self.ledger.begin(intent)
        self._begin(intent)
        made = self._do(intent)
        self.ledger.done(made)
        self._done(made)

    def _do(self, intent: Intent) -> str:
        memories = self._vault.memories
        match intent.name:
            case "save":
                return memories.save(intent.content).id
            case "say":
                return self._vault.sessions.chat(intent.subject).add("user", intent.content).id
            case "edit":
                memories.edit(intent.subject, intent.content)
            case "supersede":
                return memories.supersede(intent.subject, intent.content).id
            case "forget":
                memories.forget(intent.subject)
            case _:
                self._vault.sessions.delete(intent.subject)
        return ""

    def _chat(self) -> Chat:
        return self._vault.sessions.open(channel="test", agent="main", topic=self._name)

    def _text(self) -> str:
        """Never the same twice; now and then too long for one page of the file."""
        self._count += 1
        length = self._chance.choice((5, 5, 5, 20, 20, 700))
        return f"{self._name} writes {self._count}: {' '.join(self._chance.choices(_WORDS, k=length))}"
