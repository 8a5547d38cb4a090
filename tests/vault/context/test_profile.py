"""The profile: one call until something changes, nothing when nothing is known, and never a word too long."""

from collections.abc import Mapping
from datetime import timedelta

import pytest

from recollectum import Recollectum
from recollectum.domain.message import Json
from recollectum.testing import ScriptedModel
from recollectum.vault.runtime import VaultRuntime
from recollectum.vault.vault import Vault
from tests.matrix.homes import Turning


def writing() -> ScriptedModel:
    return ScriptedModel(lambda _: {"bullets": [{"text": "Grace lives in Lyon", "memories": [1]}]})


def cached(vault: Vault) -> int:
    runtime: VaultRuntime = vars(vault)["_runtime"]
    return runtime.read(
        lambda tx, _: tx.rows("SELECT count(*) FROM meta WHERE name >= 'profile:' AND name < 'profile;'", {})[0][0]
    )


@pytest.mark.feature("A11")
def test_nothing_known_is_no_profile_and_no_call(vault: Vault) -> None:
    model = writing()
    assert vault.admin.profile.find(model=model) is None
    assert not model.prompts


@pytest.mark.feature("A11")
def test_a_model_is_asked_once_until_something_changes(vault: Vault) -> None:
    fact = vault.memories.save("Grace lives in Lyon").memory
    model = writing()
    made = vault.admin.profile.find(model=model)
    assert made is not None
    assert made.by == str(model.identity)
    assert [(one.text, one.memory_ids) for one in made.bullets] == [("Grace lives in Lyon", (fact.id,))]
    assert vault.admin.profile.find(model=model) == made == vault.admin.profile.find()
    assert len(model.prompts) == 1
    vault.memories.edit(fact.id, "Grace lives in Lyon now")
    vault.admin.profile.find(model=model)
    assert len(model.prompts) == 2
    vault.admin.profile.find(model=model, refresh=True)
    assert len(model.prompts) == 3


@pytest.mark.feature("A11")
def test_without_a_model_or_when_it_fails_it_is_the_ranked_list(vault: Vault) -> None:
    vault.memories.save("Grace keeps bees", importance=0.2)
    vault.memories.save("Grace lives in Lyon", importance=0.9)
    for model in (None, ScriptedModel(lambda _: {"bullets": []})):
        made = vault.admin.profile.find(model=model)
        assert made is not None
        assert made.by == "rules"
        assert [one.text for one in made.bullets] == ["Grace lives in Lyon", "Grace keeps bees"]
    # A call that failed is made again; what rules made is not the last word.
    again = vault.admin.profile.find(model=writing())
    assert again is not None
    assert again.by != "rules"


def test_the_context_tells_the_cached_one_and_never_an_old_one(vault: Vault) -> None:
    fact = vault.memories.save("Grace lives in Lyon, I think").memory
    vault.admin.profile.find(model=writing())
    assert "- Grace lives in Lyon\n" in vault.context().text + "\n"
    vault.memories.forget(fact.id)
    assert "Lyon" not in vault.context().text


def test_a_memory_past_its_time_is_not_in_it(home: Recollectum, vault: Vault, clock: Turning) -> None:
    vault.memories.save("The code is 1234", ttl=timedelta(hours=1))
    vault.memories.save("Grace lives in Lyon")
    assert vault.admin.profile.find()
    clock.now += timedelta(hours=2)
    made = home.vault("user:alice").admin.profile.find()
    assert made is not None
    assert [one.text for one in made.bullets] == ["Grace lives in Lyon"]


def test_a_destroyed_memory_takes_the_cache_with_it(vault: Vault) -> None:
    vault.memories.save("Grace lives in Lyon")
    assert vault.admin.profile.find()
    assert cached(vault) == 1
    runtime: VaultRuntime = vars(vault)["_runtime"]
    runtime.write(lambda tx, _: tx.run("DELETE FROM memories", {}))
    assert cached(vault) == 0


@pytest.mark.parametrize("change", ["edited", "destroyed"])
def test_a_memory_that_changed_while_the_model_thought_leaves_no_profile(vault: Vault, change: str) -> None:
    fact = vault.memories.save("Grace lives in Lyon").memory
    vault.memories.save("Grace keeps bees")
    runtime: VaultRuntime = vars(vault)["_runtime"]

    def answer(_: object) -> Mapping[str, Json]:
        if change == "edited":
            vault.memories.edit(fact.id, "Grace lives in Nice")
        else:
            runtime.write(lambda tx, _: tx.run("DELETE FROM memories WHERE id = :id", {"id": fact.id}))
        return {"bullets": [{"text": "Grace lives in Lyon", "memories": [1]}]}

    assert vault.admin.profile.find(model=ScriptedModel(answer))
    assert cached(vault) == 0


def test_who_may_only_read_leaves_no_profile_behind(home: Recollectum, vault: Vault) -> None:
    vault.memories.save("Grace lives in Lyon")
    home.people.add("user:carol")
    home.keys.add_grant("user:carol", "user:alice", "read")
    theirs = home.login(home.keys.add("user:carol")[1]).vault("user:alice")
    made = theirs.admin.profile.find(model=writing())
    assert made is not None
    assert theirs.context().text
    assert cached(vault) == 0


def test_one_agents_facts_are_not_in_anothers_profile(vault: Vault) -> None:
    vault.memories.save("Grace lives in Lyon", agent="coder")
    vault.memories.save("Grace keeps bees")
    made = vault.admin.profile.find(agent="cook")
    assert made is not None
    assert [one.text for one in made.bullets] == ["Grace keeps bees"]
