"""An address of a database is named without its password, whatever is wrong with it."""

import pytest

from recollectum.domain.errors import SettingsError
from recollectum.settings.check import check_environment, check_overrides
from recollectum.settings.registry import all_settings
from recollectum.settings.values import without_password
from recollectum.storage.postgres.connections.address import read_address

_URL = all_settings()["storage.url"]


@pytest.mark.parametrize(
    ("url", "words", "user"),
    [
        ("postgresql://ann:s3cret@db:6432/memory", "postgresql://db:6432/memory", "ann"),
        ("postgresql://db/memory?user=ann&password=s3cret", "postgresql://db:5432/memory", "ann"),
        ("postgres://ann:s3cret@one,two:7000/memory", "postgresql://one:5432,two:7000/memory", "ann"),
        ("postgresql:///memory?host=/run/postgresql", "postgresql:///run/postgresql:5432/memory", ""),
    ],
)
def test_the_words_of_an_address_have_no_password(url: str, words: str, user: str) -> None:
    found = read_address(url)
    assert (found.words, found.user) == (words, user)
    assert "s3cret" not in repr(found)


def test_an_address_that_cannot_be_read_is_refused_without_quoting_it() -> None:
    with pytest.raises(SettingsError) as refused:
        read_address("postgresql://ann:s3cret%zz@db/memory")
    assert "s3cret" not in str(refused.value)
    assert refused.value.__suppress_context__


@pytest.mark.parametrize(
    ("url", "shown"),
    [
        ("postgresql://ann:s3cret@db/memory", "postgresql://ann:***@db/memory"),
        ("postgresql://ann:s3@cr/et@db/memory", "postgresql://ann:***@db/memory"),
        ("postgresql://:s3cret@db/memory", "postgresql://:***@db/memory"),
        ("postgresql://db/memory?password=s3cret&user=ann", "postgresql://db/memory?password=***&user=ann"),
        ("postgresql://db/memory?sslpassword=s3cret", "postgresql://db/memory?sslpassword=***"),
        ("postgresql://ann@db:5432/memory", "postgresql://ann@db:5432/memory"),
        ("", ""),
    ],
)
def test_settings_show_an_address_without_its_password(url: str, shown: str) -> None:
    assert without_password(url) == shown
    assert _URL.shown(url) == shown


@pytest.mark.parametrize("wrong", ["mysql://ann:s3cret@db/memory", "host=db password=s3cret", "s3cret"])
def test_a_wrong_address_is_refused_without_showing_it(wrong: str) -> None:
    problems = [*check_environment({_URL.variable: wrong}).problems, *check_overrides({_URL.key: wrong}).problems]
    assert len(problems) == 2
    assert all("postgresql://" in one and "s3cret" not in one for one in problems)
