"""The laws that need a vault hold on PostgreSQL too: the same properties, drawn anew, and the lives of memories.

`LAWS_EXAMPLES` is how many examples each of them is given here; a run of its own gives them hundreds.
"""

import os
from collections.abc import Callable, Generator
from contextlib import contextmanager
from datetime import timedelta
from typing import Any
from unittest import mock

import pytest
from hypothesis import settings
from hypothesis.stateful import run_state_machine_as_test

from recollectum import Recollectum
from recollectum.vault.vault import Vault
from tests.conformance.test_memories_model import Lives
from tests.laws import (
    test_clock,
    test_learning_laws,
    test_lifecycle,
    test_note_laws,
    test_recall,
    test_trust_laws,
    test_vault_context_laws,
)
from tests.matrix.homes import START, Turning, open_home, quick_folder
from tests.plugins.engines import database_of
from tests.vault.undo import test_undo_laws

pytestmark = pytest.mark.slow

EXAMPLES = int(os.environ.get("LAWS_EXAMPLES", "2"))
#: A life takes as long as twenty examples of a law.
LIVES = max(1, EXAMPLES // 20)
Law = Callable[..., Any]
#: Where Hypothesis keeps the settings of a test; it refuses to be given them twice.
_SETTINGS = "_hypothesis_internal_use_settings"
OF_A_VAULT = (
    test_recall.test_any_text_is_a_legal_query,
    test_recall.test_a_saved_text_is_found_by_each_of_its_words,
    test_recall.test_whatever_is_said_the_index_agrees_with_it,
    test_note_laws.test_the_vault_holds_what_lies_in_the_folder,
    test_note_laws.test_every_hit_cites_the_lines_it_stands_on,
)
OF_HOMES = (
    test_trust_laws.test_derived_trust_is_the_least_of_its_lineage,
    test_vault_context_laws.test_a_context_of_a_vault_obeys_the_laws,
    test_undo_laws.test_undoing_one_step_is_where_it_was_and_undoing_that_is_where_it_is,
    test_undo_laws.test_nothing_purged_comes_back_however_far_one_goes,
)
OF_AN_EMPTY_VAULT = (
    test_lifecycle.test_recall_serves_exactly_what_is_active,
    test_lifecycle.test_preview_shows_what_daily_sweeps_then_do,
    test_lifecycle.test_a_sweep_done_twice_is_a_sweep_done_once,
    test_lifecycle.test_a_memory_is_restored_inside_its_grace_window_and_refused_after_it,
)


@contextmanager
def _home() -> Generator[Recollectum]:
    with quick_folder() as folder, open_home(folder, Turning(), settings={"notes.on_search": "off"}) as home:
        assert database_of(folder / "home")
        yield home


@contextmanager
def _vault() -> Generator[Vault]:
    with _home() as home:
        yield home.vault("user:alice")


def _holds(law: Law, *given: object) -> None:
    """Try a law on a few examples; what it is given here is what a fixture gives it elsewhere."""
    fewer = settings(vars(law)[_SETTINGS], max_examples=EXAMPLES, deadline=None)
    with mock.patch.dict(vars(law), {_SETTINGS: fewer}):
        law(*given)


@pytest.mark.parametrize("law", OF_A_VAULT, ids=lambda law: law.__name__)
def test_of_a_vault(law: Law) -> None:
    with _vault() as vault:
        _holds(law, vault)


@pytest.mark.parametrize("law", OF_HOMES, ids=lambda law: law.__name__)
def test_of_homes(law: Law) -> None:
    _holds(law)


@pytest.mark.parametrize("law", OF_AN_EMPTY_VAULT, ids=lambda law: law.__name__)
def test_of_an_empty_vault(law: Law) -> None:
    with quick_folder() as folder:
        with open_home(folder / "template", Turning(START - timedelta(days=1000))) as home:
            home.vault(test_lifecycle.OWNER)
        _holds(law, folder / "template")


def test_of_the_clock() -> None:
    with test_clock.living() as lived_in:
        _holds(test_clock.test_a_jump_of_ten_years_deletes_nothing_and_resurrects_nothing, lived_in)


@pytest.mark.feature("G14")
def test_of_learnings() -> None:
    with _home() as home:
        _holds(test_learning_laws.test_nothing_that_anyone_wrote_is_lost_and_syncs_converge, home)


@pytest.mark.feature("M5")
def test_lives_of_memories() -> None:
    run_state_machine_as_test(Lives, settings=settings(max_examples=LIVES, stateful_step_count=12 + EXAMPLES // 10))
