"""An agent at a vault of its own, with a model that does as it is told."""

from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import dataclass, field

from recollectum import Recollectum
from recollectum.domain.message import Message
from recollectum.doors.cli.chat.agent import ChatAgent
from recollectum.models.language.port import LanguageModel
from recollectum.vault.vault import Vault

PLAIN = {"encryption": "off", "storage.reserve_mib": 0}


@dataclass(slots=True)
class Shown:
    """Keeps what a person would see."""

    pieces: list[str] = field(default_factory=list[str])
    ended: int = 0
    told: list[str] = field(default_factory=list[str])

    def piece(self, text: str) -> None:
        """One more."""
        self.pieces.append(text)

    def end(self) -> None:
        """A line has ended."""
        self.ended += 1


@contextmanager
def own_vault() -> Generator[Vault]:
    """Ada's vault in the home of this test."""
    with Recollectum(settings=PLAIN) as recollectum:
        yield recollectum.vault("user:ada")


def agent_with(
    vault: Vault, model: LanguageModel | None, shown: Shown | None = None, *, tokens: int | None = None
) -> ChatAgent:
    """An agent that shows nothing unless it is given where."""
    screen = shown or Shown()
    return ChatAgent(vault, model, screen, key=None, begin=vault.sessions.open, tokens=tokens, told=screen.told.append)


def recorded(agent: ChatAgent) -> list[Message]:
    """Everything that was said in the session."""
    return agent.chat().transcript()


def words(agent: ChatAgent) -> list[tuple[str, str]]:
    """Who said what."""
    return [(str(one.role), one.text) for one in recorded(agent)]
