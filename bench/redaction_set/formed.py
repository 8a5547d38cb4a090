"""Kinds of secrets whose own form gives them away, and the texts around them."""

import random
import string
from collections.abc import Callable

from bench.redaction_examples import ALNUM, AROUND, B64, FORMED, HEX, URL, run
from bench.redaction_set import values
from bench.redaction_set.values import UPPER

Maker = Callable[[random.Random], str]

#: What surrounds a secret in the texts that the patterns were tuned on.
TUNED = AROUND
#: Written before any pattern was changed; the patterns were not tuned on them.
HELD = (
    "| staging | {} | rotate in May |",
    "services:\n  api:\n    environment:\n      - UPSTREAM={}\n",
    '[remote]\nvalue = "{}"\n',
    "docker run -d -e UPSTREAM={} example/app:latest",
    "Kannst du bitte {} eintragen? Danke!",
    '<add key="Upstream" value="{}" />',
    'client = Client("{}", timeout=30)',
    "INSERT INTO settings VALUES (7, '{}');",
    "x-upstream: {}\r\nAccept: */*\r\n",
    "Traceback: ValueError: {} was refused [401]",
    "> {}\n\nthat one does not work any more",
    "{} <- this is what the console showed me",
)

#: Kinds that the first edition of the docs claimed, besides those of `redaction_examples`.
_CLAIMED: dict[str, Maker] = {
    "openrouter-key": lambda rng: f"sk-or-v1-{run(rng, HEX, 64)}",
    "google-oauth": lambda rng: rng.choice((f"ya29.a0{run(rng, URL, 60)}x", f"GOCSPX-{run(rng, ALNUM, 28)}")),
    "slack-webhook": lambda rng: (
        f"hooks.slack.com/services/T{run(rng, UPPER, 10)}/B{run(rng, UPPER, 10)}/{run(rng, ALNUM, 24)}"
    ),
    "discord-webhook": lambda rng: f"discord.com/api/webhooks/{run(rng, '123456789', 18)}/{run(rng, ALNUM, 68)}",
    "mailgun-key": lambda rng: f"key-{run(rng, HEX, 32)}",
    "mailchimp-key": lambda rng: f"{run(rng, HEX, 32)}-us{rng.randrange(1, 22)}",
    "docker-token": lambda rng: f"dckr_pat_{run(rng, ALNUM, 27)}",
    "digitalocean-token": lambda rng: f"do{rng.choice('opr')}_v1_{run(rng, HEX, 64)}",
    "shopify-token": lambda rng: f"shp{rng.choice(('at', 'ca', 'pa', 'ss'))}_{run(rng, HEX, 32)}",
    "databricks-token": lambda rng: f"dapi{run(rng, HEX, 32)}",
    "vault-token": lambda rng: f"hvs.{run(rng, ALNUM, 90)}",
    "linear-key": lambda rng: f"lin_api_{run(rng, ALNUM, 40)}",
    "notion-token": lambda rng: rng.choice((f"ntn_{run(rng, ALNUM, 46)}", f"secret_{run(rng, ALNUM, 43)}")),
    "groq-key": lambda rng: f"gsk_{run(rng, ALNUM, 52)}",
    "xai-key": lambda rng: f"xai-{run(rng, ALNUM, 80)}",
    "perplexity-key": lambda rng: f"pplx-{run(rng, ALNUM, 48)}",
    "replicate-token": lambda rng: f"r8_{run(rng, ALNUM, 37)}",
    "recollectum-key": lambda rng: f"rk_{run(rng, URL, 42)}x",
}

#: Vendors and forms that the list of an attacker's review names, and others of today.
_LISTED: dict[str, Maker] = {
    "recovery-code": values.recovery_code,
    "supabase-key": lambda rng: f"sb{rng.choice(('p_', '_secret_'))}{run(rng, HEX, 40)}",
    "square-token": lambda rng: rng.choice((f"sq0csp-{run(rng, URL, 42)}x", f"EAAA{run(rng, ALNUM, 60)}")),
    "doppler-token": lambda rng: f"dp.{rng.choice(('pt', 'st.prd', 'ct'))}.{run(rng, ALNUM, 43)}",
    "posthog-key": lambda rng: f"ph{rng.choice('cx')}_{run(rng, ALNUM, 43)}",
    "newrelic-key": lambda rng: f"NRAK-{run(rng, UPPER, 27)}",
    "grafana-token": lambda rng: rng.choice(
        (f"glc_eyJ{run(rng, ALNUM, 90)}=", f"glsa_{run(rng, ALNUM, 32)}_{run(rng, HEX, 8)}")
    ),
    "terraform-token": lambda rng: f"{run(rng, ALNUM, 14)}.atlasv1.{run(rng, ALNUM, 67)}",
    "atlassian-token": lambda rng: f"ATATT3xFfGF0{run(rng, URL, 170)}={run(rng, string.hexdigits[:16].upper(), 8)}",
    "figma-token": lambda rng: f"figd_{run(rng, URL, 39)}x",
    "airtable-token": lambda rng: f"pat{run(rng, ALNUM, 14)}.{run(rng, HEX, 64)}",
    "google-oauth 1//0": lambda rng: f"1//0{run(rng, URL, 99)}x",
    "google-api-key AQ.": lambda rng: f"AQ.Ab8RN6{run(rng, URL, 44)}x",
    "sentry-token": lambda rng: rng.choice(
        (f"sntrys_eyJ{run(rng, ALNUM, 90)}_{run(rng, B64, 43)}", f"sntryu_{run(rng, HEX, 64)}")
    ),
    "postman-key": lambda rng: f"PMAK-{run(rng, HEX, 24)}-{run(rng, HEX, 34)}",
    "azure-client-secret": values.azure_secret,
    "wif-key": values.wif,
    "private-key, indented and cut": values.cut_pem,
    "card with dots": lambda rng: values.card_in_fours(rng, "."),
    "card with no-break spaces": lambda rng: values.card_in_fours(rng, rng.choice("\u00a0\u202f\u2009")),
    "card in full width": lambda rng: values.full_width(
        values.card_in_fours(rng, rng.choice(("", " ", "\u3000", "-")))
    ),
    "iban in small letters": values.small_iban,
    "token after my_": lambda rng: (
        f"my_{FORMED[rng.choice(('github-token', 'npm-token', 'stripe-key', 'aws-access-key'))](rng)}"
    ),
    "token over two lines": values.split_token,
    "token, percent-encoded": values.percent_token,
    "token in base64": values.base64_token,
    "other vendors": lambda rng: rng.choice(_OTHERS)(rng),
}
_OTHERS: tuple[Maker, ...] = (
    lambda rng: f"nvapi-{run(rng, ALNUM, 64)}",
    lambda rng: f"tskey-auth-{run(rng, ALNUM, 17)}-{run(rng, ALNUM, 32)}",
    lambda rng: f"pul-{run(rng, HEX, 40)}",
    lambda rng: f"rubygems_{run(rng, HEX, 48)}",
    lambda rng: f"xkeysib-{run(rng, HEX, 64)}-{run(rng, ALNUM, 16)}",
    lambda rng: f"pcsk_{run(rng, ALNUM, 6)}_{run(rng, ALNUM, 63)}",
    lambda rng: f"lsv2_pt_{run(rng, HEX, 32)}_{run(rng, HEX, 10)}",
    lambda rng: f"dt0c01.{run(rng, UPPER, 24)}.{run(rng, UPPER, 64)}",
    lambda rng: f"ops_eyJ{run(rng, ALNUM, 250)}",
    lambda rng: f"tvly-dev-{run(rng, ALNUM, 32)}",
    lambda rng: f"csk-{run(rng, string.ascii_lowercase + string.digits, 48)}",
    lambda rng: (
        f"pat-na1-{run(rng, HEX, 8)}-{run(rng, HEX, 4)}-{run(rng, HEX, 4)}-{run(rng, HEX, 4)}-{run(rng, HEX, 12)}"
    ),
    lambda rng: f"re_{run(rng, ALNUM, 8)}_{run(rng, ALNUM, 24)}",
    lambda rng: f"LTAI5t{run(rng, ALNUM, 18)}",
    lambda rng: f"sl.u.{run(rng, URL, 120)}x",
    lambda rng: f"sk_{run(rng, HEX, 48)}",
    lambda rng: f"EAAB{run(rng, ALNUM, 180)}",
    lambda rng: f"fc-{run(rng, HEX, 32)}",
    lambda rng: f"fm2_{run(rng, B64, 120)}",
    lambda rng: f"lin_oauth_{run(rng, HEX, 64)}",
    lambda rng: f"jina_{run(rng, HEX, 32)}{run(rng, ALNUM, 32)}",
)

#: In code and in settings the names of these hide nothing; some cannot be in one line of a shell.
_MULTILINE = ("private-key, indented and cut", "token over two lines")
CLAIMED: dict[str, Maker] = {**FORMED, **_CLAIMED}
LISTED = _LISTED


def templates(kind: str, *, held: bool) -> tuple[str, ...]:
    """The texts to put a secret of this kind into."""
    texts = HELD if held else TUNED
    return tuple(one for one in texts if "\n" in one or one.startswith(("{}", "Kann"))) if kind in _MULTILINE else texts
