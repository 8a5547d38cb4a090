"""Pickled data is read without running any of it, and whatever the bytes say."""

import os
import pickle
import random
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
from qdrant_client.models import PointStruct

from recollectum.domain.errors import InvalidInput
from recollectum.transfer.plain_pickle import plain_value

PAYLOAD: dict[str, Any] = {
    "data": "Ann likes teal \U0001f9e1",
    "n": [1, -300, 2**40, 1.5, None, True, {"a": ("b", "c", "d", "e")}, {1, 2}, "x" * 300],
    "again": ["x" * 300] * 3,
}


@pytest.mark.parametrize("protocol", [2, 3, 4, 5])
def test_an_object_is_its_fields(protocol: int) -> None:
    point = PointStruct(id=7, vector=[0.5, -1.0], payload=PAYLOAD)
    read = plain_value(pickle.dumps(point, protocol))
    assert (read["id"], read["vector"]) == (7, [0.5, -1.0])
    assert read["payload"]["data"] == PAYLOAD["data"]
    assert read["payload"]["n"][:6] == PAYLOAD["n"][:6]
    assert read["payload"]["again"] == PAYLOAD["again"]


class _Calls:
    """Makes a file when it is unpickled."""

    def __init__(self, path: Path) -> None:
        self._path = path

    def __reduce__(self) -> tuple[Any, ...]:
        return Path.touch, (self._path,)


def test_nothing_is_called(tmp_path: Path) -> None:
    bad = {"payload": {"data": "teal", "bad": _Calls(tmp_path / "made")}}
    for protocol in range(2, 6):
        assert plain_value(pickle.dumps(bad, protocol))["payload"]["data"] == "teal"
    assert not list(tmp_path.iterdir())
    pickle.loads(pickle.dumps(bad))
    assert (tmp_path / "made").exists()


@pytest.mark.parametrize("data", [b"", b"x", b"\x80\x04", b"\x80\x04.", b"\x80\x04}", b"Pid\n.", b"(i__main__\nX\n."])
def test_what_is_no_plain_data_is_refused(data: bytes) -> None:
    with pytest.raises(InvalidInput, match="pickled data"):
        plain_value(data)


def test_damaged_bytes_are_read_or_refused() -> None:
    whole, chance = pickle.dumps(PointStruct(id=7, vector=[0.5, -1.0], payload=PAYLOAD)), random.Random(3)
    read = 0
    for _ in range(int(os.environ.get("RECOLLECTUM_TEST_FUZZ", "1000"))):
        data = bytearray(whole)
        for _ in range(chance.randint(1, 8)):
            data[chance.randrange(len(data))] = chance.randrange(256)
        with suppress(InvalidInput):
            plain_value(bytes(data[: chance.choice([len(data), chance.randrange(len(data))])]))
            read += 1
    assert read
