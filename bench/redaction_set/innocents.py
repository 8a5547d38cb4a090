"""Innocent texts: what looks like a secret and is none, for the tuning and held out."""

import base64
import random
import string
import uuid
from collections.abc import Callable
from pathlib import Path

from bench.redaction_examples import ALNUM, B64, HEX, URL, run

_FOLDER = Path(__file__).parent
Maker = Callable[[random.Random], str]
#: How many texts each pattern of a text makes.
_EACH = 5

_TUNED_MADE: tuple[Maker, ...] = (
    lambda rng: f"commit {run(rng, HEX, 40)} merged into main",
    lambda rng: f"sha256: {run(rng, HEX, 64)}  recollectum-0.1.0.tar.gz",
    lambda rng: f"request {uuid.UUID(int=rng.getrandbits(128))} took {rng.randrange(900)} ms",
    lambda rng: f'<script integrity="sha384-{base64.b64encode(rng.randbytes(48)).decode()}"></script>',
    lambda rng: f'<img src="data:image/png;base64,{run(rng, B64, 200)}=="/>',
    lambda rng: f"color: #{run(rng, HEX, 6)}; background: #{run(rng, HEX, 8)}",
    lambda rng: f"ISBN 978-3-16-{run(rng, string.digits, 6)}-{rng.randrange(10)}",
    lambda rng: f"order {rng.randrange(10**15, 10**16)} was shipped",
    lambda rng: (
        f"call +49 {rng.randrange(100, 999)} {rng.randrange(10**6, 10**7)} or +1 (555) 010-{rng.randrange(9999):04}"
    ),
    lambda rng: (
        f"{rng.randrange(1, 300)} Privet Drive, Little Whinging, postcode GU{rng.randrange(9)} {rng.randrange(9)}XX"
    ),
    lambda rng: f"ssh-ed25519 AAAA{run(rng, B64, 64)} ada@laptop",
    lambda rng: f"at {rng.randrange(10**12, 2 * 10**12)} ms, id {rng.randrange(10**15, 2 * 10**15)}",
    lambda rng: f"https://example.com/a/{run(rng, URL, 24)}?page={rng.randrange(90)}#token-{rng.randrange(90)}",
    lambda rng: f"docker pull example/app@sha256:{run(rng, HEX, 64)}",
    lambda rng: f'etag: W/"{run(rng, HEX, 32)}", md5 {run(rng, HEX, 32)}',
    lambda rng: f"tokens: {rng.randrange(10**5)} in, {rng.randrange(10**4)} out; max_tokens = {rng.randrange(4096)}",
    lambda rng: f"SECRET_SANTA_DATE=2026-12-{rng.randrange(10, 25)}T18:00:00Z",
    lambda rng: f"credential: aws-prod-readonly-{rng.randrange(2015, 2030)}",
    lambda rng: f"secret: projects/{rng.randrange(10**5, 10**6)}/secrets/db-pass/versions/{rng.randrange(9)}",
    lambda rng: f"mem_{run(rng, '0123456789abcdefghjkmnpqrstvwxyz', 26)} is the id of the memory",
)
_SEEN_MADE: tuple[Maker, ...] = (
    lambda rng: f"fingerprint of the private key: SHA256:{run(rng, B64, 43)}",
    lambda rng: f"git revert {run(rng, HEX, 12)} && git push # {run(rng, HEX, 40)}",
    lambda rng: (
        f'"resolved": "https://r.example.org/x-1.{rng.randrange(9)}.tgz", "integrity": "sha512-{run(rng, B64, 86)}=="'
    ),
    lambda rng: f"trace_id={run(rng, HEX, 32)} span_id={run(rng, HEX, 16)}",
    lambda rng: f"arn:aws:secretsmanager:eu-west-1:{run(rng, string.digits, 12)}:secret:prod/db-{run(rng, ALNUM, 6)}",
    lambda rng: f"key_id: {run(rng, HEX, 20)}, token_count: {rng.randrange(10**6)}",
    lambda rng: (
        f"parcel {run(rng, string.ascii_uppercase, 2)}{run(rng, string.digits, 9)}DE, invoice 26-{rng.randrange(10**5)}"
    ),
    lambda rng: f"GPS 52.{rng.randrange(10**6):06}, 13.{rng.randrange(10**6):06}; altitude {rng.randrange(90)} m",
    lambda rng: f"public key: 0x{run(rng, HEX, 64)}",
    lambda rng: f"tx 0x{run(rng, HEX, 64)} to 0x{run(rng, HEX, 40)} confirmed",
    lambda rng: f"curl -o file-{rng.randrange(99)}.json https://example.com:8443/x@{rng.randrange(9)}/y",
    lambda rng: f"mysql -h db{rng.randrange(9)} -u reader -p shop",
    lambda rng: f"the session key ses_{run(rng, '0123456789abcdefghjkmnpqrstvwxyz', 26)} names the conversation",
    lambda rng: f"password_updated_at: 2026-0{rng.randrange(1, 9)}-11T10:{rng.randrange(10, 59)}:00Z",
    lambda rng: f"font-face: url(data:font/woff2;base64,{run(rng, B64, 120)})",
    lambda rng: f"const tokenIndex{rng.randrange(9)} = tokens.findIndex((t) => t.id === id{rng.randrange(99)});",
    lambda rng: f"IMEI 35{run(rng, string.digits, 13)}, serial {run(rng, string.ascii_uppercase + string.digits, 12)}",
    lambda rng: f"bitcoin address bc1q{run(rng, '023456789acdefghjklmnpqrstuvwxyz', 38)}",
    lambda rng: f"product key feature {rng.randrange(99)}: secret sauce v{rng.randrange(9)}.0.{rng.randrange(9)}",
)


#: Written after the others had been looked at, and measured only.
_HELD_MADE: tuple[Maker, ...] = (
    lambda rng: f'ETag: "{run(rng, HEX, 16)}" | Last-Modified: Mon, 16 Nov 2026 06:{rng.randrange(10, 59)}:00 GMT',
    lambda rng: f"FROM example/base@sha256:{run(rng, HEX, 64)} AS build",
    lambda rng: f"pid {rng.randrange(99999)} at 0x{run(rng, HEX, 16)} in libcrypto.so.{rng.randrange(9)}",
    lambda rng: f"object key: uploads/2026/11/{uuid.UUID(int=rng.getrandbits(128))}.jpeg",
    lambda rng: f"the cache key {run(rng, HEX, 32)} was evicted",
    lambda rng: f"correlation-id={uuid.UUID(int=rng.getrandbits(128))};token-bucket={rng.randrange(99)}",
    lambda rng: f"bought 2 tickets, order number 4{run(rng, string.digits, 15)}",
    lambda rng: f"doi:10.{rng.randrange(1000, 9999)}/j.cell.2026.{rng.randrange(10, 12)}.{rng.randrange(100, 999)}",
    lambda rng: f"{rng.randrange(10**9, 10**10)}@example.com wrote about the passphrase on {rng.randrange(1, 28)} May",
    lambda rng: f"Zählerstand {rng.randrange(10**5, 10**6)} kWh, Passwort siehe Umschlag {rng.randrange(99)}",
    lambda rng: f"migration_{rng.randrange(10**13, 10**14)}_add_token_hash_to_users.rb",
    lambda rng: f"https://cdn.example.net/app.{run(rng, HEX, 20)}.min.js?v={rng.randrange(99)}",
    lambda rng: f"git diff {run(rng, HEX, 7)}..{run(rng, HEX, 7)} -- src/secrets/tokens.py",
)


def innocents(*, held: bool, seed: int = 0) -> list[str]:
    """Texts without a secret."""
    rng = random.Random(f"innocent{held}{seed}")
    makers = _HELD_MADE if held else (*_TUNED_MADE, *_SEEN_MADE)
    lines = (_FOLDER / f"innocents_{'held' if held else 'tuned'}.txt").read_text(encoding="utf-8").splitlines()
    return [*(make(rng) for make in makers for _ in range(_EACH)), *lines]
