"""The thread behind the answers: nothing asked for is forgotten, and nobody waits longer than they wish."""

from threading import Event

import pytest

from recollectum.domain.errors import ModelUnavailable
from recollectum.recall.vectors.backlog import BackgroundWorker


def test_steps_are_done_until_nothing_is_left() -> None:
    worker, left = BackgroundWorker("test"), [3]

    def step() -> bool:
        left[0] -= 1
        return left[0] > 0

    assert worker.wait(worker.start(step), 30)
    assert left == [0]
    # The thread is gone by now, and comes again for the next one.
    left[0] = 2
    assert worker.wait(worker.start(step), 30)
    assert left == [0]
    worker.close()


@pytest.mark.feature("G11")
def test_what_is_asked_for_after_the_last_look_is_looked_for_again() -> None:
    worker, looked, may_end, runs = BackgroundWorker("test"), Event(), Event(), 0

    def step() -> bool:
        nonlocal runs
        runs += 1
        looked.set()
        may_end.wait(30)
        return False

    first = worker.start(step)
    assert looked.wait(30)
    # It may have looked before this was written, so its end does not count.
    second = worker.start(step)
    assert not worker.wait(second, 0.01)
    may_end.set()
    assert worker.wait(second, 30)
    assert worker.wait(first, 0)
    assert runs == 2
    worker.close()


def test_trouble_ends_a_run_and_is_told_until_one_succeeds() -> None:
    worker, fails = BackgroundWorker("test"), [True]

    def step() -> bool:
        if fails[0]:
            raise ModelUnavailable("not now")
        return False

    assert worker.wait(worker.start(step), 30)
    assert worker.trouble == "not now"
    fails[0] = False
    assert worker.wait(worker.start(step), 30)
    assert worker.trouble is None
    worker.close()


def test_closing_ends_it_after_the_step_in_progress() -> None:
    worker, steps = BackgroundWorker("test"), 0

    def step() -> bool:
        nonlocal steps
        steps += 1
        worker.pause(30 if steps > 1 else 0)
        return True

    worker.start(step)
    worker.close()
    ended = steps
    assert not worker.wait(worker.start(step), 0.01)
    assert steps == ended
