"""Extensions over HTTP: a key with admin sees them and what agents get, without the person's own values."""

import json
from pathlib import Path

import pytest

from tests.doors.http.served import Served, serving
from tests.home.extensions.samples import write_folder

pytestmark = pytest.mark.loopback


def _admin(served: Served) -> Served:
    return served.with_key(served.home.keys.add("user:alice", permissions=("read", "admin"))[1])


@pytest.mark.feature("C11")
def test_a_key_with_admin_gets_the_merged_list(tmp_path: Path) -> None:
    with serving(tmp_path / "home") as served:
        source = write_folder(tmp_path / "source")
        served.home.extensions.install(source, served.home.extensions.preview(source).token)
        own = {"mcpServers": {"mine": {"command": "mine", "env": {"TOKEN": "a-secret-of-mine"}}}}
        (served.home.home.root / "mcp.json").write_text(json.dumps(own), encoding="utf-8")
        admin = _admin(served)
        (listed,) = admin.ask("GET", "/v1/extensions").json["extensions"]
        assert (listed["name"], listed["state"], len(listed["may"])) == ("weather", "enabled", 6)
        merged = admin.ask("GET", "/v1/extensions/mcp")
        assert [(one["name"], one["extension"]) for one in merged.json["servers"]] == [
            ("mine", None),
            ("weather", "weather"),
        ]
        assert merged.json["servers"][0]["config"]["env"] == {"TOKEN": "${TOKEN}"}
        assert b"a-secret-of-mine" not in merged.body
        assert merged.json["files"][0]["kind"] == "commands"
        assert served.ask("GET", "/v1/extensions").status == 403
        assert served.ask("GET", "/v1/extensions/mcp").status == 403


def test_a_damaged_register_is_one_sentence_and_no_traceback(tmp_path: Path) -> None:
    with serving(tmp_path / "home") as served:
        (served.home.home.root / "extensions").mkdir()
        (served.home.home.root / "extensions/installed.json").write_text("{", encoding="utf-8")
        answer = _admin(served).ask("GET", "/v1/extensions")
        assert 400 <= answer.status < 600
        assert b"Traceback" not in answer.body
