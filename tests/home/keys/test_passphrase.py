"""A passphrase gives the key back, another does not, and what is recorded cannot be bent."""

from collections.abc import Mapping

import pytest

from recollectum.domain.errors import InvalidInput, KeyProblem, WrongKey
from recollectum.domain.message import Json
from recollectum.home.keys.passphrase import DEFAULT_COST, Argon2Cost, fetch, keep
from recollectum.home.keys.wrapping import MasterKey

_HOME = "home_a"
_CHEAP = Argon2Cost(memory_kib=64, passes=1, lanes=2)
_MASTER = MasterKey.new()


@pytest.fixture
def detail() -> Mapping[str, Json]:
    return keep(_HOME, _MASTER, "correct horse", _CHEAP)


def test_the_cost_of_a_guess_is_what_the_decision_says() -> None:
    assert Argon2Cost(memory_kib=65536, passes=3, lanes=4) == DEFAULT_COST
    recorded = keep(_HOME, _MASTER, "correct horse")
    assert (recorded["memory_kib"], recorded["passes"], recorded["lanes"]) == (65536, 3, 4)
    assert fetch(_HOME, recorded, "correct horse") == _MASTER


def test_the_same_passphrase_gives_the_key_back(detail: Mapping[str, Json]) -> None:
    assert fetch(_HOME, detail, "correct horse") == _MASTER


def test_composed_and_decomposed_letters_are_one_passphrase() -> None:
    recorded = keep(_HOME, _MASTER, "café", _CHEAP)
    assert fetch(_HOME, recorded, "cafe\u0301") == _MASTER


def test_bytes_of_the_environment_that_are_no_text_are_allowed() -> None:
    assert fetch(_HOME, keep(_HOME, _MASTER, "a\udcff", _CHEAP), "a\udcff") == _MASTER


@pytest.mark.parametrize("wrong", ["correct horsf", "Correct horse", "correct horse ", " "])
def test_another_passphrase_is_wrong_and_not_repeated(detail: Mapping[str, Json], wrong: str) -> None:
    with pytest.raises(WrongKey, match="RECOLLECTUM_PASSPHRASE") as raised:
        fetch(_HOME, detail, wrong)
    assert wrong == " " or wrong not in str(raised.value)


@pytest.mark.parametrize("missing", [None, ""])
def test_a_missing_passphrase_is_asked_for(detail: Mapping[str, Json], missing: str | None) -> None:
    with pytest.raises(KeyProblem, match=r"none was given; set RECOLLECTUM_PASSPHRASE") as raised:
        fetch(_HOME, detail, missing)
    assert not isinstance(raised.value, WrongKey)


@pytest.mark.parametrize("empty", ["", "  \n"])
def test_an_empty_passphrase_is_refused(empty: str) -> None:
    with pytest.raises(InvalidInput, match="empty"):
        keep(_HOME, _MASTER, empty, _CHEAP)


def test_each_record_has_a_salt_of_its_own(detail: Mapping[str, Json]) -> None:
    other = keep(_HOME, _MASTER, "correct horse", _CHEAP)
    assert detail["salt"] != other["salt"]
    assert detail["wrapped"] != other["wrapped"]


def test_a_record_moved_to_another_home_does_not_open(detail: Mapping[str, Json]) -> None:
    with pytest.raises(WrongKey):
        fetch("home_b", detail, "correct horse")


@pytest.mark.parametrize(
    "change",
    [
        {"memory_kib": 2**40},
        {"memory_kib": 1},
        {"passes": 0},
        {"lanes": -1},
        {"salt": "?"},
        {"wrapped": None},
        {"memory_kib": "64"},
    ],
)
def test_parameters_out_of_bounds_are_refused_before_they_cost_anything(
    detail: Mapping[str, Json], change: Mapping[str, Json]
) -> None:
    with pytest.raises(KeyProblem, match=r"restore keys\.db"):
        fetch(_HOME, {**detail, **change}, "correct horse")


def test_a_cheaper_cost_cannot_be_written_into_the_record(detail: Mapping[str, Json]) -> None:
    with pytest.raises(WrongKey):
        fetch(_HOME, {**detail, "memory_kib": 32}, "correct horse")
