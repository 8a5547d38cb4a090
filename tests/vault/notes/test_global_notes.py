"""The global notes: a file of the person's own, read into every context and written only on request."""

from pathlib import Path

import pytest

from recollectum import Recollectum
from recollectum.domain.errors import Conflict, InvalidInput
from recollectum.vault.vault import Vault


@pytest.mark.feature("C12")
def test_what_is_written_by_hand_is_read(vault: Vault, home: Recollectum) -> None:
    empty = vault.admin.global_notes.read()
    assert (empty.text, empty.path.exists()) == ("", False)
    assert empty.path == home.home.root / "owners" / "user-alice" / "MEMORY.md"
    empty.path.parent.mkdir(parents=True)
    empty.path.write_text("\ufeff# Rules\n\nBe brief.\n", encoding="utf-8")
    found = vault.admin.global_notes.read()
    assert found.text == "# Rules\n\nBe brief.\n"
    assert found.hash != empty.hash
    assert home.vault("user:bob").admin.global_notes.read().text == ""


@pytest.mark.feature("C12")
def test_it_is_written_only_as_it_was_read(vault: Vault) -> None:
    first = vault.admin.global_notes.save("Be brief.\n")
    assert vault.admin.global_notes.save("Be kind.\n", hash=first.hash).text == "Be kind.\n"
    with pytest.raises(Conflict, match="changed since it was read"):
        vault.admin.global_notes.save("Be loud.\n", hash=first.hash)
    assert vault.admin.global_notes.read().text == "Be kind.\n"


@pytest.mark.parametrize(
    ("content", "said"), [(b"a\n\xff", "is not UTF-8 on line 2"), (b"x" * 65_537, "more than 65,536 are not read")]
)
def test_what_cannot_be_read_is_refused_in_words(vault: Vault, content: bytes, said: str) -> None:
    path: Path = vault.admin.global_notes.save("x").path
    path.write_bytes(content)
    with pytest.raises(InvalidInput, match=said):
        vault.admin.global_notes.read()


def test_a_text_that_is_too_long_is_not_written(vault: Vault) -> None:
    with pytest.raises(InvalidInput, match="too long; use at most 65,536 bytes"):
        vault.admin.global_notes.save("é" * 40_000)
    assert vault.admin.global_notes.read().text == ""
