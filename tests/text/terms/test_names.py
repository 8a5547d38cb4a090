"""Names are runs of capitalised words, and a name is whole where it is not a part of a longer one."""

import pytest

from recollectum.text.terms.names import find_names, has_whole_names

pytestmark = pytest.mark.process


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("Where does Ada Berg live?", ["ada berg"]),
        ("The rector of the University of Oslo is Otto Lang.", ["university of oslo", "otto lang"]),
        ("Dr. Ada Berg's sister met Prof Lang", ["ada berg", "lang"]),
        ("We read Winter Road and The Second Tower with Ada", ["winter road", "the second tower", "ada"]),
        ("where does ada live?", []),
        ("What is it?", []),
        ("", []),
        ("Ada Berg-Holm works for Lang & Sons.", ["ada berg-holm", "lang & sons"]),
        ("Åse lives in Øvre Årdal", ["åse", "øvre årdal"]),
    ],
)
def test_names_are_found(text: str, names: list[str]) -> None:
    assert [" ".join(name.words) for name in find_names(text)] == names


_WHOLE = {
    "Ada Berg": ["A letter by Ada Berg came.", "A letter by Mrs Ada Berg came.", "Yesterday Ada Berg came."],
    # A first name may be all of a name.
    "Ada": ["A letter by Ada Berg came."],
    "Holm": ["A street in Holm is closed."],
    # What is before "of" may be a name or not.
    "Acme": ["Otto is the CEO of Acme."],
    "Ada and then Otto": ["Otto met Ada."],
}
_IN_PART = {
    "Ada Berg": [f"A letter by {name} came." for name in ("Ada Berg-Holm", "Ada Maria Berg", "Ada Berg Holm", "Ada")],
    "Holm": ["A street in New Holm is closed."],
    "Ada and then Otto": ["Otto met Mia."],
}


def test_a_name_is_whole_where_it_is_no_part_of_a_longer_one() -> None:
    for asked, texts in _WHOLE.items():
        assert [text for text in texts if not has_whole_names(text, find_names(f"who is {asked}"))] == []
    for asked, texts in _IN_PART.items():
        assert [text for text in texts if has_whole_names(text, find_names(f"who is {asked}"))] == []
