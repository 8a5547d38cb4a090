"""A life of an agent for one person: it sweeps, says something, shows what it knows, and ends by SIGKILL."""

import json
import os
import signal
import sys
from datetime import datetime, timedelta
from pathlib import Path

from recollectum.domain.message import Json
from recollectum.domain.models.language_model import Prompt
from recollectum.testing import ScriptedModel
from recollectum.upkeep.rounds.tasks import sweep
from tests.matrix.homes import Turning, open_home
from tests.vault.scripted_homes import finds, found, number_of

TEA = "I drink green tea every morning"
PORTO = "I live in Porto"
LISBON = "I live in Lisbon now"


def _model() -> ScriptedModel:
    def answer(prompt: Prompt) -> dict[str, Json]:
        said = prompt.turns[-1].text.partition("<conversation")[2]
        new = [found(fact, fact) for fact in (TEA, PORTO) if fact in said]
        if LISBON in said:
            new.append(found(LISBON, LISBON, act="supersede", target=number_of(prompt, PORTO)))
        return finds(*new)

    return ScriptedModel(answer)


def main(folder: Path, at: datetime, identity: str, *said: str) -> None:
    """Sweep as an agent does when it starts, say something, and show the context of the next turn."""
    with open_home(folder, Turning(at), language_model=_model()) as home:
        if not home.people.list():
            for person, addresses in {"user:ann": ("telegram:1", "whatsapp:1"), "user:ben": ("telegram:2",)}.items():
                home.people.add(person)
                for address in addresses:
                    home.people.add_identity(person, address)
        person = home.people.resolve(identity)
        assert person is not None
        vault = home.vault(person)
        swept = sweep(vault)
        chat = home.chat(identity)
        for text in said:
            chat.add("user", text)
        context = vault.context("Where do I live and what do I drink?", session_id=chat.id)
        past = [one.content for one in vault.memories.as_of(at - timedelta(hours=1))]
        known = [one.content for one in vault.memories.list()]
        told = {"known": known, "context": context.text, "session": chat.id, "past": past, "read": len(swept.outcomes)}
        print(json.dumps(told), flush=True)
        os.kill(os.getpid(), signal.SIGKILL)


if __name__ == "__main__":
    main(Path(sys.argv[1]), datetime.fromisoformat(sys.argv[2]), *sys.argv[3:])
