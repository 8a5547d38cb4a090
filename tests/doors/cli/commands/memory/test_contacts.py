"""`recollectum contacts` answers with an address, or asks and fails."""

import pytest

from tests.doors.cli.calls import call, ok

pytestmark = [pytest.mark.usefixtures("home"), pytest.mark.process]


@pytest.mark.feature("A13")
def test_resolve_and_list() -> None:
    ok("remember", "Anna is my girlfriend")
    number = ok("remember", "Anna's number is +49 151 2345678").word
    found = ok("contacts", "resolve", "my girlfriend")
    assert found.out == f"+491512345678\tphone\t-\tAnna, your girlfriend\t{number}\n"
    assert ok("contacts", "resolve", "Anna", "--json").json["resolved"]["outcome"] == "match"
    assert "+49 151 2345678 (owner)" in ok("contacts", "list").out
    assert [one["name"] for one in ok("contacts", "list", "--json").json["contacts"]] == ["Anna"]


@pytest.mark.feature("A13")
def test_what_is_not_clear_is_asked_and_fails() -> None:
    assert call("contacts", "list").err == "no contacts; add one with: recollectum remember TEXT\n"
    ok("remember", "Anna is my sister")
    ok("remember", "Bea is my sister")
    asked = call("contacts", "resolve", "my sister")
    assert (asked.code, asked.out) == (1, "")
    assert asked.err == "recollectum: Which: Anna, your sister; or Bea, your sister?\n"
    unknown = call("contacts", "resolve", "my boss", "--json")
    assert (unknown.code, unknown.json["resolved"]["outcome"]) == (1, "nothing")
