"""Consolidation: what is said becomes what is known, once, with the words it came from."""

from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import pytest

from recollectum import Recollectum
from recollectum.domain.errors import ModelUnavailable, NotFound
from recollectum.domain.memory import Kind
from recollectum.domain.message import Json, Role, RoleName
from recollectum.domain.models.language_model import Prompt
from recollectum.domain.proposal import Act, Finding, Span
from recollectum.domain.trust import Trust
from recollectum.policy.clock import ClockReading
from recollectum.storage.port import Tx
from recollectum.storage.tables.content import citations
from recollectum.storage.tables.learning import forgotten_spans, jobs
from recollectum.testing import ScriptedModel
from recollectum.vault.consolidation.apply import FindingOutcome, admit_findings, apply_findings
from recollectum.vault.consolidation.snapshot import take_snapshot
from recollectum.vault.intake.intake import Intake
from recollectum.vault.review.writing import ChangeContext
from recollectum.vault.runtime import VaultRuntime
from recollectum.vault.vault import Vault
from tests.matrix.homes import Turning
from tests.vault.scripted_homes import echoing, finds, found, home_with, number_of

TEA = "I drink green tea every morning"
CAT = "My cat is called Ada"


@pytest.fixture
def scripted(place: Path, clock: Turning) -> Iterator[Vault]:
    with home_with(place, clock, echoing(TEA, CAT)) as home:
        yield home.vault("user:alice")


def runtime(vault: Vault) -> VaultRuntime:
    return vars(vault)["_runtime"]


def said(vault: Vault, *texts: str, role: RoleName = "user", channel: str = "telegram") -> str:
    chat = vault.sessions.open(channel=channel)
    for text in texts:
        chat.add(role, text)
    return chat.id


def contents(vault: Vault) -> list[str]:
    return sorted(memory.content for memory in vault.memories.list())


@pytest.mark.feature("A5")
def test_a_reading_writes_what_was_said_and_cites_its_words(scripted: Vault) -> None:
    session = said(scripted, f"Hello! {TEA}.", "And now?", CAT)
    outcome = scripted.admin.consolidation.run(session)
    assert outcome.run is not None
    assert (outcome.run.added, outcome.run.through_position, outcome.run.by) == (2, 3, "scripted/scripted")
    assert contents(scripted) == [TEA, CAT]
    (tea,) = [memory for memory in scripted.memories.list() if memory.content == TEA]
    first = scripted.sessions.chat(session).messages()[0]
    assert (tea.trust, tea.message_id) == (Trust.OWNER, first.id)
    cited = runtime(scripted).database.read(lambda tx: citations.of(tx, tea.id))
    assert [first.text[span.start : span.end] for span in cited] == [TEA]


def test_asked_again_it_reads_only_what_is_new(scripted: Vault) -> None:
    session = said(scripted, TEA)
    assert scripted.admin.consolidation.run(session).run
    assert scripted.admin.consolidation.run(session).run is None
    said(scripted, CAT)
    again = scripted.admin.consolidation.run(session).run
    assert again is not None
    assert (again.from_position, again.through_position, again.added) == (1, 2, 1)
    assert [one.through_position for one in scripted.admin.consolidation.list_runs(session_id=session)] == [2, 1]


def test_a_message_that_comes_while_the_model_thinks_waits_for_the_next_run(place: Path, clock: Turning) -> None:
    late: list[Vault] = []

    def speak() -> None:
        said(late[0], CAT)

    with home_with(place, clock, echoing(TEA, CAT, before=speak)) as home:
        vault = home.vault("user:alice")
        late.append(vault)
        session = said(vault, TEA)
        first = vault.admin.consolidation.run(session).run
        assert first is not None
        assert first.through_position == 1
        assert contents(vault) == [TEA]
        second = vault.admin.consolidation.run(session).run
        assert second is not None
        assert (second.from_position, second.through_position) == (1, 2)
        assert contents(vault) == [TEA, CAT]


def test_a_model_that_fails_leaves_everything_and_is_asked_again(place: Path, clock: Turning) -> None:
    answers = [ModelUnavailable("the model is away"), finds(found(TEA, TEA))]
    with home_with(place, clock, ScriptedModel(answers)) as home:
        vault = home.vault("user:alice")
        session = said(vault, TEA)
        assert vault.admin.consolidation.run(session).trouble == "the model is away"
        assert contents(vault) == []
        (job,) = vault.admin.consolidation.list_jobs()
        assert (job.state, job.attempts, job.trouble) == ("waiting", 1, "ModelUnavailable: the model is away")
        assert vault.admin.consolidation.work() == []
        clock.turn(timedelta(seconds=61))
        assert [one.run is not None for one in vault.admin.consolidation.work()] == [True]
        assert contents(vault) == [TEA]
        assert vault.admin.consolidation.list_jobs(state="done")


def test_a_job_that_always_fails_is_given_up_and_seen(place: Path, clock: Turning) -> None:
    model = ScriptedModel(lambda _: ModelUnavailable("the model is away"))
    settings = {"consolidation.retries": 2, "consolidation.backoff_seconds": 10}
    with home_with(place, clock, model, settings) as home:
        vault = home.vault("user:alice")
        session = said(vault, TEA)
        vault.admin.consolidation.run(session)
        waits: list[float] = []
        for _ in range(2):
            (job,) = vault.admin.consolidation.list_jobs(state="waiting")
            waits.append((job.not_before - clock.now).total_seconds())
            clock.now = job.not_before
            vault.admin.consolidation.work()
        assert waits == [10, 40]
        (failed,) = vault.admin.consolidation.list_jobs(state="failed")
        assert failed.attempts == 3
        clock.turn(timedelta(days=2))
        assert vault.admin.consolidation.work() == []
        # Who asks for it means it.
        assert vault.admin.consolidation.run(session).trouble == "the model is away"
        assert vault.sessions.chat(session).messages()[0].text == TEA


def test_the_job_of_a_worker_that_died_is_taken_over_when_its_lease_ends(scripted: Vault, clock: Turning) -> None:
    session = said(scripted, TEA)
    clock.turn(timedelta(minutes=31))
    assert scripted.admin.consolidation.note_idle() == 1
    (job,) = scripted.admin.consolidation.list_jobs()
    until = clock.now + timedelta(minutes=5)
    runtime(scripted).database.write(lambda tx: jobs.claim(tx, job.id, claim="dead", now=clock.now, until=until))
    assert scripted.admin.consolidation.run(session).trouble == "another worker holds the lease"
    assert scripted.admin.consolidation.work() == []
    clock.turn(timedelta(minutes=5))
    assert [one.run is not None for one in scripted.admin.consolidation.work()] == [True]
    assert contents(scripted) == [TEA]


def test_a_worker_whose_lease_was_lost_writes_nothing(place: Path, clock: Turning) -> None:
    held: list[Vault] = []

    def steal() -> None:
        (job,) = held[0].admin.consolidation.list_jobs()
        later = clock.now + timedelta(hours=1)
        change = "UPDATE jobs SET claim = 'other', lease_until = :until WHERE id = :id"
        micros = int(later.timestamp() * 1_000_000)
        runtime(held[0]).database.write(lambda tx: tx.run(change, {"until": micros, "id": job.id}))

    with home_with(place, clock, echoing(TEA, before=steal)) as home:
        vault = home.vault("user:alice")
        held.append(vault)
        assert vault.admin.consolidation.run(said(vault, TEA)).trouble == "another worker took over the lease"
        assert contents(vault) == []
        assert vault.admin.consolidation.list_runs() == []


@pytest.mark.feature("A4")
def test_reset_keeps_what_was_said_and_begins_anew(scripted: Vault) -> None:
    scripted.memories.save("long known")
    session = said(scripted, TEA)
    assert scripted.admin.consolidation.reset(session).run
    assert contents(scripted) == [TEA, "long known"]
    assert scripted.sessions.get(session).ended_at is not None
    assert scripted.sessions.open(channel="telegram").id != session
    assert scripted.sessions.chat(session).messages()[0].text == TEA


@pytest.mark.feature("A4")
def test_reset_ends_the_session_also_when_the_model_fails(place: Path, clock: Turning) -> None:
    answers = [ModelUnavailable("the model is away"), finds(found(TEA, TEA))]
    with home_with(place, clock, ScriptedModel(answers)) as home:
        vault = home.vault("user:alice")
        session = said(vault, TEA)
        assert vault.admin.consolidation.reset(session).trouble
        assert vault.sessions.open(channel="telegram").id != session
        clock.turn(timedelta(minutes=2))
        vault.admin.consolidation.work()
        assert contents(vault) == [TEA]


@pytest.mark.feature("A5")
def test_a_correction_supersedes_and_the_old_one_is_found_in_the_past(place: Path, clock: Turning) -> None:
    moved = "I live in Lisbon now"

    def answer(prompt: Prompt) -> dict[str, Json]:
        target = number_of(prompt, "I live in Porto")
        return finds(found(moved, moved, act="supersede", target=target))

    with home_with(place, clock, ScriptedModel(answer)) as home:
        vault = home.vault("user:alice")
        old = vault.memories.save("I live in Porto", key="home_town").memory
        before = clock.now + timedelta(minutes=1)
        clock.turn(timedelta(hours=1))
        run = vault.admin.consolidation.run(said(vault, moved)).run
        assert run is not None
        assert run.superseded == 1
        (new,) = vault.memories.list()
        assert (new.content, new.supersedes, new.key) == (moved, old.id, "home_town")
        assert vault.memories.get(old.id).superseded_by == new.id
        assert [one.content for one in vault.memories.as_of(before)] == ["I live in Porto"]
        back = vault.admin.consolidation.revert(run.id)
        assert (back.undone, back.kept) == (1, 0)
        assert contents(vault) == ["I live in Porto"]
        assert vault.admin.consolidation.revert(run.id).undone == 0


def test_a_target_that_changed_while_the_model_thought_is_not_overwritten(place: Path, clock: Turning) -> None:
    held: list[Vault] = []

    def answer(prompt: Prompt) -> dict[str, Json]:
        target = number_of(prompt, "I like tea")
        (memory,) = held[0].memories.list()
        held[0].memories.edit(memory.id, "I like coffee")
        return finds(found(TEA, TEA, act="update", target=target))

    with home_with(place, clock, ScriptedModel(answer)) as home:
        vault = home.vault("user:alice")
        held.append(vault)
        vault.memories.save("I like tea")
        run = vault.admin.consolidation.run(said(vault, TEA)).run
        assert run is not None
        assert (run.updated, run.proposed) == (0, 1)
        assert contents(vault) == ["I like coffee"]
        (proposal,) = vault.admin.review.list()
        assert vault.admin.review.diff(proposal.id)[2:] == ["@@ -1 +1 @@", "-I like coffee", f"+{TEA}"]


def test_an_update_and_an_addition_are_taken_back_with_their_run(place: Path, clock: Turning) -> None:
    def answer(prompt: Prompt) -> dict[str, Json]:
        return finds(found(TEA, TEA, act="update", target=number_of(prompt, "I like tea")), found(CAT, CAT))

    with home_with(place, clock, ScriptedModel(answer)) as home:
        vault = home.vault("user:alice")
        vault.memories.save("I like tea")
        run = vault.admin.consolidation.run(said(vault, f"{TEA}. {CAT}.")).run
        assert run is not None
        assert (run.added, run.updated) == (1, 1)
        assert contents(vault) == [TEA, CAT]
        assert vault.admin.consolidation.revert(run.id).undone == 2
        assert contents(vault) == ["I like tea"]


def test_a_run_that_is_not_there_cannot_be_taken_back(vault: Vault) -> None:
    with pytest.raises(NotFound, match="no run 'run_none'"):
        vault.admin.consolidation.revert("run_none")


@pytest.mark.parametrize("role", ["tool", "assistant"])
def test_what_a_tool_or_the_assistant_said_waits_for_review(scripted: Vault, role: str) -> None:
    run = scripted.admin.consolidation.run(said(scripted, TEA, role=Role(role))).run
    assert run is not None
    assert (run.added, contents(scripted)) == (0, [])
    assert all(one.finding.trust is not Trust.OWNER for one in scripted.admin.review.list())


@pytest.mark.parametrize("where", [{"hook": "deploy"}, {"group": "friends"}])
def test_what_a_program_or_a_group_said_waits_for_review(scripted: Vault, where: dict[str, str]) -> None:
    chat = scripted.sessions.open(hook=where.get("hook"), group=where.get("group"))
    chat.add("user", TEA)
    run = scripted.admin.consolidation.run(chat.id).run
    assert run is not None
    assert (run.added, run.proposed) == (0, 1)
    assert contents(scripted) == []


def test_without_a_model_rules_propose_and_say_so(vault: Vault) -> None:
    run = vault.admin.consolidation.run(said(vault, "I am allergic to peanuts.")).run
    assert run is not None
    assert (run.by, run.added) == ("rules", 0)
    assert [one.finding.by for one in vault.admin.review.list()] == ["rules"]


def test_a_preview_writes_nothing(scripted: Vault) -> None:
    session = said(scripted, TEA)
    assert [one.content for one in scripted.admin.consolidation.preview(session)] == [TEA]
    assert contents(scripted) == []
    assert scripted.admin.consolidation.list_runs() == scripted.admin.consolidation.list_jobs() == []


def test_the_forgotten_is_not_learned_again_from_where_it_came(place: Path, clock: Turning) -> None:
    with home_with(place, clock, echoing(TEA, CAT)) as home:
        vault = home.vault("user:alice")
        session = said(vault, f"{TEA}. {CAT}.")
        vault.admin.consolidation.run(session)
        (tea,) = [memory for memory in vault.memories.list() if memory.content == TEA]
        vault.memories.forget(tea.id)
        # The same words again, in the conversation they were forgotten from.
        said(vault, TEA)
        vault.admin.consolidation.run(session)
        assert contents(vault) == [CAT]
        spans = runtime(vault).database.read(lambda tx: forgotten_spans.of_session(tx, session))
        assert [(span.start, span.end) for span in spans] == [(0, len(TEA))]
        vault.memories.move(tea.id, "active")
        assert runtime(vault).database.read(lambda tx: forgotten_spans.of_session(tx, session)) == []


def test_what_is_forgotten_while_the_model_thinks_is_not_learned(place: Path, clock: Turning) -> None:
    held: list[Vault] = []

    def forget() -> None:
        held[0].memories.forget(held[0].memories.list()[0].id)

    with home_with(place, clock, echoing(TEA, before=forget)) as home:
        vault = home.vault("user:alice")
        held.append(vault)
        session = said(vault, TEA)
        message = vault.sessions.chat(session).messages()[0]
        vault.memories.save("a note on what I drink", message_id=message.id)
        run = vault.admin.consolidation.run(session).run
        assert run is not None
        assert (run.added, run.ignored) == (0, 1)
        assert contents(vault) == []


def test_what_was_remembered_by_hand_and_forgotten_is_not_learned(scripted: Vault, clock: Turning) -> None:
    session = said(scripted, TEA)
    scripted.memories.forget(scripted.memories.save(TEA).id)
    scripted.admin.consolidation.run(session)
    assert contents(scripted) == []
    # Said anew after that, it is meant.
    clock.turn(timedelta(hours=1))
    scripted.admin.consolidation.run(said(scripted, TEA, channel="whatsapp"))
    assert contents(scripted) == [TEA]


def test_the_bar_outlives_the_memory_and_goes_with_the_message(scripted: Vault, clock: Turning) -> None:
    session = said(scripted, TEA)
    scripted.admin.consolidation.run(session)
    scripted.memories.forget(scripted.memories.list()[0].id)
    clock.turn(timedelta(days=8))
    assert scripted.admin.lifecycle.run().purged == 1
    database = runtime(scripted).database
    message = scripted.sessions.chat(session).messages()[0]
    assert database.read(lambda tx: forgotten_spans.of_session(tx, session)) == [Span(message.id, 0, len(TEA))]
    assert database.read(lambda tx: tx.rows("SELECT count(*) FROM citations", {})) == [(0,)]
    scripted.sessions.delete(session)
    assert database.read(lambda tx: tx.rows("SELECT count(*) FROM barred", {})) == [(0,)]


def test_two_homes_that_read_the_same_conversation_write_it_once(place: Path, clock: Turning) -> None:
    inner: list[Recollectum] = []

    def other() -> None:
        # The other worker is refused the job while this one has it.
        assert inner[0].vault("user:alice").admin.consolidation.work() == []

    with home_with(place, clock, echoing(TEA, before=other)) as home, home_with(place, clock, echoing(TEA)) as second:
        inner.append(second)
        vault = home.vault("user:alice")
        assert vault.admin.consolidation.run(said(vault, TEA)).run
        assert contents(vault) == [TEA]


@pytest.mark.parametrize("role", ["tool", "assistant", "system"])
def test_a_reader_that_is_sure_of_itself_is_not_believed_about_others_words(vault: Vault, role: str) -> None:
    session = said(vault, TEA, role=Role(role))
    message = vault.sessions.chat(session).messages()[0]
    sure = Finding(
        act=Act.ADD, content=TEA, kind=Kind.FACT, importance=0.5, spans=(Span(message.id, 0, len(TEA)),), certain=True
    )
    stands_on = runtime(vault)

    def change(tx: Tx, reading: ClockReading) -> Counter[FindingOutcome]:
        snapshot = take_snapshot(tx, session, 1, vault.owner, reading, most_known=10)
        return apply_findings(ChangeContext(tx, reading, stands_on), snapshot, admitted, "run_1")[0]

    admitted, _ = admit_findings(Intake(stands_on), [sure])
    assert stands_on.write(change) == {FindingOutcome.PROPOSED: 1}
    assert contents(vault) == []


@pytest.mark.parametrize("span", [Span("msg_none", 0, 4), Span("", 0, 4), Span("said", 0, 1000), Span("said", 4, 4)])
def test_a_finding_that_cites_what_was_not_said_is_left(vault: Vault, span: Span) -> None:
    message = vault.sessions.chat(session := said(vault, TEA)).messages()[0]
    place = replace(span, message_id=message.id) if span.message_id == "said" else span
    made_up = Finding(act=Act.ADD, content=TEA, kind=Kind.FACT, importance=0.5, spans=(place,), certain=True)
    stands_on = runtime(vault)

    def change(tx: Tx, reading: ClockReading) -> Counter[FindingOutcome]:
        snapshot = take_snapshot(tx, session, 1, vault.owner, reading, most_known=10)
        return apply_findings(ChangeContext(tx, reading, stands_on), snapshot, admitted, "run_1")[0]

    admitted, _ = admit_findings(Intake(stands_on), [made_up])
    assert stands_on.write(change) == {FindingOutcome.IGNORED: 1}
