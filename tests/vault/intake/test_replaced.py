"""Every door says which secrets it replaced and where they are kept, and secrets beside the text are redacted too."""

import json
import os
from pathlib import Path

import pytest

from recollectum.domain.errors import InvalidInput
from recollectum.domain.ids import IdMaker
from recollectum.domain.message import Message, Role, ToolCall
from recollectum.domain.notice import NO_NOTICE, Notice
from recollectum.domain.session import Session, SessionKey, SessionKind
from recollectum.doors.mcp.catalogue import DEFAULT
from recollectum.doors.mcp.client import Confirmations, McpClient
from recollectum.doors.mcp.dispatch import call_tool
from recollectum.text.replaced import replaced_kinds
from recollectum.transfer import jsonl
from recollectum.transfer.sessions import import_transcript
from tests.doors.cli.calls import ok
from tests.doors.http.served import serving
from tests.matrix.homes import START, Turning, open_home

pytestmark = pytest.mark.process

_TOKEN = "ghp_" + "aB3d" * 9
_TEXT = "my password is hunter2! and the card is 4111 1111 1111 1111"
_KINDS = {"password": 1, "credit-card": 1}
_SENTENCE = "2 secrets were replaced: password, credit-card"


def test_only_what_this_text_brought_counts_as_replaced() -> None:
    assert replaced_kinds("a [secret:jwt]", "a [secret:jwt]") == ()
    assert replaced_kinds("[secret:jwt] and x", "[secret:jwt] and [secret:jwt]") == ("jwt",)


def test_a_notice_counts_by_kind_and_adds_up() -> None:
    assert NO_NOTICE.sentences() == []
    assert not NO_NOTICE
    one = Notice(replaced={"jwt": 1}, kept=("redacted sec_a",))
    assert one.sentences() == ["1 secret was replaced: jwt; kept in the credential store as redacted sec_a"]
    both = one + Notice(replaced={"password": 1, "jwt": 1}, unindexed=1500)
    assert both == Notice(replaced={"jwt": 2, "password": 1}, kept=("redacted sec_a",), unindexed=1500)
    assert both.sentences() == [
        "3 secrets were replaced: jwt (2), password; kept in the credential store as redacted sec_a",
        "1,500 characters are stored but not searched: recall searches the first 200,000 of a memory or message",
    ]
    many = Notice(replaced={"jwt": 7}, kept=tuple(f"redacted sec_{n}" for n in range(7)))
    assert many.sentences()[0].endswith("redacted sec_4 and 2 more")
    assert one + NO_NOTICE == NO_NOTICE + one == one


def test_python_says_what_was_replaced_and_where_it_is_kept(tmp_path: Path) -> None:
    with open_home(tmp_path, Turning(), settings={"redaction.keep": "credentials"}) as home:
        saved = home.vault("user:ann").memories.save(_TEXT)
    (told,) = saved.notice.sentences()
    assert saved.notice.replaced == _KINDS
    assert told.startswith(f"{_SENTENCE}; kept in the credential store as redacted sec_")
    assert "hunter2" not in told


@pytest.mark.loopback
def test_each_door_says_what_was_replaced(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RECOLLECTUM_ENCRYPTION", "off")
    with serving(Path(os.environ["RECOLLECTUM_HOME"])) as served:
        over_http = served.ask("POST", "/v1/memories", {"content": f"{_TEXT}."}, Idempotency_Key="one")
        again = served.ask("POST", "/v1/memories", {"content": f"{_TEXT}."}, Idempotency_Key="one")
        client = McpClient(served.home.vault("user:alice"), "tester", Confirmations())
        over_mcp = str(call_tool(DEFAULT, client, "remember", {"content": f"{_TEXT}!"}))
    assert over_http.json["notice"] == again.json["notice"]
    assert again.json["notice"] == {"replaced": _KINDS, "kept": [], "unindexed": 0}
    assert _SENTENCE in over_mcp
    typed = ok("remember", _TEXT, "--user", "alice")
    assert _SENTENCE in typed.err
    assert ok("remember", f"{_TEXT}?", "--user", "alice", "--json").json["notice"]["replaced"] == _KINDS
    edited = ok("memories", "edit", typed.word, f"now {_TEXT}", "--user", "alice")
    assert _SENTENCE in edited.err
    assert not [one for one in (over_http.json, over_mcp, typed, edited) if "hunter2" in str(one)]


def test_an_import_says_how_many_were_replaced(tmp_path: Path) -> None:
    ids = IdMaker()
    session = Session(id=ids("ses"), key=SessionKey(), created_at=START, updated_at=START)
    said = [
        Message(id=ids("msg"), session_id=session.id, position=place, role=Role.USER, content=_TEXT, created_at=START)
        for place in (1, 2)
    ]
    with open_home(tmp_path, Turning()) as home:
        vault = home.vault("user:ann")
        assert import_transcript(vault, jsonl.write(session, said)).notice.replaced == {
            "password": 2,
            "credit-card": 2,
        }
        assert import_transcript(vault, jsonl.write(session, said)).notice == NO_NOTICE


def test_secrets_in_keys_of_json_and_in_names_of_groups_and_topics_are_redacted(tmp_path: Path) -> None:
    with open_home(tmp_path, Turning()) as home:
        vault = home.vault("user:ann")
        chat = vault.sessions.open(group=f"team {_TOKEN}", topic=f"about {_TOKEN}")
        assert vault.sessions.open(group=f"team {_TOKEN}", topic=f"about {_TOKEN}").id == chat.id
        call = ToolCall(id="c", name="t", args={_TOKEN: 1, "ghp_" + "zY9x" * 9: 2, "plain": {_TOKEN: "x"}})
        chat.add("assistant", [{"type": "text", _TOKEN: "v"}], tool_calls=[call], extra={_TOKEN: "x"})
        vault.memories.save(json.dumps({_TOKEN: "a note"}))
        (message,) = chat.transcript()
        key = str(chat.info().key)
    assert message.tool_calls[0].args == {
        "[secret:github-token]": 1,
        "[secret:github-token] 2": 2,
        "plain": {"[secret:github-token]": "x"},
    }
    assert _TOKEN not in key
    files = [one for one in (tmp_path / "home").rglob("*") if one.is_file()]
    assert [one.name for one in files if _TOKEN.encode() in one.read_bytes()] == []
    assert SessionKey.parse(key).kind is SessionKind.GROUP
    with pytest.raises(InvalidInput), open_home(tmp_path, Turning()) as home:
        home.vault("user:ann").sessions.checkpoints.save(chat.id, _TOKEN)
