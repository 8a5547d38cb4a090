"""One model for all processes of a home: while a daemon runs, others ask it, and get the very same vectors."""

import json
import subprocess
import sys
import urllib.error
import urllib.request

import numpy as np
import pytest

from recollectum.domain.models.embedder import Purpose
from recollectum.home.daemon import Daemon, find_daemon
from recollectum.home.paths import Home
from recollectum.models.embedding.local import LocalEmbedder
from recollectum.models.embedding.packages import find_package
from recollectum.models.embedding.shared import PATH, SharedEmbedder
from tests.doors.server.daemons import PATIENCE_SECONDS, daemon, home, home_folder

pytestmark = [pytest.mark.loopback, pytest.mark.process]
LOCAL = {"RECOLLECTUM_EMBEDDING__PROVIDER": "local"}
TEXTS = ["The apples in the garden are ripe.", "", "a lone surrogate \ud800 here", "x" * 100_000, "naïve café 东京"]

#: Answers a hybrid recall, and says whether a model was loaded for it.
PROGRAM = """
import json, sys
from recollectum import Recollectum
with Recollectum(settings={"embedding.provider": "local", "storage.reserve_mib": 0, **json.loads(sys.argv[1])}) as home:
    found = home.vault("user:alice").recall("which fruit is ready to be picked")
    print(json.dumps([found[0].text, found.degraded, "onnxruntime" in sys.modules]))
"""


def answers(settings: dict[str, str] | None = None) -> tuple[str, str | None, bool]:
    """What a process of its own answers, with what missing, and whether it loaded the model."""
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM, json.dumps(settings or {})],
        capture_output=True,
        text=True,
        timeout=PATIENCE_SECONDS,
        check=True,
    )
    text, degraded, loaded = json.loads(done.stdout)
    return text, degraded, loaded


def remember() -> None:
    with home() as opened:
        vault = opened.vault("user:alice")
        vault.memories.save("The apples in the garden are ripe.")
        vault.memories.save("The car has to be washed on Friday.")


def test_a_second_process_answers_by_meaning_without_loading_the_model() -> None:
    remember()
    with daemon(environ=LOCAL):
        assert answers() == ("The apples in the garden are ripe.", None, False)
        assert answers({"daemon.share_embedder": "off"}) == ("The apples in the garden are ripe.", None, True)
    assert answers() == ("The apples in the garden are ripe.", None, True)


def test_the_vectors_are_the_same_bit_for_bit_and_its_own_when_the_daemon_is_gone() -> None:
    home().close()
    own = LocalEmbedder(find_package("").open())
    shared = SharedEmbedder(LocalEmbedder(find_package("").open()), Home(home_folder()))
    with daemon(environ=LOCAL):
        for purpose in Purpose:
            assert np.array_equal(shared.embed(TEXTS, purpose), own.embed(TEXTS, purpose))
        many = [f"text number {number}" for number in range(150)]
        assert np.array_equal(shared.embed(many, Purpose.PASSAGE), own.embed(many, Purpose.PASSAGE))
        assert not shared._own  # pyright: ignore[reportPrivateUsage]
    assert np.array_equal(shared.embed(TEXTS, Purpose.QUERY), own.embed(TEXTS, Purpose.QUERY))
    assert shared._own  # pyright: ignore[reportPrivateUsage]


def status_of(found: Daemon, body: bytes, token: str) -> int:
    headers = {"Authorization": f"Bearer {token}", "Content-Type": "application/json"}
    request = urllib.request.Request(found.url + PATH, body, headers)
    try:
        with urllib.request.urlopen(request, timeout=PATIENCE_SECONDS) as response:
            return response.status
    except urllib.error.HTTPError as error:
        error.close()
        return error.code


def test_only_who_can_read_the_home_may_ask_and_only_for_what_makes_sense() -> None:
    with home() as opened:
        opened.vault("user:alice")
        _, key = opened.keys.add("user:alice")
    wanted = json.dumps({"texts": ["one"], "purpose": "query"}).encode()
    with daemon(environ=LOCAL):
        found = find_daemon(Home(home_folder()))
        assert found
        assert status_of(found, wanted, found.token) == 200
        assert status_of(found, wanted, key) == 401
        assert status_of(found, wanted, "nothing") == 401
        for body in (b"{}", b"[]", b"no", b'{"texts": "one", "purpose": "query"}', b'{"texts": ["a"], "purpose": "x"}'):
            assert status_of(found, body, found.token) in (400, 422)
    with daemon(environ={"RECOLLECTUM_EMBEDDING__PROVIDER": "none"}):
        found = find_daemon(Home(home_folder()))
        assert found
        assert status_of(found, wanted, found.token) >= 500
