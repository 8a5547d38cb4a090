"""The indexing round: vectors come by themselves, also for a new model, and a way back that was chosen stays."""

import threading
from datetime import timedelta
from pathlib import Path

import pytest

from recollectum import Recollectum
from recollectum.domain.errors import ModelUnavailable
from recollectum.testing import ScriptedEmbedder
from recollectum.upkeep.rounds.duties import UpkeepRuntime
from recollectum.upkeep.rounds.scheduler import duty
from recollectum.upkeep.rounds.status import list_rounds
from tests.matrix.homes import Turning, open_home

EVERY = timedelta(seconds=30)
ANY = {"embedding.provider": "local"}


def make(home: Recollectum) -> int:
    upkeep = UpkeepRuntime(admin=home.admin, settings=home.settings, open_vault=home.vault, stop=threading.Event())
    return duty(upkeep, "indexing", EVERY).make(force=True).counts.get("embedded", 0)


def current(home: Recollectum) -> str:
    return next(
        one.identity for one in home.vault("user:ann").admin.index.status().generations if one.state == "current"
    )


@pytest.mark.feature("G16")
def test_vectors_follow_a_change_of_model_and_a_way_back_is_left_alone(tmp_path: Path) -> None:
    one, two = ScriptedEmbedder("one"), ScriptedEmbedder("two")
    with open_home(tmp_path, Turning(), settings=ANY, embedder=one) as home:
        home.vault("user:ann").memories.save("the apples are ripe")
        home.vault("user:ann").memories.save("the car is red")
        assert make(home) == 2
        assert make(home) == 0
        assert current(home) == one.identity.text_key()
    with open_home(tmp_path, Turning(), settings=ANY, embedder=two) as home:
        assert make(home) == 2
        assert current(home) == two.identity.text_key()
        home.vault("user:ann").admin.index.rollback()
    with open_home(tmp_path, Turning(), settings=ANY, embedder=two) as home:
        assert make(home) == 0
        assert current(home) == one.identity.text_key()


def test_a_model_that_is_down_is_told_and_the_round_comes_again(tmp_path: Path) -> None:
    broken = ScriptedEmbedder(fail=lambda _, __: ModelUnavailable("the model does not answer"))
    with open_home(tmp_path, Turning(), settings=ANY, embedder=broken) as home:
        home.vault("user:ann").memories.save("the apples are ripe")
        make(home)
        (ann,) = [one for one in list_rounds(home) if one.owner and one.name == "indexing"]
        assert ann.trouble == "the model does not answer"
        assert ann.failures == 1
