"""Lists of any length, read an element at a time."""

import io
import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from recollectum.domain.errors import InvalidInput
from recollectum.home.compressed import MAGIC, decompressed, open_compressed
from recollectum.transfer.forms import json_files
from recollectum.transfer.forms.json_files import list_elements, read_object
from recollectum.vault.files.foreign_sources import DamagedPart

_VALUES = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**53), 2**53) | st.text('aé😀"\\{}[], ', max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text("ab", max_size=2), inner, max_size=3),
    max_leaves=8,
)


def _read(text: str) -> list[object]:
    return list(list_elements(io.BytesIO(text.encode()), lambda _: None))


@given(st.lists(_VALUES, max_size=6), st.sampled_from([None, 1]), st.integers(1, 9))
def test_every_list_is_read_as_it_was_written(values: list[object], indent: int | None, chunk: int) -> None:
    with pytest.MonkeyPatch.context() as patch:
        # Elements go on over the ends of chunks.
        patch.setattr(json_files, "_CHUNK", chunk)
        assert _read(json.dumps(values, indent=indent)) == values


@given(st.lists(_VALUES, min_size=1, max_size=6), st.data())
def test_a_list_that_is_cut_short_gives_what_is_whole(values: list[object], data: st.DataObject) -> None:
    text = json.dumps(values)
    found = _read(text[: data.draw(st.integers(0, len(text) - 1))])
    assert isinstance(found[-1], DamagedPart)
    # A number at the end may be a part of the number that was written.
    assert found[:-1] == values[: len(found) - 1] or isinstance(found[-2], int)


def test_the_progress_is_the_size_of_the_file() -> None:
    done: list[int] = []
    data = json.dumps([{"a": "x" * 1000}] * 300).encode()
    assert len(list(list_elements(io.BytesIO(data), done.append))) == 300
    assert sum(done) == len(data)


@pytest.mark.parametrize(
    ("text", "reason"),
    [("{}", "not a list"), ("[1, }" + " " * 50 + "]", "not JSON"), ("[" * 9999, "too deep"), ("[NaN]", "NaN")],
)
def test_what_is_no_list_is_said(text: str, reason: str) -> None:
    (damage,) = (one for one in _read(text) if isinstance(one, DamagedPart))
    assert reason in damage.reason


def test_an_object_has_a_limit() -> None:
    with pytest.raises(InvalidInput, match="larger than 64 MiB"):
        read_object(io.BytesIO(b" " * (json_files.MAX_OBJECT + 1)), lambda _: None)


def test_damaged_compressed_data_is_said() -> None:
    with pytest.raises(InvalidInput, match="damaged or cut short"):
        decompressed(MAGIC + b"garbage")
    assert open_compressed(io.BytesIO(b"")).read() == b""
