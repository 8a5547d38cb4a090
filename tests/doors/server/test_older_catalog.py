"""A daemon whose catalog was replaced by an old one refuses once, and then serves nobody by key until it is settled."""

import json
import shutil
import urllib.error
import urllib.request

import pytest

from tests.doors.server.daemons import called, daemon, home, home_folder

pytestmark = [pytest.mark.loopback, pytest.mark.process]


def _ask(url: str, secret: str) -> tuple[int, str]:
    request = urllib.request.Request(f"{url}/memory", headers={"Authorization": f"Bearer {secret}"})
    try:
        with urllib.request.urlopen(request, timeout=60) as response:
            return response.status, ""
    except urllib.error.HTTPError as error:
        with error:
            return error.code, str(json.loads(error.read())["detail"])


def test_a_revoked_key_does_not_come_back_to_life_over_http_and_everybody_is_told() -> None:
    file = home_folder() / "catalog.db"
    with home() as opened:
        opened.vault("user:alice")
        revoked, good = opened.keys.add("user:alice"), opened.keys.add("user:alice")
    shutil.copy(file, file.with_name("old"))
    with home() as opened:
        opened.keys.revoke(revoked.key.id)
    shutil.move(file.with_name("old"), file)

    refused = called("serve", "--port", "0")
    assert refused.returncode == 1
    assert refused.stderr.count("\n") == 1
    assert "catalog.db is older than last seen (1 changes of people, keys, grants or vaults are missing)" in (
        refused.stderr
    )
    with daemon() as running:
        for secret in (revoked.secret, good.secret):
            status, detail = _ask(running.url, secret)
            assert status == 403
            assert "no key is accepted now: the catalog of this home is older than last seen" in detail
        examined = called("doctor", "--json")
        assert examined.returncode == 1
        assert "older catalog" in [one["topic"] for one in json.loads(examined.stdout)["findings"]]
        with home() as opened:
            opened.keys.revoke(revoked.key.id)
        called("doctor", "--fix")
        assert _ask(running.url, revoked.secret)[0] == 401
        assert _ask(running.url, good.secret)[0] == 200
