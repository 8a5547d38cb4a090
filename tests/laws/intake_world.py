"""The open home, the server and the folder of files in which every entry is fed a secret."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlencode

from recollectum import Recollectum
from recollectum.domain.access.owner import Owner
from recollectum.domain.ids import IdMaker
from recollectum.domain.message import Message, Role
from recollectum.domain.session import Session, SessionKey
from recollectum.doors.mcp.client import Confirmations, McpClient
from recollectum.vault.sessions.chat import Chat
from recollectum.vault.vault import Vault
from tests.doors.http.served import Served
from tests.matrix.homes import START


@dataclass(frozen=True, slots=True)
class World:
    """An open home with a server over it, and a folder for files of the person's own."""

    home: Recollectum
    served: Served
    folder: Path

    @property
    def vault(self) -> Vault:
        """Alice's vault."""
        return self.home.vault("user:alice")

    @property
    def other(self) -> Vault:
        """The vault into which conversations are brought."""
        return self.home.vault("user:bob")

    def chat(self, name: str) -> Chat:
        """A conversation for one entry."""
        return self.vault.sessions.open(group=name)

    def client(self) -> McpClient:
        """An MCP client at alice's vault."""
        return McpClient(self.vault, "tester", Confirmations())

    def console(self, path: str, **fields: str) -> str:
        """The page that the console shows after a form of alice's."""
        desk = self.served.app.state.console_desk
        cookie = desk.redeem(desk.make_link(Owner.parse("user:alice")))
        sent = urlencode({"csrf": desk.find(cookie).csrf, **fields}).encode()
        browser, signed = self.served.with_key(None), f"recollectum_session={cookie}"
        form = "application/x-www-form-urlencoded"
        answer = browser.ask("POST", path, sent, Cookie=signed, Content_Type=form)
        assert answer.status == 303
        return browser.ask("GET", answer.headers["location"], Cookie=signed).body.decode()


Entry = Callable[[World, str], object]


def talk(text: str) -> tuple[Session, list[Message]]:
    """A conversation from elsewhere that says the text everywhere."""
    ids = IdMaker()
    session = Session(id=ids("ses"), key=SessionKey(), created_at=START, updated_at=START, title=text, summary=text)
    message = Message(
        id=ids("msg"),
        session_id=session.id,
        position=1,
        role=Role.USER,
        content=text,
        created_at=START,
        extra={"about": text},
    )
    return session, [message]
