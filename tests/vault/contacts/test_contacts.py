"""Whom some words mean and how they are reached: one clear match, a question, or nothing."""

from datetime import timedelta

import pytest

from recollectum import Recollectum
from recollectum.domain.contact import Outcome, Resolved
from recollectum.domain.errors import Denied
from recollectum.domain.message import RoleName
from recollectum.vault.vault import Vault
from tests.matrix.homes import Turning

ONE, TWO = "+49 151 0000001", "+49 151 0000002"


def tell(vault: Vault, clock: Turning, *texts: str) -> list[str]:
    """Save one text a day; the ids."""
    ids: list[str] = []
    for text in texts:
        clock.turn(timedelta(days=1))
        ids.append(vault.memories.save(text).id)
    return ids


def reached(found: Resolved) -> list[str]:
    """The addresses of a match; nothing else has any to act on."""
    assert (found.contact is not None) == (found.outcome is Outcome.MATCH)
    assert bool(found.question) == (found.outcome is not Outcome.MATCH)
    return [one.address.written for one in found.contact.addresses] if found.contact else []


@pytest.mark.feature("A13")
@pytest.mark.parametrize(
    ("texts", "asked"),
    [
        (["Anna is my girlfriend", f"Anna's number is {ONE}"], "my girlfriend"),
        (["Anna is my girlfriend", f"Anna's number is {ONE}"], "call my girlfriend"),
        (["Anna is my girlfriend", f"Anna's number is {ONE}"], "my partner"),
        (["Anna is my girlfriend", f"Anna's number is {ONE}"], "Anna"),
        (["Anna is my girlfriend", f"Anna's number is {ONE}"], "my girlfriend Anna"),
        (["Anna is my girlfriend", f"Anna's number is {ONE}"], "Anna's number"),
        ([f"Anna's number is {ONE}", "Anna is my girlfriend"], "girlfriend"),
        (["Änna Bérg is my Mum", f"Anna Berg's number is {ONE}"], "ANNA BERG"),
        (["Zoë is my mom", f"Zoe: {ONE}"], "mother"),
        (["Eva is my mother", f"My mum's number is {ONE}"], "Mum"),
        ([f"My mum's number is {ONE}"], "my mother"),
        (["Anna Berg is my dentist", f"Anna's number is {ONE}"], "the dentist"),
        (["Anna Berg is my dentist", f"Anna's number is {ONE}"], "Berg"),
        (["Anna goes by Annie", f"Anna's number is {ONE}"], "Annie"),
        (["Anna goes by Annie", "Anna is my wife", f"Annie's number is {ONE}"], "my wife"),
        (["I call my mother Mami", f"My mother's number is {ONE}"], "Mami"),
        ([f"Anna's number is {TWO}", f"Anna's number is {ONE}"], "Anna"),
        ([f"Anna: {TWO}", f"Anna has a new number: {ONE}", f"Anna's old number is {TWO}"], "Anna"),
        (["Anna is my wife", "Anna is my girlfriend", f"Anna: {ONE}"], "my wife"),
        ([f"Anna: {TWO}", "Anna has a new number", f"Anna: {ONE}"], "Anna"),
        (["Anna is no longer my boss", "Anna is my boss", f"Anna: {ONE}"], "my boss"),
        (["Anna is my sister", "Bea is my wife", f"Anna: {TWO}", f"Bea: {ONE}"], "my wife"),
        (["Anna is my sister and my dentist", f"Anna: {ONE}"], "my dentist"),
        (
            ["Anna is my sister", "Anna is my dentist", f"My dentist Anna: {ONE}", f"My sister Anna: {TWO}"],
            "my dentist",
        ),
    ],
)
def test_one_clear_match(vault: Vault, clock: Turning, texts: list[str], asked: str) -> None:
    tell(vault, clock, *texts)
    assert reached(vault.memories.contacts.resolve(asked)) == [ONE]


@pytest.mark.feature("A13")
@pytest.mark.parametrize(
    ("texts", "asked", "names"),
    [
        (["Anna is my girlfriend", "Bea is my girlfriend", f"Bea: {ONE}"], "my girlfriend", ["Anna", "Bea"]),
        ([f"Anna Berg: {ONE}", f"Anna Roth: {TWO}"], "Anna", ["Anna Berg", "Anna Roth"]),
        ([f"Anna Berg: {ONE}", f"Anna Roth: {TWO}", "Anna is my wife"], "my wife", ["Anna"]),
        (["Anna is my sister", "Anna is my dentist", f"Anna: {ONE}"], "Anna", ["Anna", "Anna", "Anna"]),
        (["Anna is my sister", "Anna is my dentist", f"Anna: {ONE}"], "my dentist", ["Anna"]),
        (["Anna goes by Annie", "Annabel goes by Annie", f"Annie: {ONE}"], "Annie", ["Anna", "Annabel", "Annie"]),
        (["Anna and Bea are my sisters", f"My sister's number is {ONE}"], "my sister", ["", "Anna", "Bea"]),
        (["Anna is my girlfriend"], "my girlfriend", ["Anna"]),
        (["Tom is my partner", f"Tom: {ONE}"], "my girlfriend", ["Tom"]),
        ([f"My girlfriend's number is {ONE}", "Bea is my girlfriend"], "my girlfriend", ["", "Bea"]),
        ([f"Anna: {ONE}", f"Anna's number {ONE} is wrong"], "Anna", ["Anna"]),
        ([f"Anna: {ONE}", f"{ONE} is not Anna's number"], "Anna", ["Anna"]),
        ([f"Anna: {ONE}", f"Don't call Anna at {ONE}"], "Anna", ["Anna"]),
        ([f"Anna: {ONE}", f"Anna no longer uses {ONE}"], "Anna", ["Anna"]),
        ([f"Anna: {ONE}", "Anna has a new number."], "Anna", ["Anna"]),
        ([f"Anna: {ONE}", "Anna is my wife", "My wife changed her number"], "Anna", ["Anna"]),
        ([f"Anna: {ONE}", "Anna's number no longer works"], "Anna", ["Anna"]),
    ],
)
def test_a_question_where_it_is_not_clear(
    vault: Vault, clock: Turning, texts: list[str], asked: str, names: list[str]
) -> None:
    tell(vault, clock, *texts)
    found = vault.memories.contacts.resolve(asked)
    assert found.outcome is Outcome.QUESTION
    assert [one.name for one in found.candidates] == names
    assert reached(found) == []
    assert found.question.endswith("?")


@pytest.mark.feature("A13")
@pytest.mark.parametrize(
    ("texts", "asked"),
    [
        ([], "my girlfriend"),
        (["Anna is my sister", f"Anna: {ONE}"], "my girlfriend"),
        (["Anna is my sister", f"Anna: {ONE}"], "Annie"),
        (["Anna is my sister", f"Anna: {ONE}"], "my boss Anna"),
        (["Anna is my sister", f"Anna: {ONE}"], "my sister's friend"),
        (["Anna is my sister", f"Anna: {ONE}"], "Anna's mother"),
        (["Anna is my sister", f"Anna: {ONE}"], "call the number please"),
        (["Anna is my girlfriend", "Anna is no longer my girlfriend", f"Anna: {ONE}"], "my girlfriend"),
        ([f"Bob says Anna's number is {ONE}"], "Anna"),
        ([f"Anna: {ONE}"], ""),
    ],
)
def test_nothing_is_known_and_it_says_so(vault: Vault, clock: Turning, texts: list[str], asked: str) -> None:
    tell(vault, clock, *texts)
    found = vault.memories.contacts.resolve(asked)
    assert (found.outcome, found.contact, found.candidates) == (Outcome.NOTHING, None, ())
    assert found.question


@pytest.mark.feature("A13")
def test_a_match_cites_its_memories(vault: Vault, clock: Turning) -> None:
    relation, number, mail, _ = tell(
        vault, clock, "Anna is my wife", f"Anna: {ONE}", "Anna's work e-mail is a@x.org", "Bea is my sister"
    )
    found = vault.memories.contacts.resolve("wife").contact
    assert found is not None
    assert set(found.memory_ids) == {relation, number, mail}
    assert {one.address.value: (one.address.label, one.memory_id) for one in found.addresses} == {
        "+491510000001": ("", number),
        "a@x.org": ("work", mail),
    }
    assert [one.name for one in vault.memories.contacts.list()] == ["Anna", "Bea"]


@pytest.mark.feature("A13")
@pytest.mark.parametrize("how", ["forget", "archive", "supersede", "expire", "outlive", "talk"])
def test_what_is_gone_or_only_said_does_not_count(vault: Vault, clock: Turning, how: str) -> None:
    text = f"Anna's number is {ONE}"
    day = timedelta(days=1)
    if how == "talk":
        vault.sessions.open().add("user", text)
    else:
        ends = {"expire": {"ttl": day}, "outlive": {"valid_to": clock.now + day}}
        id_ = vault.memories.save(text, **ends.get(how, {})).id  # pyright: ignore[reportArgumentType]
        assert reached(vault.memories.contacts.resolve("Anna")) == [ONE]
        clock.turn(2 * day)
        if how == "forget":
            vault.memories.forget(id_)
        elif how == "archive":
            vault.memories.move(id_, "archived")
        elif how == "supersede":
            vault.memories.supersede(id_, f"Anna's number is {TWO}")
    assert reached(vault.memories.contacts.resolve("Anna")) == ([TWO] if how == "supersede" else [])


def test_a_number_that_was_only_touched_later_is_not_the_newer_one(vault: Vault, clock: Turning) -> None:
    old, _ = tell(vault, clock, f"Anna's number is {TWO}", f"Anna's number is {ONE}")
    clock.turn(timedelta(days=1))
    vault.memories.edit(old, importance=0.9)
    found = vault.memories.contacts.resolve("Anna")
    assert found.outcome is Outcome.QUESTION
    assert ONE in found.question
    assert TWO in found.question


def test_two_numbers_told_at_once_are_asked_about(vault: Vault) -> None:
    vault.memories.save(f"Anna's number is {ONE}")
    vault.memories.save(f"Anna's number is {TWO}")
    assert vault.memories.contacts.resolve("Anna").outcome is Outcome.QUESTION


@pytest.mark.feature("A13")
@pytest.mark.parametrize("role", ["tool", "system"])
def test_an_address_from_elsewhere_is_asked_about_and_never_acted_on(
    vault: Vault, clock: Turning, role: RoleName
) -> None:
    said = vault.sessions.open().add(role, f"Anna's number is {TWO}")
    doubtful = vault.memories.save(f"Anna's number is {TWO}", message_id=said.id).memory
    assert doubtful.trust not in ("owner", "assistant")
    found = vault.memories.contacts.resolve("Anna")
    assert found.outcome is Outcome.QUESTION
    assert doubtful.id in found.question
    assert doubtful.trust in found.question
    tell(vault, clock, "Anna is my wife")
    found = vault.memories.contacts.resolve("my wife")
    assert found.outcome is Outcome.QUESTION
    assert doubtful.id in found.question
    # The person's own word is enough, whatever else was read.
    tell(vault, clock, f"Anna's number is {ONE}")
    assert reached(vault.memories.contacts.resolve("my wife")) == [ONE]


def test_a_relation_from_elsewhere_makes_nobody_a_girlfriend(vault: Vault, clock: Turning) -> None:
    tell(vault, clock, f"Mallory's number is {ONE}")
    said = vault.sessions.open().add("tool", "Mallory is my girlfriend")
    vault.memories.save("Mallory is my girlfriend", message_id=said.id)
    assert vault.memories.contacts.resolve("my girlfriend").outcome is Outcome.QUESTION
    tell(vault, clock, "Anna is my girlfriend", f"Anna: {TWO}")
    assert reached(vault.memories.contacts.resolve("my girlfriend")) == [TWO]


def test_who_may_not_read_resolves_nobody(home: Recollectum, vault: Vault) -> None:
    vault.memories.save(f"Anna: {ONE}")
    home.people.add("user:bob")
    home.keys.add_grant("user:bob", "user:alice", "write")
    view = home.as_person("user:bob").vault("user:alice")
    for call in (lambda: view.memories.contacts.resolve("Anna"), lambda: view.memories.contacts.list()):
        with pytest.raises(Denied):
            call()
    assert home.vault("user:bob").memories.contacts.list() == []
