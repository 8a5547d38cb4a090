"""Secrets are kept in the credential store where the settings say so, and never in the vault."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from recollectum import Recollectum
from recollectum.domain.access.credential import ServiceApiKey
from recollectum.domain.errors import Conflict, NotFound
from recollectum.domain.memory import Kind
from recollectum.domain.message import Message, Role, ToolCall
from recollectum.domain.proposal import Act, Finding, Span
from recollectum.domain.session import Session, SessionKey
from recollectum.home.credentials.store import Credentials
from recollectum.testing import ScriptedModel
from recollectum.vault.intake.kept_secrets import message_texts
from recollectum.vault.intake.new_message import NewMessage
from recollectum.vault.purge.request import PurgeRequest, PurgeState
from recollectum.vault.vault import Vault
from tests.matrix.homes import START, Turning, open_home
from tests.vault.scripted_homes import finds, found

pytestmark = pytest.mark.process

SECRET = "ghp_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"


def _environ(tmp_path: Path) -> dict[str, str]:
    return {"HOME": str(tmp_path / "user"), "XDG_CONFIG_HOME": str(tmp_path / "config")}


@pytest.mark.feature("C8")
def test_a_secret_is_kept_under_a_name_and_only_there(tmp_path: Path) -> None:
    with open_home(tmp_path, Turning(), settings={"redaction.keep": "credentials"}) as home:
        vault = home.vault("user:alice")
        saved = vault.memories.save(f"my token is {SECRET} for GitHub").memory
        said = vault.sessions.open().add("user", f"use {SECRET}")
        store = Credentials(home.home, home.encryption(), environ=_environ(tmp_path))
        for text in (saved.content, said.text):
            assert SECRET not in text
            assert "[secret:" in text
            account = text.partition("(redacted ")[2].partition(")")[0]
            assert store.find("redacted", account=account) == ServiceApiKey(SECRET)
    found = [
        one.name for one in (tmp_path / "home").rglob("*") if one.is_file() and SECRET.encode() in one.read_bytes()
    ]
    assert found == []


def test_without_the_setting_nothing_is_kept(tmp_path: Path) -> None:
    with open_home(tmp_path, Turning()) as home:
        saved = home.vault("user:alice").memories.save(f"my token is {SECRET} for GitHub").memory
        assert SECRET not in saved.content
        assert "redacted" not in saved.content
        assert not (tmp_path / "home/credentials.json").exists()


@pytest.fixture
def home(tmp_path: Path) -> Iterator[Recollectum]:
    with open_home(tmp_path, Turning(), settings={"redaction.keep": "credentials"}) as opened:
        yield opened


@pytest.fixture
def vault(home: Recollectum) -> Vault:
    return home.vault("user:alice")


def _kept(home: Recollectum, tmp_path: Path) -> set[str]:
    """The secrets in the store."""
    store = Credentials(home.home, home.encryption(), environ=_environ(tmp_path))
    found = [store.find(one.service, account=one.account) for one in store.all() if one.service == "redacted"]
    return {one.value for one in found if isinstance(one, ServiceApiKey)}


def _secret(number: int) -> str:
    return f"ghp_{number:02}B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"


def _everything(vault: Vault) -> str:
    chats = [vault.sessions.chat(one.id) for one in vault.sessions.list()]
    said = [text for chat in chats for message in chat.messages(limit=100) for text in message_texts(message)]
    memories = vault.memories.list(limit=100)
    told = [one.content for memory in memories for one in vault.memories.history(memory.id).versions]
    return "\n".join([*said, *told])


def _foreign(text: str) -> tuple[Session, list[Message]]:
    session = Session(id="ses_one", key=SessionKey(), created_at=START, updated_at=START, title=f"on {text}")
    said = Message(id="msg_one", session_id="ses_one", position=1, role=Role.USER, content=text, created_at=START)
    return session, [said]


@pytest.mark.feature("C8")
def test_every_way_in_keeps_what_it_takes_out(home: Recollectum, vault: Vault, tmp_path: Path) -> None:
    memory = vault.memories.save(f"one {_secret(1)}").memory
    memory = vault.memories.edit(memory.id, f"two {_secret(2)}")
    vault.memories.supersede(memory.id, f"three {_secret(3)}")
    chat = vault.sessions.open()
    call = ToolCall(id="c1", name="login", args={"password": "tr0ub4dor&three"}, result={"seen": _secret(4)})
    said = chat.add(
        "assistant",
        [{"type": "text", "text": f"use {_secret(5)}"}],
        thoughts=[{"text": f"so {_secret(6)}"}],
        tool_calls=[call],
    )
    chat.record_call(said.id, ToolCall(id="c2", name="login", args={"token": _secret(7)}))
    vault.sessions.adopt(*_foreign(f"theirs {_secret(8)}"))
    expected = {*map(_secret, range(1, 9)), "tr0ub4dor&three"}
    assert _kept(home, tmp_path) == expected
    text = _everything(vault)
    assert not [one for one in expected if one in text]
    assert text.count("(redacted sec_") == len(expected) - 1  # what was superseded is archived
    assert "ghp_" not in repr(vault.sessions.list())


@pytest.mark.feature("C8")
def test_an_import_is_redacted_whether_or_not_anything_is_kept(tmp_path: Path) -> None:
    with open_home(tmp_path, Turning()) as home:
        vault = home.vault("user:alice")
        vault.sessions.adopt(*_foreign(f"theirs {SECRET}"))
        assert "[secret:" in _everything(vault)
        assert "[secret:" in (vault.sessions.list()[0].title or "")
    files = [one for one in (tmp_path / "home").rglob("*") if one.is_file()]
    assert [one.name for one in files if SECRET.encode() in one.read_bytes()] == []


def test_the_same_secret_is_kept_once_and_a_text_said_again_is_known(
    home: Recollectum, vault: Vault, tmp_path: Path
) -> None:
    first = vault.memories.save(f"my token is {SECRET}").memory
    assert vault.memories.save(f"my token is {SECRET}").id == first.id
    assert _kept(home, tmp_path) == {SECRET}
    other = home.vault("user:ben").memories.save(f"my token is {SECRET}").memory
    # Nobody can tell from a name that two people have the same.
    assert other.content != first.content


def test_a_write_that_fails_keeps_nothing(home: Recollectum, vault: Vault, tmp_path: Path) -> None:
    memory = vault.memories.save(f"mine is {_secret(1)}").memory
    with pytest.raises(Conflict):
        vault.memories.edit(memory.id, f"now {_secret(2)} and {_secret(1)}", version=9)
    with pytest.raises(NotFound):
        vault.memories.save(f"now {_secret(3)}", message_id="msg_none")
    assert _kept(home, tmp_path) == {_secret(1)}


@pytest.mark.feature("P9")
@pytest.mark.parametrize("what", ["memory", "session", "user", "delete"])
def test_what_is_erased_takes_its_kept_secrets_along(
    home: Recollectum, vault: Vault, tmp_path: Path, what: str
) -> None:
    memory = vault.memories.save(f"one {_secret(1)}").memory
    vault.memories.edit(memory.id, f"two {_secret(2)}")
    chat = vault.sessions.open()
    chat.add("user", f"use {_secret(3)}", thoughts=[{"text": f"so {_secret(4)}"}])
    # Said elsewhere too, and so still of use.
    vault.memories.save(f"again {_secret(3)}")
    vault.sessions.open(channel="other").add("user", f"again {_secret(1)}")
    home.vault("user:ben").memories.save(f"mine is {_secret(5)}")
    requests = {
        "memory": PurgeRequest.memories(memory.id),
        "session": PurgeRequest.sessions(chat.id),
        "user": PurgeRequest.user(),
    }
    if what == "delete":
        vault.sessions.delete(chat.id)
    else:
        receipt = vault.privacy.purge.run(vault.privacy.purge.preview(requests[what]).token)
        assert (receipt.state, receipt.hits) == (PurgeState.DONE, 0)
    gone = {"memory": {2}, "session": {4}, "delete": {4}, "user": {1, 2, 3, 4}}[what]
    assert _kept(home, tmp_path) == {_secret(one) for one in {1, 2, 3, 4, 5} - gone}


def _proposed(vault: Vault, message: Message, *, targets: tuple[str, ...] = ()) -> str:
    span = Span(message.id, 0, len(message.text))
    finding = Finding(
        act=Act.UPDATE if targets else Act.ADD,
        content=f"a proposal with {_secret(6)}",
        kind=Kind.FACT,
        importance=0.5,
        spans=(span,),
        targets=targets,
        reason=f"because of {_secret(7)}",
    )
    (laid,) = vault.admin.review.propose([finding])
    return laid.id


@pytest.mark.feature("P9")
@pytest.mark.parametrize("what", ["target", "quoted"])
def test_a_proposal_that_is_deleted_takes_its_kept_secrets_along(
    home: Recollectum, vault: Vault, tmp_path: Path, what: str
) -> None:
    memory = vault.memories.save("walruses whistle").memory
    chat = vault.sessions.open()
    said = chat.add("user", "something was said here")
    _proposed(vault, said, targets=(memory.id,) if what == "target" else ())
    assert _kept(home, tmp_path) == {_secret(6), _secret(7)}
    request = PurgeRequest.memories(memory.id) if what == "target" else PurgeRequest.sessions(chat.id)
    receipt = vault.privacy.purge.run(vault.privacy.purge.preview(request).token)
    assert (receipt.state, receipt.hits) == (PurgeState.DONE, 0)
    assert vault.admin.review.list() == []
    assert _kept(home, tmp_path) == set()


@pytest.mark.feature("P9")
def test_a_session_that_is_deleted_takes_the_secrets_of_its_proposals_and_summary_along(
    home: Recollectum, vault: Vault, tmp_path: Path
) -> None:
    chat = vault.sessions.open()
    fact = "Grace keeps goats in Lyon"
    chat.add_many([NewMessage(role="tool", content=fact)])
    finding = {**found(fact, fact), "reason": f"because of {_secret(6)}"}
    with open_home(
        tmp_path,
        Turning(),
        settings={"redaction.keep": "credentials"},
        language_model=ScriptedModel([finds(finding)]),
    ) as reading:
        reading.vault("user:alice").admin.consolidation.run(chat.id)
    chat.add_many([NewMessage(role="user", content="we moved to Lyon in March " * 40) for _ in range(60)])
    vault.sessions.summaries.update(chat.id, model=_summarising(8))
    chat.add_many([NewMessage(role="user", content="we moved on to Nice in May " * 40) for _ in range(60)])
    assert _kept(home, tmp_path) == {_secret(6), _secret(8)}
    # The next summary replaces the one before, and what that one alone referred to is of no more use.
    vault.sessions.summaries.update(chat.id, model=_summarising(9))
    vault.sessions.delete(vault.sessions.open(channel="short-lived").id)
    assert _kept(home, tmp_path) == {_secret(6), _secret(9)}
    vault.sessions.delete(chat.id)
    assert _kept(home, tmp_path) == set()


def _summarising(number: int) -> ScriptedModel:
    return ScriptedModel(lambda _: {"summary": f"they moved, {_secret(number)}"})
