"""Measures regular expressions: patterns that hang other engines, against policies and the redaction of secrets."""

import time
from collections.abc import Callable

from bench.bar_row import Measured
from recollectum.policy.rules.decisions import ToolRequest, decide
from recollectum.text.secrets.redaction import redact
from tests.policy.rules.policies import one, rules

_SIZE = 64 * 1024
_LIMIT_MS = 10.0
#: In a short run the machine may be slow or busy; a pattern that hangs takes minutes.
_SHORT_LIMIT_MS = 100.0
#: Four times the text takes four times as long, and sixteen times if it is quadratic.
_SQUARE = 10.0
#: Patterns that make a backtracking engine try every way, each with its worst text.
CHOKING = (
    ("(a+)+$", "a"),
    ("([a-z]+)*!", "a"),
    ("(a|aa)+$", "a"),
    ("(.*a){12}", "a"),
    ("^(\\d+)*$", "1"),
    ("(x+x+)+y", "x"),
    ("(.{1,100}a){5}!", "a"),
    ("(a?){50}a{50}$", "a"),
    ("(.*)(.*)(.*)(.*)x$", "a"),
    ("(\\w+\\s?)+!!$", "a "),
    ("(?i)(a|b|ab)*c", "ab"),
    ("[ab]*a[ab]{12}c", "ab"),
)
#: What each pattern of the redaction begins to match and never ends, or ends where it may not. None holds a secret:
#: what is found costs a little each time, which is not what is measured here.
TEXTS = (
    *("a", "1", "x", " ", "-", ".", ":", "\\n", "://a:", "\n", "=", "'", "@"),
    *("password", "password ", "password is ", "password for ", "pwd == ", "pwd=' ", "pin ", "pin is ", "passport "),
    *("key=", "api_key", "secret_access_", "token: ", "credentials", "client_secret", "aws secret "),
    *("-----BEGIN PRIVATE KEY-----", "-----BEGIN ", "Private-Lines: ", "4111-1111-", "4111 1111 1111 ", "DE89 "),
    *(
        "DE89 3704 0044 0532 0130 01 ",
        "bearer ",
        "authorization: ",
        "otpauth://",
        "otpauth://totp/",
        "sk-",
        "eyJ",
        "gh",
    ),
    *(
        "ghp_",
        "ghp_a\n",
        "my_ghp_",
        "eyJ_eyJaaaaaaaaa_",
        "sl.u.",
        "pat",
        "pat-na1-",
        "AQ.",
        "1//0",
        "abc8Q",
        "dp.st.a",
    ),
    *(
        "&sig=a%",
        "://a:b/",
        "://a:b/c",
        "://a:b@",
        "://u:p@ss/",
        "%5F",
        "%2D%",
        "ghp%5F",
        "aGVsbG8g",
        "aGVsbG8gd29ybGQ= ",
    ),
    *(
        "--password ",
        "--password a",
        "--token=",
        "--a-",
        " -pa",
        "mysql -p",
        "mysql ",
        "curl -u ",
        "sshpass -p ",
        "7z -p",
    ),
    *(
        "passwort ",
        "passwort ist ",
        "mot de passe est a ",
        "clave es ",
        "пароль ",
        "пароль это ",
        "パスワードは",
        "密码：",
        "password è ",
    ),
    *(
        "pass ",
        "pw ",
        "password to be ",
        "password for a to ",
        'password: "a ',
        'password is "a b ',
        "the api key ",
        "secret is ",
    ),
    *(
        "key a1b2-c3 ",
        "recovery code ",
        "seed phrase: ",
        "mnemonic is abandon ",
        "abandon ability able ",
        "private key 0x",
    ),
    *("7ZK4-", "K" * 52 + " ", "0x" + "ab" * 32 + " ", "４１１１", "4111.1111.", "de89 ", "arn:aws:secret:", "x:0:0 "),
    *("M" + 23 * "a" + ".", "[secret:", "[secret:a]", "AKIA", "https://user:"),
)


def patterns(*, long: bool, match: Callable[[str, str], object] | None = None) -> Measured:
    """Measure the slowest of each on 64 KB by CPU time, and how it grows with the text."""
    rounds = 15 if long else 4
    by_pattern = [_slow(lambda n, p=p, c=c: (match or _decide)(p, _of(c, n)), rounds) for p, c in CHOKING]
    by_text = [_slow(lambda n, c=c: redact(_of(c, n)), rounds) for c in TEXTS]
    found = sum(bool(redact(_of(text, _SIZE)).found) for text in TEXTS)
    limit = _LIMIT_MS if long else _SHORT_LIMIT_MS
    late = sum(took > limit for took in (*by_pattern, *by_text))
    growth = _growth(lambda n: (match or _decide)("(.*a){12}", "a" * n), rounds)
    said = (
        f"{late} past {limit:.0f} ms; "
        f"{max(by_pattern):.1f} ms at most in a policy ({len(CHOKING)} patterns), "
        f"{max(by_text):.1f} ms in redaction ({len(TEXTS)} texts), at 64 KB; 4 × the text takes {growth:.1f} ×"
    )
    return Measured(said, late == 0 and found == 0 and growth < _SQUARE)


def _of(text: str, size: int) -> str:
    return (text * (size // len(text) + 1))[:size]


def _decide(pattern: str, text: str) -> object:
    return decide(ToolRequest(tool="t", args={"x": text + "!"}), rules(one("t", "deny", args_pattern=pattern)))


def _slow(work: Callable[[int], object], rounds: int) -> float:
    """Return the milliseconds of the fastest round: other load can only add to one."""
    return min(_seconds(work, _SIZE) for _ in range(rounds)) * 1000


def _growth(work: Callable[[int], object], rounds: int) -> float:
    return min(_seconds(work, _SIZE) for _ in range(rounds)) / min(_seconds(work, _SIZE // 4) for _ in range(rounds))


def _seconds(work: Callable[[int], object], size: int) -> float:
    began = time.thread_time()
    work(size)
    return time.thread_time() - began
