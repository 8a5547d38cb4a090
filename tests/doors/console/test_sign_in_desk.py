"""Links that work once, and sessions that end."""

from datetime import timedelta

from recollectum.domain.access.owner import Owner
from recollectum.doors.console.sign_in_desk import ABSOLUTE, IDLE, LINK_LIFETIME, SignInDesk
from tests.matrix.homes import Turning

ADA, BOB = Owner.parse("user:ada"), Owner.parse("user:bob")
A_MOMENT = timedelta(seconds=1)


def _signed_in(desk: SignInDesk, person: Owner = ADA) -> str:
    cookie = desk.redeem(desk.make_link(person))
    assert cookie is not None
    return cookie


def test_a_link_signs_in_the_one_it_was_made_for_and_only_once() -> None:
    desk = SignInDesk(Turning())
    link = desk.make_link(ADA)
    cookie = desk.redeem(link)
    assert cookie is not None
    signed = desk.find(cookie)
    assert signed is not None
    assert signed.person == ADA
    assert desk.redeem(link) is None
    assert desk.find(link) is None


def test_a_link_is_good_for_five_minutes() -> None:
    clock = Turning()
    desk = SignInDesk(clock)
    soon, late = desk.make_link(ADA), desk.make_link(ADA)
    clock.turn(LINK_LIFETIME)
    assert desk.redeem(soon) is not None
    clock.turn(A_MOMENT)
    assert desk.redeem(late) is None


def test_a_session_that_rests_ends_and_one_that_is_used_goes_on() -> None:
    clock = Turning()
    desk = SignInDesk(clock)
    resting, used = _signed_in(desk), _signed_in(desk)
    clock.turn(IDLE)
    assert desk.find(used) is not None
    clock.turn(A_MOMENT)
    assert desk.find(resting) is None
    assert desk.find(used) is not None


def test_a_session_ends_after_a_day_of_work_however_much_it_is_used() -> None:
    clock = Turning()
    desk = SignInDesk(clock)
    cookie = _signed_in(desk)
    end = clock.now + ABSOLUTE
    while clock.now < end:
        assert desk.find(cookie) is not None
        clock.now = min(end, clock.now + IDLE)
    clock.turn(A_MOMENT)
    assert desk.find(cookie) is None


def test_each_session_has_its_own_token_for_forms() -> None:
    desk = SignInDesk(Turning())
    one, other = desk.find(_signed_in(desk)), desk.find(_signed_in(desk))
    assert one is not None
    assert other is not None
    assert one.csrf != other.csrf


def test_whoever_signs_out_is_out_and_nobody_else() -> None:
    desk = SignInDesk(Turning())
    one, other = _signed_in(desk), _signed_in(desk)
    desk.end(one)
    assert desk.find(one) is None
    assert desk.find(other) is not None


def test_an_erased_person_is_signed_out_everywhere_and_has_no_link_left() -> None:
    desk = SignInDesk(Turning())
    mine, link, bobs = _signed_in(desk), desk.make_link(ADA), _signed_in(desk, BOB)
    desk.end_all(ADA)
    assert desk.find(mine) is None
    assert desk.redeem(link) is None
    assert desk.find(bobs) is not None


def test_links_and_sessions_without_end_do_not_fill_the_memory() -> None:
    desk = SignInDesk(Turning())
    first = desk.make_link(ADA)
    for _ in range(1100):
        desk.make_link(BOB)
    assert desk.redeem(first) is None
    assert desk.redeem(desk.make_link(ADA)) is not None
