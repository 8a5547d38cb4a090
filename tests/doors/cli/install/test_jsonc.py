"""JSON with comments: what is put in can be taken out, and the rest never changes."""

import json
from typing import cast

import pytest
from hypothesis import given
from hypothesis import strategies as st

from recollectum.domain.errors import InvalidInput
from recollectum.doors.cli.install import jsonc

_SCALARS = st.none() | st.booleans() | st.integers() | st.text(max_size=8)
_VALUES = st.recursive(
    _SCALARS, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3)
)
_OBJECTS = st.dictionaries(st.text(max_size=5), _VALUES, max_size=4)


def _is_new(value: object) -> bool:
    return value == {"ours": True}


@given(_OBJECTS, st.sampled_from([None, 2, 4, "\t"]), _VALUES)
def test_a_value_goes_in_and_out_and_nothing_else_changes(
    tree: dict[str, object], indent: int | str | None, value: object
) -> None:
    tree.pop("servers", None)
    text = json.dumps(tree, indent=indent)
    inside = jsonc.with_value(text, ("servers", "ours"), value)
    assert jsonc.read(inside).value == {**tree, "servers": {"ours": value}}
    assert json.loads(inside) == {**tree, "servers": {"ours": value}}
    assert jsonc.with_value(inside, ("servers", "ours"), value) == inside
    assert jsonc.read(jsonc.without(inside, ("servers", "ours"))).value == tree


@given(_OBJECTS, st.lists(_SCALARS, max_size=3), st.sampled_from([None, 2]))
def test_an_item_goes_in_and_out(tree: dict[str, object], items: list[object], indent: int | None) -> None:
    whole = (
        {**tree, "hooks": {"Stop": items}} if items else {name: one for name, one in tree.items() if name != "hooks"}
    )
    text = json.dumps(whole, indent=indent)
    inside = jsonc.with_item(text, ("hooks", "Stop"), {"ours": True})
    found = cast("dict[str, dict[str, list[object]]]", json.loads(inside))
    assert found["hooks"]["Stop"] == [*items, {"ours": True}]
    assert jsonc.read(jsonc.without_items(inside, ("hooks", "Stop"), _is_new)).value == whole


COMMENTED = """\
{
  // one
  "a": 1, // after a
  "b": [1, 2,], /* after b */
  "c": {}
  // last
}
"""


def test_comments_and_hanging_commas_stay() -> None:
    inside = jsonc.with_value(COMMENTED, ("d",), 4)
    assert jsonc.read(inside).value == {"a": 1, "b": [1, 2], "c": {}, "d": 4}
    assert all(words in inside for words in ("// one", "// after a", "/* after b */", "// last"))
    more = jsonc.with_item(inside, ("b",), 3)
    assert jsonc.read(more).value == {"a": 1, "b": [1, 2, 3], "c": {}, "d": 4}
    assert jsonc.without(inside, ("d",)) == COMMENTED


@pytest.mark.parametrize(
    "text", ["{", '{"a"}', '{"a": }', "{} x", '{"a": 1 "b": 2}', '{"a": "x', "[" * 200, "{'a': 1}"]
)
def test_what_is_no_json_is_refused_with_its_line(text: str) -> None:
    with pytest.raises(InvalidInput, match="line 2"):
        jsonc.read("\n" + text)


def test_nothing_is_an_empty_object() -> None:
    assert jsonc.read(" \n// only this\n").value == {}
    assert json.loads(jsonc.with_value("", ("a", "b"), 1)) == {"a": {"b": 1}}
    assert jsonc.with_value("// only this\n", ("a",), 1) == '// only this\n{\n  "a": 1\n}\n'
