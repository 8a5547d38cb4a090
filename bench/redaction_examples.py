"""Generates secrets of every kind in varied contexts, and ordinary lines without secrets."""

import base64
import json
import random
import string
import uuid
from collections.abc import Callable

from recollectum.text.secrets.account_numbers import passes_luhn

ALNUM = string.ascii_letters + string.digits
URL = ALNUM + "-_"
B64 = ALNUM + "+/"
HEX = "0123456789abcdef"

#: Texts around a secret.
AROUND = (
    "{}",
    "here is the key: {}",
    "my key is {}, please use it.",
    "KEY={}",
    "export SERVICE_KEY='{}'",
    'config = {{"value": "{}"}}',
    "I pasted it ({}) by mistake!",
    "curl https://api.example.com/v1/items -H 'X-Auth: {}'",
    "first line\n{}\nlast line",
    "use `{}` for now",
    "log 2024-05-01T10:00:00Z level=info got {} from env",
    '{{"text": "done\\n{}\\n"}}',
)
_NAMED = (
    "{name}={value}",
    "{name} = '{value}'",
    'const {name} = "{value}";',
    "{name}: {value}",
    '{{"{name}": "{value}", "retries": 3}}',
    "please set {name}={value} in the .env file",
)


def run(rng: random.Random, alphabet: str, length: int) -> str:
    """Return so many characters of an alphabet."""
    return "".join(rng.choice(alphabet) for _ in range(length))


def mixed(rng: random.Random, alphabet: str, length: int) -> str:
    """Return a text with a lower-case letter, a capital and a digit in it."""
    body = run(rng, alphabet, length - 3) + rng.choice(string.ascii_lowercase)
    return body + rng.choice(string.ascii_uppercase) + rng.choice(string.digits)


def _jwt(rng: random.Random) -> str:
    parts = ({"alg": "HS256", "typ": "JWT"}, {"sub": run(rng, HEX, 12), "iat": rng.randrange(10**9)})
    coded = [base64.urlsafe_b64encode(json.dumps(part).encode()).decode().rstrip("=") for part in parts]
    return ".".join([*coded, run(rng, URL, 43)])


def _pem(rng: random.Random, label: str) -> str:
    lines = "\n".join(run(rng, B64, 64) for _ in range(rng.randint(3, 12)))
    return f"-----BEGIN {label}-----\n{lines}\n-----END {label}-----"


def _card(rng: random.Random) -> str:
    head, length = rng.choice((("4", 16), ("51", 16), ("55", 16), ("2221", 16), ("34", 15), ("37", 15), ("6011", 16)))
    body = head + run(rng, string.digits, length - len(head) - 1)
    digits = next(body + last for last in string.digits if passes_luhn(body + last))
    if length == 15:
        return rng.choice((digits, f"{digits[:4]} {digits[4:10]} {digits[10:]}"))
    gap = rng.choice(("", " ", "-"))
    return gap.join(digits[at : at + 4] for at in range(0, length, 4))


def _iban(rng: random.Random) -> str:
    country, length = rng.choice((("DE", 22), ("GB", 22), ("NL", 18), ("FR", 27)))
    bank = "" if country in ("DE", "FR") else run(rng, string.ascii_uppercase, 4)
    body = bank + run(rng, string.digits, length - 4 - len(bank))
    check = 98 - int("".join(str(int(char, 36)) for char in f"{body}{country}00")) % 97
    whole = f"{country}{check:02}{body}"
    return whole if rng.random() < 0.5 else " ".join(whole[at : at + 4] for at in range(0, length, 4))


#: The kinds that their own form reveals.
FORMED: dict[str, Callable[[random.Random], str]] = {
    "aws-access-key": lambda rng: rng.choice(("AKIA", "ASIA")) + run(rng, string.ascii_uppercase + "234567", 16),
    "github-token": lambda rng: rng.choice(
        (
            f"gh{rng.choice('pousr')}_{run(rng, ALNUM, 36)}",
            f"github_pat_{run(rng, ALNUM, 22)}_{run(rng, ALNUM, 59)}",
        )
    ),
    "gitlab-token": lambda rng: f"glpat-{run(rng, ALNUM, 20)}",
    "openai-key": lambda rng: rng.choice((f"sk-proj-{run(rng, URL, 120)}x", f"sk-{run(rng, ALNUM, 48)}")),
    "anthropic-key": lambda rng: f"sk-ant-api03-{run(rng, URL, 93)}AA",
    "google-api-key": lambda rng: f"AIza{run(rng, ALNUM, 35)}",
    "slack-token": lambda rng: (
        f"xox{rng.choice('bp')}-{run(rng, string.digits, 12)}-{run(rng, string.digits, 12)}-{run(rng, ALNUM, 24)}"
    ),
    "stripe-key": lambda rng: f"{rng.choice(('sk', 'rk'))}_{rng.choice(('live', 'test'))}_{run(rng, ALNUM, 24)}",
    "jwt": _jwt,
    "private-key": lambda rng: _pem(rng, rng.choice(("RSA PRIVATE KEY", "EC PRIVATE KEY", "PRIVATE KEY"))),
    "ssh-key": lambda rng: _pem(rng, "OPENSSH PRIVATE KEY"),
    "pgp-key": lambda rng: _pem(rng, "PGP PRIVATE KEY BLOCK"),
    "age-key": lambda rng: f"AGE-SECRET-KEY-1{run(rng, 'QPZRY9X8GF2TVDW0S3JN54KHCE6MUA7L', 58)}",
    "npm-token": lambda rng: f"npm_{run(rng, ALNUM, 36)}",
    "pypi-token": lambda rng: f"pypi-AgEIcHlwaS5vcmc{run(rng, URL, 150)}x",
    "telegram-token": lambda rng: f"{rng.randrange(10**9, 10**10)}:AA{run(rng, ALNUM, 33)}",
    "sendgrid-key": lambda rng: f"SG.{run(rng, URL, 22)}.{run(rng, URL, 42)}x",
    "twilio-key": lambda rng: f"SK{run(rng, HEX, 32)}",
    "huggingface-token": lambda rng: f"hf_{run(rng, ALNUM, 34)}",
    "discord-token": lambda rng: f"M{run(rng, ALNUM, 23)}.{run(rng, ALNUM, 6)}.{run(rng, ALNUM, 38)}",
    "credit-card": _card,
    "iban": _iban,
}


def _url(rng: random.Random) -> tuple[str, str]:
    value = run(rng, ALNUM + "!$._~-", 14) + rng.choice(ALNUM)
    scheme = rng.choice(("postgresql", "https", "mongodb+srv", "redis", "amqp"))
    user = rng.choice(("ada", "svc_user", ""))
    if value[0] in "$%*<{":
        value = "a" + value
    return f"{scheme}://{user}:{value}@db.example.com:5432/app", value


def _bearer(rng: random.Random) -> tuple[str, str]:
    value = mixed(rng, URL, rng.randint(24, 64))
    return rng.choice(
        ("Authorization: Bearer {}", '"authorization": "Bearer {}"', "-H 'authorization: bearer {}'")
    ).format(value), value


def _password(rng: random.Random) -> tuple[str, str]:
    value = run(rng, string.ascii_lowercase, 6) + rng.choice("!@#-_") + run(rng, string.digits, 3)
    if rng.random() < 0.4:
        form = rng.choice(("my password is {}", "The wifi password is {}.", "the password for the router was {}"))
        return form.format(value), value
    name = rng.choice(("password", "DB_PASSWORD", "passwd", "db_pwd", "userPassword", "passphrase"))
    return rng.choice(_NAMED).format(name=name, value=value), value


def _api_key(rng: random.Random) -> tuple[str, str]:
    value = mixed(rng, rng.choice((HEX, ALNUM)), rng.choice((24, 32, 40)))
    name = rng.choice(("api_key", "API_KEY", "apiKey", "client_secret", "access_token", "auth-token", "SECRET_KEY"))
    return rng.choice(_NAMED).format(name=name, value=value), value


def _aws(rng: random.Random) -> tuple[str, str]:
    value = mixed(rng, B64, 40)
    name = rng.choice(("aws_secret_access_key", "AWS_SECRET_ACCESS_KEY", "aws.secretAccessKey"))
    return rng.choice(_NAMED).format(name=name, value=value), value


#: The kinds that only their context reveals.
NAMED: dict[str, Callable[[random.Random], tuple[str, str]]] = {
    "aws-secret-key": _aws,
    "url-password": _url,
    "bearer-token": _bearer,
    "password": _password,
    "api-key": _api_key,
}


def examples(kind: str, count: int, seed: int = 0) -> list[tuple[str, str]]:
    """Return texts with one secret of the kind each, and the secret."""
    rng = random.Random(f"{kind}{seed}")
    if kind in NAMED:
        return [_embedded(rng, NAMED[kind](rng)) for _ in range(count)]
    values = [FORMED[kind](rng) for _ in range(count)]
    return [(AROUND[number % len(AROUND)].format(value), value) for number, value in enumerate(values)]


def _embedded(rng: random.Random, made: tuple[str, str]) -> tuple[str, str]:
    text, value = made
    return rng.choice(("{}", "see below\n{}\nthanks", "ok, {}")).replace("{}", text), value


_TALK = (
    "the a my your password token secret key basil garden tomorrow meeting train Berlin doctor please remember that we "
    "should move again because it was late reset forgot about pass passed author keynote monkey pins bearer of news sk "
    "learn session context order number invoice flight gate room 2024 17 3.14 $40 recipe blue bicycle tickets Friday"
)
_WORDS = _TALK.split()

_ODD: tuple[Callable[[random.Random], str], ...] = (
    lambda rng: f"commit {run(rng, HEX, 40)} merged into main",
    lambda rng: f"sha256: {run(rng, HEX, 64)}  recollectum-0.1.0.tar.gz",
    lambda rng: f"request id {uuid.UUID(int=rng.getrandbits(128))} took {rng.randrange(900)} ms",
    lambda rng: f'<img src="data:image/png;base64,{run(rng, B64, 200)}=="/>',
    lambda rng: f"def check_password(password: str, token: str | None = None) -> bool:  # line {rng.randrange(900)}",
    lambda rng: f"user = connect(host, password=settings.database.password, timeout={rng.randrange(90)})",
    lambda rng: f"api_key = os.environ['SERVICE_{rng.randrange(90)}_KEY']",
    lambda rng: f"the password is wrong, I tried it {rng.randrange(9)} times",
    lambda rng: f"tokens: {rng.randrange(10**5)} in, {rng.randrange(10**4)} out; max_tokens = {rng.randrange(4096)}",
    lambda rng: f"order {rng.randrange(10**11, 10**12)} shipped, tracking 1Z{run(rng, string.digits, 16)}",
    lambda rng: (
        f"call +49 {rng.randrange(100, 999)} {rng.randrange(10**6, 10**7)} or +44 20 7946 0{rng.randrange(999):03}"
    ),
    lambda rng: f"https://example.com/a/{run(rng, URL, 24)}?page={rng.randrange(90)}#token-{rng.randrange(90)}",
    lambda rng: f"ssh-ed25519 AAAA{run(rng, B64, 64)} ada@laptop",
    lambda rng: f"at {rng.randrange(10**12, 2 * 10**12)} ms, id {rng.randrange(10**15, 2 * 10**15)}",
    lambda rng: f"npm install sk-learn-extras@{rng.randrange(9)}.0.{rng.randrange(9)} # the key-value store",
    lambda rng: f"DATABASE_URL=postgresql://app:${{DB_PASSWORD}}@db:{rng.randrange(1024, 9999)}/app",
)


def ordinary_lines(count: int, seed: int = 0) -> list[str]:
    """Return lines without a secret: talk that mentions them, code, digests, ids, pictures, prices and addresses."""
    rng = random.Random(seed)
    made: list[str] = []
    for number in range(count):
        if number % 4:
            made.append(" ".join(rng.choice(_WORDS) for _ in range(rng.randint(5, 40))) + rng.choice(".?!"))
        else:
            made.append(_ODD[number // 4 % len(_ODD)](rng))
    return made
