"""Laws of redaction: once is enough, nothing else changes, and what was found fits the text."""

import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bench.redaction_examples import FORMED, NAMED, examples
from bench.redaction_set.measure import examples as labelled
from bench.redaction_set.measure import kinds
from recollectum.text.secrets.redaction import redact

pytestmark = [pytest.mark.process, pytest.mark.slow]

_TELLING = (
    *("password=", "password is ", "token: '", "'", '"', "Bearer ", "://u:", "@h", "AKIA", "sk-", "eyJ", "\\n", " "),
    *("[secret:", "]", "[secret:jwt]", "-----BEGIN PRIVATE KEY-----", "-----END PRIVATE KEY-----", "4111 1111 "),
    *(
        "my_",
        "ghp_",
        "ghp%5F",
        "pw: ",
        "pass ",
        "passwort ist ",
        "пароль ",
        "パスワードは",
        "curl -u a:",
        "--token ",
        "0x",
    ),
    *(
        "seed phrase: ",
        "zebra ",
        "private key ",
        "the api key is ",
        "sig=",
        "%5F",
        "7ZK4-",
        "Z2hwX2",
        "p@ss/w0rd",
        "\r\n> ",
    ),
    *("secret", "1111 1111", "DE89370400440532013000", "A" * 16, "a1" * 20, ".", ":AA", "12345678", "\n"),
)
_LABELLED = (*kinds(listed=False), *kinds(listed=True))
_PIECES = st.one_of(
    st.sampled_from(_LABELLED).flatmap(
        lambda kind: st.integers(0, 5).map(
            lambda seed: next(iter(labelled(kind, held=bool(seed % 2), each=1, seed=seed))).text
        )
    ),
    st.text(max_size=12),
    st.sampled_from(_TELLING),
    st.sampled_from((*FORMED, *NAMED)).flatmap(
        lambda kind: st.integers(0, 5).map(lambda seed: random.Random(seed).choice(examples(kind, 3, seed))[0])
    ),
)
_TEXTS = st.lists(_PIECES, max_size=12).map("".join)


@given(text=_TEXTS)
def test_once_is_enough(text: str) -> None:
    once = redact(text).text
    assert redact(once).text == once
    assert redact(once).found == ()


@given(text=_TEXTS)
def test_all_that_is_not_found_stays_as_it_is(text: str) -> None:
    done = redact(text)
    rebuilt: list[str] = []
    at = 0
    for secret in done.found:
        assert at <= secret.start < secret.end <= len(text)
        rebuilt += [text[at : secret.start], f"[secret:{secret.kind}]"]
        at = secret.end
    assert "".join([*rebuilt, text[at:]]) == done.text
