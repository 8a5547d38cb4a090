"""Makes up secrets of each kind from a seed; none of them is anybody's."""

import base64
import hashlib
import random
import string

from bench.redaction_examples import ALNUM, B64, FORMED, HEX, URL, mixed, run
from recollectum.home.keys.recovery import read_code
from recollectum.text.secrets.account_numbers import passes_luhn

UPPER = string.ascii_uppercase + string.digits
_CROCKFORD = "0123456789ABCDEFGHJKMNPQRSTVWXYZ"
_BASE58 = "123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz"
#: Some words of the list from which seed phrases are drawn.
_SEED_LIST = (
    "abandon ability achieve acoustic actress adjust advance afraid agent alarm amateur anchor animal apple "
    "arctic armor artist aspect athlete august banana barrel basket battle beauty bicycle blanket blossom bottom "
    "bracket bridge bronze bubble cabbage cactus camera canyon carbon castle celery cereal cherry circle clinic "
    "cloth coconut copper cradle cricket crystal dawn debris decade denial desert dolphin donkey drama eagle "
    "echo elbow ember engine envelope fabric falcon fiction flavor forest fossil galaxy garlic glory guitar "
    "hammer harvest hockey hybrid icon insect island jacket jungle kidney kitchen ladder lemon lobster magnet "
    "mango maple meadow mirror muffin napkin nature ocean olive orbit oxygen paddle panther pepper pilot potato "
    "quantum rabbit raven ribbon salmon satoshi shadow spider sunset tackle thunder tomato tunnel umbrella "
    "vacuum velvet violin walnut whale window yellow zebra zone"
)
_SEED_WORDS = _SEED_LIST.split()


def password(rng: random.Random) -> str:
    """What people choose: a word with a sign and digits, a short mix, or words with digits between."""
    word = run(rng, string.ascii_lowercase, rng.randint(5, 8))
    return rng.choice(
        (
            f"{word.title()}{rng.choice('!@#-_')}{rng.randrange(10, 9999)}",
            f"{word}{rng.randrange(10, 9999)}{rng.choice('!#*')}",
            mixed(rng, ALNUM, rng.randint(8, 14)),
            f"{rng.choice(_SEED_WORDS)}-{rng.randrange(100, 999)}-{rng.choice(_SEED_WORDS)}",
        )
    )


def api_key(rng: random.Random) -> str:
    """A key without a form: hex, letters and digits, or base64."""
    return mixed(rng, rng.choice((HEX, ALNUM, ALNUM, URL)), rng.choice((20, 24, 32, 40, 48)))


def spaced_password(rng: random.Random) -> str:
    """Words with spaces between, some with a digit."""
    words = rng.sample(_SEED_WORDS, 4)
    return " ".join(words) if rng.random() < 0.5 else f"{words[0]} {words[1]} {rng.randrange(10, 999)}"


def seed_phrase(rng: random.Random) -> str:
    """Twelve to twenty-four words."""
    return " ".join(rng.choice(_SEED_WORDS) for _ in range(rng.choice((12, 15, 18, 21, 24))))


def recovery_code(rng: random.Random) -> str:
    """A code of ours: 32 characters in fours and a check character."""
    while True:
        body = run(rng, _CROCKFORD, 32)
        number = int("".join(f"{_CROCKFORD.index(char):05b}" for char in body), 2) % 37
        if number < len(_CROCKFORD):
            break
    code = "-".join([*(body[at : at + 4] for at in range(0, 32, 4)), _CROCKFORD[number]])
    read_code(code)
    return code if rng.random() < 0.8 else code.lower()


def wif(rng: random.Random) -> str:
    """A Bitcoin key in the wallet import format, with its checksum."""
    raw = b"\x80" + rng.randbytes(32) + rng.choice((b"", b"\x01"))
    raw += hashlib.sha256(hashlib.sha256(raw).digest()).digest()[:4]
    number, text = int.from_bytes(raw, "big"), ""
    while number:
        number, rest = divmod(number, 58)
        text = _BASE58[rest] + text
    return text


def card(rng: random.Random) -> str:
    """Sixteen digits that Luhn's sum accepts."""
    head = rng.choice(("4", "51", "55", "2221", "6011"))
    body = head + run(rng, string.digits, 15 - len(head))
    return next(body + last for last in string.digits if passes_luhn(body + last))


def card_in_fours(rng: random.Random, gap: str) -> str:
    """The same in fours with something between."""
    digits = card(rng)
    return gap.join(digits[at : at + 4] for at in range(0, 16, 4))


def full_width(text: str) -> str:
    """The same digits as a Japanese keyboard writes them."""
    return text.translate({ord(digit): ord(digit) + 0xFEE0 for digit in string.digits})


def small_iban(rng: random.Random) -> str:
    """An account in small letters, in one piece or in fours."""
    return FORMED["iban"](rng).lower()


def cut_pem(rng: random.Random) -> str:
    """A private key that is indented and whose end is missing."""
    room = " " * rng.choice((2, 4, 6, 8))
    label = rng.choice(("RSA PRIVATE KEY", "PRIVATE KEY", "OPENSSH PRIVATE KEY", "EC PRIVATE KEY"))
    lines = [f"-----BEGIN {label}-----", *(run(rng, B64, 64) for _ in range(rng.randint(2, 6)))]
    return f"\n{room}".join(lines)


def azure_secret(rng: random.Random) -> str:
    """A client secret of Entra, with its `Q~`."""
    return f"{run(rng, ALNUM, 3)}{rng.choice('78')}Q~{run(rng, f'{ALNUM}_~.-', 33)}{rng.choice(ALNUM)}"


def sas_signature(rng: random.Random) -> str:
    """The signature of a shared access link, percent-encoded."""
    return base64.b64encode(rng.randbytes(32)).decode().replace("+", "%2B").replace("/", "%2F").replace("=", "%3D")


def split_token(rng: random.Random) -> str:
    """A token that a terminal or a mail has broken over two lines."""
    token = FORMED[rng.choice(("github-token", "google-api-key", "npm-token", "huggingface-token"))](rng)
    at = rng.randint(10, len(token) - 10)
    return f"{token[:at]}\n{rng.choice(('', '', '  ', '> '))}{token[at:]}"


def percent_token(rng: random.Random) -> str:
    """A token as a form or a link carries it, with its signs percent-encoded."""
    kind = rng.choice(("github-token", "gitlab-token", "npm-token", "slack-token", "huggingface-token"))
    return FORMED[kind](rng).replace("_", "%5F").replace("-", "%2D")


def base64_token(rng: random.Random) -> str:
    """A token in base64, alone or with its name before it."""
    token = FORMED[rng.choice(("github-token", "google-api-key", "npm-token", "slack-token"))](rng)
    return base64.b64encode(f"{rng.choice(('', 'token=', 'user:'))}{token}".encode()).decode()
