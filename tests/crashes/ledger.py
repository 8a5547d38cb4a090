"""What writers were told has been written, and whether a vault still holds it."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from recollectum.storage.port import Tx

#: A memory's state and everything it has said, oldest first; its version is how many that are.
Known = tuple[str, tuple[str, ...]]


@dataclass(frozen=True, slots=True)
class Intent:
    """One operation as its writer announces it before the call."""

    name: str
    #: The memory or session it is about, when there is one already.
    subject: str = ""
    content: str = ""

    def after(self, before: Known) -> Known:
        """What the memory it is about becomes."""
        state, said = before
        match self.name:
            case "edit":
                return state, (*said, self.content)
            case "forget":
                return "soft_deleted", said
            case "supersede":
                return "archived", (*said, said[-1])
            case _:
                return before


@dataclass(slots=True)
class Ledger:
    """What one writer was promised, and the one operation it was not answered about."""

    memories: dict[str, Known] = field(default_factory=dict[str, Known])
    #: Message id → session id and content.
    messages: dict[str, tuple[str, str]] = field(default_factory=dict[str, tuple[str, str]])
    begun: Intent | None = None
    acknowledged: int = 0

    def begin(self, intent: Intent) -> None:
        """The writer is about to make this call."""
        self.begun = intent

    def done(self, made: str) -> None:
        """The call returned; `made` is the id of what is new, if anything is."""
        intent = self.begun
        assert intent is not None, "an answer to nothing"
        if intent.name == "say":
            self.messages[made] = intent.subject, intent.content
        elif intent.name == "drop":
            self.messages = {one: said for one, said in self.messages.items() if said[0] != intent.subject}
        else:
            if intent.subject:
                self.memories[intent.subject] = intent.after(self.memories[intent.subject])
            if made:
                self.memories[made] = "active", (intent.content,)
        self.begun = None
        self.acknowledged += 1

    def settle(self, seen: "Seen") -> None:
        """Take over how the unanswered operation ended; from now on that may not change either."""
        intent, self.begun = self.begun, None
        if intent is None:
            return
        for memory in filter(None, (intent.subject,)):
            if memory in self.memories:
                self.memories[memory] = seen.memories.get(memory, self.memories[memory])
        if intent.name in ("save", "supersede"):
            self.memories |= {one: known for one, known in seen.memories.items() if known[1][0] == intent.content}
        if intent.name == "say":
            wanted = intent.subject, intent.content
            self.messages |= {one: said for one, said in seen.messages.items() if said == wanted}
        if intent.name == "drop":
            left = {
                one: said for one, said in self.messages.items() if said[0] != intent.subject or one in seen.messages
            }
            self.messages = left

    def live(self) -> list[str]:
        """The memories that can still be changed."""
        return [memory for memory, (state, _) in self.memories.items() if state == "active"]


@dataclass(frozen=True, slots=True)
class Seen:
    """What is in a vault now."""

    memories: Mapping[str, Known]
    messages: Mapping[str, tuple[str, str]]


def look(tx: Tx) -> Seen:
    """Everything a vault says, straight from its rows."""
    said: dict[str, list[str]] = {}
    for memory, content in tx.rows("SELECT memory_id, content FROM memory_versions ORDER BY memory_id, version", {}):
        said.setdefault(memory, []).append(content)
    rows = tx.rows("SELECT id, state, content FROM memories", {})
    memories = {one: (state, (*said.get(one, ()), content)) for one, state, content in rows}
    spoken = tx.rows("SELECT id, session_id, text FROM messages", {})
    return Seen(memories, {one: (session, text) for one, session, text in spoken})


def lost(ledger: Ledger, seen: Seen) -> list[str]:
    """Every acknowledged operation that is not in the vault as it was acknowledged."""
    begun = ledger.begun
    found: list[str] = []
    for memory, known in ledger.memories.items():
        allowed = [known]
        if begun and begun.subject == memory:
            allowed.append(begun.after(known))
        if seen.memories.get(memory) not in allowed:
            found.append(f"memory {memory}")
    for message, said in ledger.messages.items():
        dropped = (
            begun is not None and begun.name == "drop" and begun.subject == said[0] and message not in seen.messages
        )
        if seen.messages.get(message) != said and not dropped:
            found.append(f"message {message}")
    return found


def unexplained(ledgers: list[Ledger], seen: Seen) -> list[str]:
    """Every row that nobody was told of and nobody was about to write, and every delete that stopped half-way."""
    begun = [ledger.begun for ledger in ledgers if ledger.begun]
    new_memories = {intent.content for intent in begun if intent.name in ("save", "supersede")}
    new_messages = {(intent.subject, intent.content) for intent in begun if intent.name == "say"}
    known = {one for ledger in ledgers for one in (*ledger.memories, *ledger.messages)}
    found = [
        f"memory {one}" for one, (_, said) in seen.memories.items() if one not in known and said[0] not in new_memories
    ]
    found += [f"message {one}" for one, said in seen.messages.items() if one not in known and said not in new_messages]
    for ledger in ledgers:
        if ledger.begun and ledger.begun.name == "drop":
            mine = [one for one, (session, _) in ledger.messages.items() if session == ledger.begun.subject]
            left = sum(one in seen.messages for one in mine)
            found += [f"session {ledger.begun.subject} dropped by half"] if left not in (0, len(mine)) else []
    return found
