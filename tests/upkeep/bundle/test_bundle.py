"""A bundle holds everything of a vault, gives it back unchanged, and is the same from every engine."""

import hashlib
import json
import os
import random
import re
import shutil
import subprocess
import sys
import tempfile
import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest

from recollectum import Recollectum
from recollectum.domain.access.owner import Owner
from recollectum.domain.errors import (
    Conflict,
    Damaged,
    InvalidInput,
    KeyProblem,
    NotFound,
    RecollectumError,
    SchemaNewer,
)
from recollectum.domain.ids import system_clock
from recollectum.storage.copying.database_file import table_list
from recollectum.storage.engine import VAULT
from recollectum.upkeep.bundle.container import is_bundle
from recollectum.upkeep.bundle.contents import EXPORTED, LEFT_OUT
from recollectum.upkeep.bundle.export import export_bundle
from recollectum.upkeep.bundle.load import load_bundle, read_bundle
from recollectum.vault.intake.draft import Draft
from recollectum.vault.intake.new_message import NewMessage
from recollectum.vault.purge.request import PurgeRequest
from recollectum.vault.vault import Vault
from tests.home.extensions.samples import files, write_folder
from tests.upkeep.homes import ANN, BEN, fill, said

_SETTINGS = {"embedding.provider": "none", "storage.reserve_mib": 0}
_SECRET = "moth-lantern"
#: How many damaged bundles are tried; 10,000 in a full run.
_FUZZED = int(os.environ.get("RECOLLECTUM_TEST_FUZZ", "40"))


@pytest.fixture
def home(tmp_path: Path, engine_settings: dict[str, object]) -> Callable[[str], Recollectum]:
    """Open a home by its name: the first is on the engine of the test, the others are files."""

    def opened(name: str) -> Recollectum:
        settings = engine_settings if name == "first" else {"encryption": "auto"}
        return Recollectum(tmp_path / name, settings={**_SETTINGS, **settings})

    return opened


def _rich(vault: Vault) -> None:
    """Rows in as many tables as a bundle has."""
    fill(vault, 12)
    saved = vault.memories.save("Grace's tea is \u00a0green\u2028 and 緑茶", key="tea")
    vault.memories.edit(saved.memory.id, content="Grace's tea is black now")
    gone = vault.memories.save("the shed has a blue door")
    vault.memories.forget(gone.memory.id)
    vault.privacy.undo.last()
    chat = vault.sessions.open(channel="telegram", agent="helper")
    chat.add("user", "always cite your sources. I live in Bergen.\n\n# not a heading")
    chat.add("assistant", "noted", speaker="Helper")
    vault.admin.consolidation.run(chat.id)
    for name in ("sailing", "mending"):
        vault.projects.add(tempfile.gettempdir() if name == "sailing" else str(Path(__file__).parent), name=name)
        vault.memories.save("Grace's tea is kept in the galley", key="tea", project=name)
        vault.sessions.open(project=name).add("user", f"we are {name} today")
    vault.projects.add_root("sailing", str(Path(__file__).parents[1]))
    purged = vault.sessions.open(channel="irc", agent="main")
    purged.add("user", "forget the beehive")
    planned = vault.privacy.purge.preview(PurgeRequest.sessions(purged.id))
    vault.privacy.purge.run(planned.token)


def test_every_table_of_a_vault_is_exported_or_left_out_for_a_reason(tmp_path: Path) -> None:
    listed = {table.name for table in table_list(tmp_path, VAULT, system_clock)}
    assert listed == {*EXPORTED, *LEFT_OUT}
    assert not {*EXPORTED} & LEFT_OUT.keys()


@pytest.mark.process
def test_what_is_exported_and_imported_is_exported_again_in_equal_bytes(
    home: Callable[[str], Recollectum], tmp_path: Path
) -> None:
    with home("first") as first:
        for owner in (ANN, BEN):
            _rich(first.vault(owner))
        before = {
            owner: (said(first.vault(owner)), first.vault(owner).admin.events.list(limit=200)) for owner in (ANN, BEN)
        }
        hits = [hit.text for hit in first.vault(ANN).recall("Grace tea", project="sailing")]
        projects = first.vault(ANN).projects.list()
        made = export_bundle(first.admin, tmp_path / "one.zip")
    with home("second") as second:
        # As after `recollectum init`: a vault that nothing was kept in.
        second.vault(ANN)
        done = load_bundle(second.admin, tmp_path / "one.zip")
        assert set(map(str, done.owners)) == {ANN, BEN}
        export_bundle(second.admin, tmp_path / "two.zip")
        # Reading and searching change nothing that a bundle holds.
        assert {
            owner: (said(second.vault(owner)), second.vault(owner).admin.events.list(limit=200)) for owner in (ANN, BEN)
        } == before
        assert [hit.text for hit in second.vault(ANN).recall("Grace tea", project="sailing")] == hits
        assert second.vault(ANN).projects.list() == projects
        export_bundle(second.admin, tmp_path / "three.zip")
    assert made.files > 40
    one, two, three = ((tmp_path / name).read_bytes() for name in ("one.zip", "two.zip", "three.zip"))
    assert one == two == three


def test_messages_that_wait_for_the_index_are_found_in_the_imported_vault(
    home: Callable[[str], Recollectum], tmp_path: Path
) -> None:
    with home("first") as first:
        told = [NewMessage(role="user", content=f"a {word} in the garden") for word in ("zebra", "walrus")]
        first.vault(ANN).sessions.open().add_many(told)
        export_bundle(first.admin, tmp_path / "one.zip")
        assert first.vault(ANN).admin.index.status().waiting == 2
    with home("second") as second:
        load_bundle(second.admin, tmp_path / "one.zip")
        assert second.vault(ANN).admin.index.status().waiting == 0
        assert second.vault(ANN).recall("walrus")[0].text == "a walrus in the garden"


@pytest.fixture
def bundle(tmp_path: Path) -> Path:
    """The bundle of a small home in files, as a folder."""
    with Recollectum(tmp_path / "small", settings={**_SETTINGS, "encryption": "off"}) as small:
        vault = small.vault(ANN)
        vault.memories.save("Grace's tea is green", key="tea")
        chat = vault.sessions.open(channel="telegram")
        chat.add("user", "the kettle is\nblue")
        export_bundle(small.admin, tmp_path / "bundle")
    return tmp_path / "bundle"


def _other(tmp_path: Path) -> Recollectum:
    return Recollectum(tmp_path / "other", settings=_SETTINGS)


def test_a_person_and_a_small_program_can_read_it(bundle: Path) -> None:
    (folder,) = (bundle / "vaults").iterdir()
    assert "- Grace's tea is green" in (folder / "memories.md").read_text("utf-8")
    (page,) = (folder / "conversations").iterdir()
    assert "the kettle is\nblue" in page.read_text("utf-8")
    rows = [json.loads(line) for line in (folder / "tables" / "memories.jsonl").read_text("utf-8").splitlines()]
    assert [(row["content"], row["key"], row["state"]) for row in rows] == [("Grace's tea is green", "tea", "active")]


@pytest.mark.feature("C11")
def test_an_export_of_everybody_has_the_extensions_and_one_of_somebody_does_not(tmp_path: Path) -> None:
    with Recollectum(tmp_path / "home", settings={**_SETTINGS, "encryption": "off"}) as home:
        home.vault(ANN).memories.save("tea")
        source = write_folder(tmp_path / "source")
        home.extensions.install(source, home.extensions.preview(source).token)
        made = home.extensions.get("weather")
        export_bundle(home.admin, tmp_path / "all")
        export_bundle(home.admin, tmp_path / "one", owners=[Owner.parse(ANN)])
    copied = tmp_path / "all/extensions" / Path(made.folder).name
    assert {path.name: path.read_text("utf-8") for path in copied.glob("*.md")} == {"CONTEXT.md": files()["CONTEXT.md"]}
    assert not (tmp_path / "one/extensions").exists()
    with Recollectum(tmp_path / "other", settings={**_SETTINGS, "encryption": "off"}) as home:
        load_bundle(home.admin, tmp_path / "all")
        assert home.extensions.list() == []
        # A folder of the bundle is installed like any other.
        home.extensions.install(copied, home.extensions.preview(copied).token)
        assert home.extensions.get("weather").version == made.version


@pytest.mark.slow
def test_an_encrypted_bundle_opens_with_its_passphrase_alone(tmp_path: Path) -> None:
    with Recollectum(tmp_path / "small", settings=_SETTINGS) as small:
        small.vault(ANN).memories.save("Grace's tea is green")
        made = export_bundle(small.admin, tmp_path / "hidden.zip", passphrase=_SECRET)
        plain = export_bundle(small.admin, tmp_path / "plain.zip").path
    assert made.encrypted
    assert is_bundle(made.path)
    assert not zipfile.is_zipfile(made.path)
    with _other(tmp_path) as other:
        for wrong in ("", "moth", None):
            with pytest.raises(KeyProblem):
                load_bundle(other.admin, made.path, passphrase=lambda wrong=wrong: wrong)
        load_bundle(other.admin, made.path, passphrase=lambda: _SECRET)
        assert [one.content for one in other.vault(ANN).memories.list()] == ["Grace's tea is green"]
        # What is in it is the same, byte for byte.
        assert export_bundle(other.admin, tmp_path / "back.zip").path.read_bytes() == plain.read_bytes()


@pytest.mark.slow
def test_an_encrypted_bundle_that_was_changed_or_cut_off_is_refused(tmp_path: Path) -> None:
    with Recollectum(tmp_path / "small", settings=_SETTINGS) as small:
        small.vault(ANN).memories.save_many(
            [Draft(content=random.Random(number).randbytes(4000).hex()) for number in range(50)]
        )
        path = export_bundle(small.admin, tmp_path / "hidden.zip", passphrase=_SECRET).path
    whole = path.read_bytes()
    frame = 65536 + 16
    swapped = whole[:47] + whole[47 + frame : 47 + 2 * frame] + whole[47 : 47 + frame] + whole[47 + 2 * frame :]
    for changed in (whole[:-1], whole[:-frame], whole[:60], whole[:-40] + b"\0" + whole[-39:], swapped):
        path.write_bytes(changed)
        with _other(tmp_path) as other:
            with pytest.raises((KeyProblem, Damaged)):
                load_bundle(other.admin, path, passphrase=lambda: _SECRET)
            assert not other.admin.entries()


@pytest.mark.process
def test_the_program_in_the_guide_decrypts_a_bundle(tmp_path: Path) -> None:
    guide = (Path(__file__).parents[3] / "docs" / "guides" / "export.md").read_text("utf-8")
    (program,) = re.findall("```python no-run\n(.*?)```", guide, re.DOTALL)
    with Recollectum(tmp_path / "small", settings=_SETTINGS) as small:
        small.vault(ANN).memories.save_many(
            [Draft(content=random.Random(number).randbytes(4000).hex()) for number in range(50)]
        )
        hidden = export_bundle(small.admin, tmp_path / "hidden.zip", passphrase=_SECRET).path
        plain = export_bundle(small.admin, tmp_path / "plain.zip").path
    done = [sys.executable, "-c", program, str(hidden), str(tmp_path / "out.zip")]
    subprocess.run(done, input=f"{_SECRET}\n".encode(), check=True)
    with zipfile.ZipFile(tmp_path / "out.zip") as one, zipfile.ZipFile(plain) as other:
        assert {name: one.read(name) for name in one.namelist()} == {
            name: other.read(name) for name in other.namelist()
        }


def test_a_bundle_that_was_changed_leaves_nothing_behind(bundle: Path, tmp_path: Path) -> None:
    (rows,) = bundle.glob("vaults/*/tables/memories.jsonl")
    whole = rows.read_text("utf-8")
    listed = json.loads((bundle / "manifest.json").read_text("utf-8"))
    for text in (whole.replace("green", "white"), "", whole * 2, whole.replace('"content"', '"contents"'), "[]\n"):
        rows.write_text(text, "utf-8")
        with _other(tmp_path) as other:
            with pytest.raises(Damaged):
                load_bundle(other.admin, bundle)
            assert not other.admin.entries()
            assert not [*other.admin.home.backups.iterdir()]
    rows.write_text(whole, "utf-8")
    for name, value in (("version", 99), ("schema", 9999)):
        (bundle / "manifest.json").write_text(json.dumps({**listed, name: value}), "utf-8")
        with pytest.raises(SchemaNewer):
            read_bundle(bundle)
    for text in ("", "[]", "{}", json.dumps({**listed, "files": 3})):
        (bundle / "manifest.json").write_text(text, "utf-8")
        with pytest.raises(Damaged):
            read_bundle(bundle)


def test_a_manifest_cannot_name_a_file_outside_of_the_bundle(bundle: Path, tmp_path: Path) -> None:
    (tmp_path / "outside.jsonl").write_text("{}\n")
    listed = (bundle / "manifest.json").read_text("utf-8")
    (folder,) = (bundle / "vaults").iterdir()
    (bundle / "manifest.json").write_text(listed.replace(f"vaults/{folder.name}", "../outside"), "utf-8")
    with _other(tmp_path) as other, pytest.raises(Damaged, match="outside of it"):
        load_bundle(other.admin, bundle)


def test_bad_requests_have_no_effect(bundle: Path, tmp_path: Path) -> None:
    with _other(tmp_path) as other:
        load_bundle(other.admin, bundle)
        with pytest.raises(Conflict, match="has a vault here that is not empty"):
            load_bundle(other.admin, bundle)
        with pytest.raises(NotFound, match="'user:nobody' is not in that bundle"):
            load_bundle(other.admin, bundle, owners=[Owner.parse("user:nobody")])
        with pytest.raises(NotFound, match="there is no bundle"):
            load_bundle(other.admin, tmp_path / "nothing.zip")
        with pytest.raises(InvalidInput, match="exists already"):
            export_bundle(other.admin, bundle)
        with pytest.raises(NotFound, match="user:nobody"):
            export_bundle(other.admin, tmp_path / "new.zip", owners=[Owner.parse("user:nobody")])
        with pytest.raises(InvalidInput, match="would be a folder"):
            export_bundle(other.admin, tmp_path / "new", passphrase=_SECRET)
        assert not (tmp_path / "new").exists()
        assert not (tmp_path / "new.zip").exists()


@pytest.mark.process
def test_the_receipt_of_a_later_purge_names_the_bundle(bundle: Path, tmp_path: Path) -> None:
    with Recollectum(tmp_path / "small", settings={**_SETTINGS, "encryption": "off"}) as small:
        vault = small.vault(ANN)
        (one,) = vault.memories.list()
        planned = vault.privacy.purge.preview(PurgeRequest.memories(one.id))
        receipt = vault.privacy.purge.run(planned.token)
    assert any(str(bundle) in place for place in receipt.elsewhere)


def test_a_bundle_of_an_older_schema_is_upgraded(bundle: Path, tmp_path: Path) -> None:
    """The last step but one: what the last step added is made from the rows."""
    manifest = json.loads((bundle / "manifest.json").read_text("utf-8"))
    (path,) = (one for one in manifest["files"] if one["path"].endswith("/messages.jsonl"))
    rows = [json.loads(line) for line in (bundle / path["path"]).read_text("utf-8").splitlines()]
    older = [{name: value for name, value in row.items() if name not in ("speaker_folded", "copy_of")} for row in rows]
    text = "".join(json.dumps(row) + "\n" for row in older)
    (bundle / path["path"]).write_text(text, "utf-8")
    path.update(bytes=len(text.encode()), sha256=hashlib.sha256(text.encode()).hexdigest())
    (bundle / "manifest.json").write_text(json.dumps({**manifest, "schema": 23}), "utf-8")
    with _other(tmp_path) as other:
        load_bundle(other.admin, bundle)
        assert [hit.text for hit in other.vault(ANN).recall("kettle")] == ["the kettle is\nblue"]


@pytest.mark.slow
def test_no_damage_to_a_bundle_ends_in_anything_but_an_error_of_ours(bundle: Path, tmp_path: Path) -> None:
    chance = random.Random(11)
    with _other(tmp_path) as other:
        for number in range(_FUZZED):
            target = tmp_path / f"fuzzed{number}"
            shutil.copytree(bundle, target)
            file = chance.choice(sorted(path for path in target.rglob("*") if path.is_file()))
            data = bytearray(file.read_bytes() or b" ")
            for _ in range(chance.randrange(1, 4)):
                data[chance.randrange(len(data))] = chance.randrange(256)
            file.write_bytes(data[: chance.choice((len(data), chance.randrange(len(data) + 1)))])
            try:
                load_bundle(other.admin, target)
            except RecollectumError:
                assert not other.admin.entries()
            else:
                # A page for people, which is not imported, or a byte that was the same.
                other.vault(ANN).recall("kettle")
                planned = other.vault(ANN).privacy.purge.preview(PurgeRequest.user())
                other.vault(ANN).privacy.purge.run(planned.token)
            shutil.rmtree(target)
