"""Laws of purging: whatever is asked for, what is not covered reads the same as before, and the vault is sound."""

from datetime import UTC, datetime
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from recollectum import Recollectum
from recollectum.vault.purge.request import PurgeRequest, PurgeState
from recollectum.vault.vault import Vault

pytestmark = pytest.mark.process

_SETTINGS = {"encryption": "off", "storage.reserve_mib": 0}
_TALKS = st.lists(st.lists(st.text("abc ü", min_size=1, max_size=12), max_size=4), min_size=1, max_size=4)


def _now() -> datetime:
    return datetime(2026, 6, 1, tzinfo=UTC)


def _talks(vault: Vault) -> dict[str, list[str]]:
    return {
        one.id: [said.text for said in vault.sessions.chat(one.id).messages(limit=99)] for one in vault.sessions.list()
    }


@pytest.mark.feature("P9")
@settings(max_examples=15, deadline=None)
@given(talks=_TALKS, facts=st.lists(st.text("xyz", min_size=1, max_size=9), unique=True, max_size=4), data=st.data())
def test_what_is_not_covered_reads_the_same(talks: list[list[str]], facts: list[str], data: st.DataObject) -> None:
    with TemporaryDirectory() as folder, Recollectum(Path(folder) / "h", settings=_SETTINGS, clock=_now) as home:
        vault = home.vault("user:ann")
        for number, talk in enumerate(talks):
            chat = vault.sessions.open(channel=f"c{number}", agent="main")
            for text in talk:
                chat.add("user", text)
        for fact in facts:
            vault.memories.save(f"fact {fact}")
        said, known = _talks(vault), {one.id: one for one in vault.memories.list()}
        gone = data.draw(st.sets(st.sampled_from(sorted(said)), min_size=1))
        receipt = vault.privacy.purge.run(vault.privacy.purge.preview(PurgeRequest.sessions(*gone)).token)
        # Texts of a few letters cannot be searched for, and the receipt says so.
        searched = receipt.samples or not any(text.strip() for one in gone for text in said[one])
        assert receipt.state is (PurgeState.DONE if searched else PurgeState.UNVERIFIED), receipt
        assert _talks(vault) == {one: texts for one, texts in said.items() if one not in gone}
        assert {one.id: one for one in vault.memories.list()} == known
        if known:
            less = data.draw(st.sets(st.sampled_from(sorted(known)), min_size=1))
            assert (
                vault.privacy.purge.run(vault.privacy.purge.preview(PurgeRequest.memories(*less)).token).state
                is PurgeState.DONE
            )
            assert {one.id: one for one in vault.memories.list()} == {k: v for k, v in known.items() if k not in less}
        assert vault.admin.index.verify().sound
