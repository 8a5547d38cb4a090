"""Secrets are found in all their kinds, ordinary text is left alone, and no text can make the search hang."""

import time

import pytest

from bench.redaction_examples import FORMED, NAMED, examples, ordinary_lines
from bench.redaction_set import formed, told
from bench.redaction_set.innocents import innocents
from bench.redaction_set.measure import CLAIMED_BAR, LISTED_BAR, SPOILT_BAR, kinds, recall, spoilt, total
from bench.redaction_set.measure import examples as examples_of
from recollectum.text.secrets.redaction import Secret, redact, redact_value
from recollectum.text.secrets.values import Stretches
from recollectum.text.secrets.vendors import VENDORS

pytestmark = pytest.mark.process

_KINDS = (*FORMED, *NAMED)


@pytest.mark.parametrize("kind", _KINDS)
def test_at_least_nineteen_in_twenty_of_each_kind_are_taken_out(kind: str) -> None:
    made = examples(kind, 50)
    gone = [text for text, secret in made if secret not in redact(text).text]
    named = [text for text, _ in made if kind in {found.kind for found in redact(text).found}]
    assert len(gone) >= 48, f"{len(gone)} of 50"
    assert len(named) >= 48, f"{len(named)} of 50 have the right name"


def test_the_kinds_are_enough_and_the_whole_is_above_the_bar() -> None:
    made = [one for kind in _KINDS for one in examples(kind, 50, seed=1)]
    assert len(_KINDS) >= 16
    assert sum(secret not in redact(text).text for text, secret in made) >= 0.95 * len(made)


def test_of_ordinary_lines_at_most_one_in_a_hundred_is_touched() -> None:
    touched = [line for line in ordinary_lines(2000) if redact(line).found]
    assert len(touched) <= 20, touched[:5]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("my password is hunter2!", "my password is [secret:password]"),
        ("The PIN is 4821.", "The PIN is [secret:password]."),
        ("DB_PASSWORD=swordfish", "DB_PASSWORD=[secret:password]"),
        ('{"password": "swordfish", "n": 1}', '{"password": "[secret:password]", "n": 1}'),
        ("redis://:s3cret@cache:6379/0", "redis://:[secret:url-password]@cache:6379/0"),
        ("pay with 4111 1111 1111 1111 today", "pay with [secret:credit-card] today"),
        ("to DE89 3704 0044 0532 0130 00 AND NOT later", "to [secret:iban] AND NOT later"),
        ("Authorization: Basic dXNlcjpwYXNz", "Authorization: Basic [secret:basic-auth]"),
        ("-----BEGIN RSA PRIVATE KEY-----\n" + "A" * 64 + "\n" + "B" * 20, "[secret:private-key]\n" + "B" * 20),
        (f"key rk_{'aB3-' * 10}xyz", "key [secret:recollectum-key]"),
        ("curl -u ada:hunter22! https://x.example", "curl -u ada:[secret:password] https://x.example"),
        ("postgres://ada:p@ss/w0rd@db.example.com/app", "postgres://ada:[secret:url-password]@db.example.com/app"),
        ("https://ada:s3cret@x.example/r@18", "https://ada:[secret:url-password]@x.example/r@18"),
        ("パスワードはhunter2です", "パスワードは[secret:password]です"),
        (f"export my_ghp_{'aB3d' * 9}", "export my_[secret:github-token]"),
        (f"ghp_{'aB3d' * 5}\n  {'aB3d' * 4}\nand so on", "[secret:github-token]\nand so on"),
        (f"ghp%5F{'aB3d' * 9}&x=1", "[secret:github-token]&x=1"),
        ("die Karte ４１１１ １１１１ １１１１ １１１１ gilt", "die Karte [secret:credit-card] gilt"),
        ("seed phrase: " + "zebra " * 11 + "zone. Thanks", "seed phrase: [secret:seed-phrase]. Thanks"),
    ],
)
def test_only_the_secret_itself_is_replaced(text: str, expected: str) -> None:
    assert redact(text).text == expected


@pytest.mark.parametrize(
    "text",
    [
        "the password is incorrect",
        "password: str, token: str",
        "password = os.environ['DB_PASSWORD']",
        "postgresql://app:${DB_PASSWORD}@db/app",
        "https://example.com:8080/a@b",
        "pay with 4111 1111 1111 1112 today",
        "if user.password == password_1:",
        "a PEM file begins with -----BEGIN PRIVATE KEY----- on a line",
        "the bearer of good news came at noon, tokens: 4096",
        "password: [secret:password]",
    ],
)
def test_what_only_resembles_a_secret_is_left_alone(text: str) -> None:
    assert redact(text).text == text


_IN_SET = {*formed.CLAIMED, *told.CLAIMED, *formed.LISTED, *told.LISTED}


@pytest.mark.parametrize("listed", [False, True], ids=["claimed", "listed"])
def test_of_the_labelled_set_enough_is_found_in_texts_seen_and_unseen(*, listed: bool) -> None:
    for held in (False, True):
        scores = {kind: recall(kind, held=held, each=10) for kind in kinds(listed=listed)}
        short = {kind: str(score) for kind, score in scores.items() if score.share < 1}
        assert total(list(scores.values())).share >= (LISTED_BAR if listed else CLAIMED_BAR), (held, short)


def test_of_the_innocent_texts_at_most_one_in_a_hundred_is_spoilt() -> None:
    for held in (False, True):
        touched = spoilt(held=held)
        assert len(touched) <= SPOILT_BAR * len(innocents(held=held)), touched
    assert len(innocents(held=False)) + len(innocents(held=True)) >= 300


def test_the_measure_sees_a_search_that_finds_nothing_and_one_that_spoils_all() -> None:
    assert recall("password", held=False, each=5, hide=lambda text: text).hits == 0
    assert len(spoilt(held=True, hide=lambda text: f"{text}!")) == len(innocents(held=True))


def test_each_format_of_a_vendor_is_in_the_labelled_set() -> None:
    made = {
        kind: [one.text for one in examples_of(kind, held=False, each=90 if kind == "other vendors" else 10)]
        for kind in _IN_SET
    }
    seen = {found.kind for texts in made.values() for text in texts for found in redact(text).found}
    assert {vendor[0] for vendor in VENDORS} - seen == set()


def test_found_says_where_but_never_what() -> None:
    text = "use AKIAABCDEFGHIJKLMNOP, please"
    found = redact(text).found
    assert found == (Secret(4, 24, "aws-access-key"),)
    assert text[4:24] not in repr(found)


def test_two_names_for_one_secret_make_one_placeholder() -> None:
    assert redact("api_key = 'sk-ant-" + "a1B2" * 10 + "'").text == "api_key = '[secret:anthropic-key]'"


def test_a_secret_that_another_hid_is_found_in_the_same_run() -> None:
    pem = f"-----BEGIN PRIVATE KEY-----\n{'A' * 64}\n-----END PRIVATE KEY-----"
    done = redact(f"{pem}AKIAABCDEFGHIJKLMNOP.")
    assert done.text == "[secret:private-key][secret:aws-access-key]."
    assert [found.kind for found in done.found] == ["private-key", "aws-access-key"]


def test_a_name_in_json_gives_the_value_away() -> None:
    given = {"password": "hunter2", "n": 3, "list": ["AKIAABCDEFGHIJKLMNOP", None], "note": "the password is wrong"}
    expected = {**given, "password": "[secret:password]", "list": ["[secret:aws-access-key]", None]}
    assert redact_value(given) == expected
    assert redact_value(redact_value(given)) == expected
    assert redact_value({"a": {"api_key": ["9f8e7d6c5b4a39281706"]}}) == {"a": {"api_key": ["[secret:api-key]"]}}


@pytest.mark.parametrize("told", ["passwort ist hunter22", 'password: "swordfish"', "API_KEY=9f8e7d6c5b4a39281706"])
@pytest.mark.parametrize("before", [0, 7, 500, 1013, 1024, 1531, 5000])
def test_a_secret_is_found_at_any_distance_from_names_that_tell_none(told: str, before: int) -> None:
    names = "password passwort пароль key "
    padding = (names * 200)[: before - 1] + " " if before else ""
    done = redact(f"1 {padding}{told} {names * 200}{told} {padding}2")
    assert [found.kind for found in done.found] == ["api-key" if "KEY" in told else "password"] * 2


def test_names_are_tried_only_around_digits_signs_and_quotes() -> None:
    assert Stretches("passwort ist geheim. " * 5000).places() == []
    plain = "passwort ist geheim. " * 100
    (start, end), (_, last) = Stretches(f"{plain}hunter22{plain * 10}'").places()
    assert 0 < start < len(plain) < end < start + 2048 <= last


@pytest.mark.parametrize("many", [1, 2, 40])
def test_marks_that_are_near_each_other_make_one_stretch(many: int) -> None:
    assert len(Stretches("passwort ist 1 " * 60 * many).places()) == 1


_HOSTILE = (
    "sk-",
    "eyJ",
    "eyJaaaaaaaa.",
    "-----BEGIN PRIVATE KEY-----\n",
    "-----BEGIN RSA PRIVATE KEY-----A",
    "password",
    "password is ",
    "password for ",
    "password:",
    "password_a_a_",
    "token_",
    "secret-key-",
    "://a:b",
    "1 ",
    "4111 ",
    "4",
    "DE89 ",
    "bearer ",
    "authorization: basic ",
    "otpauth://",
    "MMMMMMMMMMMMMMMMMMMMMMMM.",
    "[secret:",
    "Private-Lines: 9\nA\n",
    "AGE-SECRET-KEY-1" + "A" * 58,
    "password=hunter22 ",
    "pwd='",
    "\\n",
    "ghp_" + "a1B2" * 9 + "\n",
    "ghp_a\n",
    "eyJ_eyJaaaaaaaaa_",
    "://a:b/c",
    "://u:p@ss/",
    "--password a",
    "--user a:b1c2 ",
    "curl -u a:",
    "mysql -p",
    "passwort ist ",
    "пароль ",
    "パスワードは",
    'password: "a ',
    "the api key is a1B2c3D4e5F6g7H8 ",
    "mnemonic is abandon ",
    "private key " + "0f" * 32 + " ",
    "7ZK4-",
    "%5F",
    "aGVsbG8gd29ybGQgaGVsbG8gd29ybGQ= ",
    "４１１１ ",
    "order 4111111111111111 ",
)


@pytest.mark.parametrize("part", _HOSTILE)
def test_time_grows_with_the_length_and_not_faster(part: str) -> None:
    def taken(characters: int) -> float:
        text = part * (characters // len(part))
        began = time.process_time()
        redact(text)
        return time.process_time() - began

    # Sixteen times the text: in a square's time it would take 256 times as long.
    small = max(min(taken(4096) for _ in range(3)), 0.001)
    assert min(taken(65536) for _ in range(3)) < 80 * small
