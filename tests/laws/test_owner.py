"""Laws of names: refused in words, or one spelling, one vault, and nobody who could be taken for another."""

import unicodedata
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import assume, example, given, settings
from hypothesis import strategies as st

from recollectum import Recollectum
from recollectum.domain.access.owner import Owner
from recollectum.domain.errors import Conflict, InvalidInput, RecollectumError
from recollectum.domain.ids import check_name
from tests.matrix.homes import Turning, open_home, quick_folder

pytestmark = pytest.mark.slow

#: Characters that have broken out of a name before: separators, dots, controls, bidi, joiners, forms of one letter.
ODD = st.sampled_from([*"/\\:.%~ \0\n\u202e\u200d\ufeff\u0301", "..", "é", "e\u0301", "Å", "\u212b", "ß", "ﬁ", "İ"])
LETTERS = st.sampled_from([*"abeiopABEz019-_", *"абеіор", *"αβειορ", *"ａｂｅ", "日", "한"])
LATIN = st.sampled_from([*"abeiopABEz019-_.", "é", "e\u0301"])
NAMES = (
    st.lists(LATIN, min_size=1, max_size=6).map("".join)
    | st.lists(LETTERS, min_size=1, max_size=6).map("".join)
    | st.lists(LETTERS | ODD | st.characters(), max_size=12).map("".join)
)
KINDS = st.sampled_from(["user:", "agent:", "group:whatsapp:", "user:a/agent:", "group:", "global", "", "User:"])
OWNERS = st.tuples(KINDS, NAMES).map("".join)

#: What a reader takes for a Latin letter, from alphabets that keyboards have; written apart from the code's own table.
TWINS = {
    "a": "аαａA",
    "b": "ｂB",
    "c": "сｃC",
    "e": "еｅE",
    "i": "іιｉI",
    "j": "јϳｊJ",
    "k": "κｋK",
    "o": "оοｏO",
    "p": "рρｐP",
    "s": "ѕｓS",
    "t": "τｔT",
    "u": "υｕU",
    "v": "νѵｖV",
    "x": "хχｘX",
    "y": "уｙY",
}


def _parsed(text: str) -> Owner | None:
    try:
        return Owner.parse(text)
    except InvalidInput as error:
        refusal = str(error)
    # What is wrong, and after the semicolon what to do.
    assert "; " in refusal
    return None


@given(OWNERS)
@example("user:" + "a" * 300)
@example("user:..")
@example("user:a/../../b")
@example("user:a\0b")
@example("user:a/agent:b/agent:c")
@settings(max_examples=500)
@pytest.mark.feature("P1")
def test_an_owner_is_refused_in_words_or_has_one_spelling(text: str) -> None:
    owner = _parsed(text)
    if owner is None:
        return
    assert Owner.parse(str(owner)) == owner
    assert str(owner) == unicodedata.normalize("NFC", text)
    assert not {"..", "\\", "\0", "\n", " "} & set(str(owner).split("/"))
    assert all(unicodedata.category(char)[0] not in "CZ" for char in str(owner))


FORMS = st.lists(st.sampled_from(["e", "E", "é", "e\u0301", "Å", "\u212b", "ｅ"]), min_size=1, max_size=2).map("".join)


@given(FORMS, FORMS)
@settings(max_examples=300)
def test_two_texts_are_one_owner_exactly_if_they_are_one_name(one: str, other: str) -> None:
    first, second = Owner.parse(f"user:{one}"), Owner.parse(f"user:{other}")
    same = unicodedata.normalize("NFC", one) == unicodedata.normalize("NFC", other)
    assert (first == second) == (str(first) == str(second)) == same


@given(NAMES)
@settings(max_examples=300)
def test_the_forms_of_one_name_are_one_owner(name: str) -> None:
    composed, split = (unicodedata.normalize(form, f"user:{name}") for form in ("NFC", "NFD"))
    first, second = _parsed(composed), _parsed(split)
    if first is not None and second is not None:
        assert first == second


@pytest.mark.parametrize("name", ["", ".", "..", ".a", "a.", "a/b", "a\\b", "a:b", "a\0", "a b", "a" * 129, "a\u202eb"])
def test_names_that_could_be_a_path_or_hide_something_are_refused(name: str) -> None:
    with pytest.raises(InvalidInput):
        check_name(name, "user")


@pytest.fixture(scope="module")
def place() -> Iterator[Path]:
    with quick_folder() as folder:
        yield folder


@pytest.fixture(scope="module")
def home(place: Path) -> Iterator[Recollectum]:
    with open_home(place, Turning()) as opened:
        yield opened


def _files(folder: Path) -> set[Path]:
    return {path for path in folder.rglob("*") if path.is_file()}


@given(st.lists(OWNERS, min_size=1, max_size=4))
@settings(max_examples=60)
@pytest.mark.feature("P1")
def test_two_owners_never_share_a_vault_and_no_file_is_made_elsewhere(
    home: Recollectum, place: Path, texts: list[str]
) -> None:
    # The first change of the catalog also makes the file that counts its changes.
    home.vault("user:first")
    before = _files(place)
    for text in texts:
        try:
            vault = home.vault(text)
        except RecollectumError:
            continue
        name = str(vault.owner)
        # What the vault says of itself is what its first owner wrote there.
        mark = vault.memories.find("mark") or vault.memories.save(name, key="mark").memory
        assert mark.content == name
    made = _files(place) - before
    assert {path.parent for path in made} <= {place / "home" / "vaults"}
    assert all(path.name.startswith("vlt_") for path in made)


@given(st.data())
@settings(max_examples=60)
@pytest.mark.feature("A14")
def test_one_who_could_be_taken_for_another_is_refused(home: Recollectum, data: st.DataObject) -> None:
    name = data.draw(st.text(st.sampled_from(sorted(TWINS)), min_size=3, max_size=6))
    alike = "".join(data.draw(st.sampled_from([char, *TWINS[char]])) for char in name)
    assume(alike != name)
    try:
        home.vault(f"user:{name}")
    except Conflict:
        return  # It looks like somebody of an earlier example.
    files = _files(home.home.vaults)
    for refused in (lambda: home.vault(f"user:{alike}"), lambda: home.people.add(f"user:{alike}")):
        with pytest.raises((Conflict, InvalidInput)):
            refused()
    assert _files(home.home.vaults) == files
    assert f"user:{alike}" not in map(str, home.list_owners())


def test_case_alone_makes_no_second_person(home: Recollectum) -> None:
    home.people.add("user:Zelda")
    for name in ("user:zelda", "user:ZELDA", "user:Ｚelda"):
        with pytest.raises(Conflict):
            home.people.add(name)
