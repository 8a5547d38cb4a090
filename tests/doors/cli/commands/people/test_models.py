"""`recollectum models`: what there is, before and after a home is made, with the keys that the home keeps."""

import pytest

from tests.doors.cli.calls import ok

pytestmark = pytest.mark.process


def _choice(use: str, provider: str) -> dict[str, object]:
    found = ok("models", "--json").json["models"]
    return next(one for one in found if (one["use"], one["provider"]) == (use, provider))


def test_models_needs_no_home_and_finds_a_key_that_the_home_keeps(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("ANTHROPIC_API_KEY", raising=False)
    monkeypatch.setenv("RECOLLECTUM_FORCE_FILE_CREDENTIALS", "1")
    assert _choice("language", "none")["active"] is True
    assert _choice("language", "anthropic")["needs"] == "the key ANTHROPIC_API_KEY and language_model.model"
    ok("init")
    ok("credentials", "set", "ANTHROPIC_API_KEY", stdin=b"k-1234")
    ok("settings", "set", "language_model.provider", "anthropic")
    ok("settings", "set", "language_model.model", "claude-haiku-4-5")
    found = _choice("language", "anthropic")
    assert (found["active"], found["ready"], found["needs"]) == (True, True, "")
    told = ok("models")
    rows = [line.split("\t") for line in told.out.splitlines()]
    assert ["language", "anthropic", "claude-haiku-4-5", "yes", "api.anthropic.com", "by its provider", "ready"] in rows
    assert "recollectum settings set" in told.err
    assert "k-1234" not in told.out
