"""Opening a home: models that are given, temporary homes, and homes that must be there already."""

import os
from collections.abc import Mapping
from pathlib import Path

import pytest

import recollectum
from recollectum import Recollectum
from recollectum.domain.access.owner import Owner
from recollectum.domain.errors import HomeError, NotFound
from recollectum.testing import ScriptedEmbedder, ScriptedModel
from recollectum.vault.purge.request import PurgeRequest


def test_an_embedder_that_is_given_wins_over_the_settings_and_is_left_open(tmp_path: Path) -> None:
    pytest.importorskip("numpy")
    embedder = ScriptedEmbedder(synonyms={"couch": "sofa"})
    with Recollectum(tmp_path, settings={"embedding.provider": "none"}, embedder=embedder) as home:
        vault = home.vault("user:ann")
        vault.memories.save("The sofa is green")
        found = vault.recall("couch")
        assert [hit.text for hit in found] == ["The sofa is green"]
        assert found.degraded is None
    assert embedder.passages == ["The sofa is green"]
    assert not embedder.closed


def test_a_language_model_that_is_given_wins_over_the_settings_and_is_left_open(tmp_path: Path) -> None:
    model = ScriptedModel(["Good morning"])
    with Recollectum(tmp_path, language_model=model) as home:
        assert home.language_model is model
    assert not model.closed


def test_a_home_that_must_be_there_is_not_made(tmp_path: Path) -> None:
    place = tmp_path / "home"
    with pytest.raises(HomeError, match="there is no home at"):
        Recollectum(place, create=False)
    assert not place.exists()
    Recollectum(place).close()
    with Recollectum(place, create=False) as home:
        assert home.list_owners() == []


@pytest.mark.parametrize("settings", [{}, {"encryption": "off"}])
def test_a_temporary_home_is_encrypted_as_it_is_set_and_gone_when_it_is_closed(
    settings: dict[str, object], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("RECOLLECTUM_API_KEY", "of another home")
    before = dict(os.environ)
    with Recollectum.temporary(settings=settings) as home:
        vault = home.vault("user:ann")
        vault.memories.save("The kettle is blue")
        folder = home.home.root
        assert home.as_person("user:ann").vault("user:ann").memories.list()
        assert (folder / "keys.db").exists() is not bool(settings)
        assert "keyring" not in str(home.encryption().holder().kind)
        (path,) = (folder / "vaults").glob("*.db")
        assert path.read_bytes().startswith(b"SQLite format 3") is bool(settings)
    assert not folder.parent.exists()
    assert dict(os.environ) == before
    home.close()


def test_the_version_is_the_one_of_the_distribution() -> None:
    assert recollectum.__version__.split(".")[0].isdigit()


@pytest.mark.process
@pytest.mark.feature("M9")
def test_a_request_of_a_person_who_is_erased_meanwhile_makes_no_vault_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with Recollectum(tmp_path) as home:
        home.people.add("user:ann")
        home.vault("user:ben").memories.save("The bus leaves at nine")
        _, secret = home.keys.add("user:ann")
        with Recollectum(tmp_path, api_key=secret) as hers:
            make = hers._runtime.engine.create_vault  # pyright: ignore[reportPrivateUsage]

            def create_vault(vault_id: str, owner: Owner, key: bytes | None, meta: Mapping[str, str]) -> None:
                # Her key was checked already. Another process lets her have a vault, and erases her with it.
                monkeypatch.undo()
                purge = home.vault("user:ann").privacy.purge
                purge.run(purge.preview(PurgeRequest.user()).token)
                make(vault_id, owner, key, meta)

            monkeypatch.setattr(hers._runtime.engine, "create_vault", create_vault)  # pyright: ignore[reportPrivateUsage]
            with pytest.raises(NotFound, match="there is no person 'user:ann'"):
                hers.vault("user:ann")
        assert [str(owner) for owner in home.list_owners()] == ["user:ben"]
        assert [str(person.owner) for person in home.people.list()] == ["user:ben"]
        assert len([*(tmp_path / "vaults").glob("*.db")]) == 1
