"""A purge searches the files of extensions too, and its receipt does not call it done where it found something."""

from pathlib import Path

import pytest

from recollectum import PurgeRequest, Recollectum
from recollectum.vault.purge.request import PurgeState
from tests.home.extensions.samples import files, write_folder

pytestmark = pytest.mark.process

_WORD = "wqzkvbtrnx hjkzpqwvbm xcvrtplkmw gfdwzrtqpb"


@pytest.mark.parametrize("copied", [True, False])
def test_a_purge_finds_a_copy_of_the_text_in_an_extension(tmp_path: Path, *, copied: bool) -> None:
    with Recollectum(tmp_path / "home", settings={"encryption": "off", "storage.reserve_mib": 0}) as home:
        content = {name: text for name, text in files().items() if not name.startswith("policies/")}
        source = write_folder(tmp_path / "source", {**content, "notes.txt": _WORD if copied else "nothing"})
        home.extensions.install(source, home.extensions.preview(source).token)
        vault = home.vault("user:ada")
        vault.memories.save(_WORD)
        purge = vault.privacy.purge
        receipt = purge.run(purge.preview(PurgeRequest.user()).token)
        assert (receipt.state is PurgeState.DONE) is not copied
        # The extensions belong to the home, and stay.
        assert [one.name for one in home.extensions.list()] == ["weather"]
