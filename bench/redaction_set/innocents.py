"""Innocent texts: what looks like a secret and is none, for the tuning and held out."""

import base64
import random
import string
import uuid
from collections.abc import Callable

from bench.redaction_set.values import ALNUM, B64, HEX, URL, run

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
_HELD_MADE: tuple[Maker, ...] = (
    lambda rng: f"git revert {run(rng, HEX, 12)} && git push # {run(rng, HEX, 40)}",
    lambda rng: (
        f'"resolved": "https://r.example.org/x-1.{rng.randrange(9)}.tgz", "integrity": "sha512-{run(rng, B64, 86)}=="'
    ),
    lambda rng: f"trace_id={run(rng, HEX, 32)} span_id={run(rng, HEX, 16)}",
    lambda rng: f"arn:aws:secretsmanager:eu-west-1:{run(rng, string.digits, 12)}:secret:prod/db-{run(rng, ALNUM, 6)}",
    lambda rng: f"key_id: {run(rng, HEX, 20)}, token_count: {rng.randrange(10**6)}",
    lambda rng: (
        f"parcel {run(rng, string.ascii_uppercase, 2)}{run(rng, string.digits, 9)}DE, invoice 2026-{rng.randrange(10**5):05}"
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
    lambda rng: (
        f"product key feature {rng.randrange(99)}: secret sauce v{rng.randrange(9)}.{rng.randrange(9)}.{rng.randrange(9)}"
    ),
)

_TUNED = """\
getent passwd: passwd:x:0:0:root:/root:/bin/bash
the password to be changed to something2remember
ftp://anonymous:guest@ftp.example.org/pub
the digits of e are 2718281828459045
the password is wrong, I tried it 3 times
I forgot my password again and had to reset it
password: str, token: str | None = None
def check_password(password: str, token: str) -> bool:
user = connect(host, password=settings.database.password)
api_key = os.environ['SERVICE_KEY']
DATABASE_URL=postgresql://app:${DB_PASSWORD}@db:5432/app
token = request.headers.get("Authorization")
if user.password == password_1:
password = getpass.getpass("Password: ")
the bearer of good news came at noon
Please enter your password below.
password must be at least 8 characters long
"password": "must contain at least 8 characters"
Das Passwort ist falsch, bitte noch einmal
Das Passwort wurde gestern geändert
le mot de passe est incorrect
la contraseña es incorrecta
la clave del éxito es la paciencia
a senha é secreta, claro
パスワードは秘密です
密码是错误的
пароль неверный
het wachtwoord is verlopen
hasło to tajemnica
use --password to give a password on the command line
the --token option takes the name of a file
mysql -p asks for the password
sshpass -p is unsafe, use keys
curl -u user https://example.com asks for the password
pass the salt, please
pass v2 of the schema to the parser
they pass 3 of 4 tests
the tests pass 100% of the time
we pass arg0 and arg1 to the child process
the api key is missing from the settings
the api key is stored in the vault called production-2024
the token is expired since 2026-01-02T10:00:00Z
the secret is to use enough butter
the secret for a good soup is time
the secret to happiness is low expectations
the key is under the mat
the key for the garden gate is with the neighbours
private key authentication is enabled on host17
my seed phrase is on paper in a safe place and nobody else has a copy of it anywhere near
a seed phrase has twelve or twenty-four common words that you write down and never store anywhere
recovery code: see the envelope in the drawer
4111 1111 1111 1112 fails the check
version 4.1.1.1 of 2026.11.16
DE89 is not an account
https://example.com:8080/a@b
https://unpkg.com/react@18.2.0/umd/react.production.min.js
mailto:ada@example.com?subject=password
-----BEGIN CERTIFICATE----- is how a certificate begins
a PEM file begins with -----BEGIN PRIVATE KEY----- on a line
ssh-rsa keys are longer than ed25519 keys
my_variable_name_with_a_long_identifier_2024
gh pr list --limit 50 --json number,title
sk-learn and key-value stores
the glpat prefix marks a GitLab token
tokens: ['the', 'cat', 'sat']
"token": "string", "required": true
secretKeyRef: {name: db, key: password}
Secret Service API v2 was released in 2019
PIN is wrong; after 3 tries it is locked
her pin number on the map is 12
passport number on page 2
compass: north by northwest 22
bypass=true&surpass=1
password hash: $2b$12$abcdefghijklmnopqrstuv
password: ********
password: <your password>
api_key: YOUR_API_KEY_HERE_1234
client_secret: changeme
AWS_SECRET_ACCESS_KEY=${AWS_SECRET_ACCESS_KEY}
TOKEN=$(cat /run/secrets/token)
secrets/token-2024-05.txt
token.type === 'identifier42'
the signing key is rotated every 90 days
license key: see the email of 2024-05-11
"""
_HELD = """\
Passwords should be changed every 90 days according to policy 4.2
our password policy: 12 characters, 1 digit, 1 sign
Forgot password? Click here: https://example.com/reset?step=2
label for="password1" class="form-control"
<input type="password" name="password2" id="password2">
assert token.startswith("Bearer ")
self.token = token or self._load_token()
const [password, setPassword] = useState('');
password = input('password for user2: ')
SELECT password_hash FROM users WHERE id = 42
GRANT SELECT ON secrets TO reader1;
kubectl get secret db-credentials-v2 -o yaml
valueFrom: secretKeyRef: name: app-secrets-2024
vault kv get secret/data/app/prod-2024
--password-file /run/secrets/db_password
--password-stdin < pass.txt
--token-file=/etc/token2
docker login -u ada --password-stdin
tar -pxzf archive-2024.tgz
mkdir -p /srv/data2/app
python -m pytest -p no:cacheprovider -x
ssh -p 2222 ada@host
cp -p a1.txt b2.txt
wget --user-agent=Mozilla/5.0 https://example.com
curl -u "$USER:$PASS" https://example.com
grep -u pattern:file2 src
Das Kennwort vergessen? Hier klicken
Passwort: siehe Brief vom 12.03.2024
Le mot de passe oublié en 2024
La clave está en la página 12
clave primaria: id_usuario2
Senha incorreta, tente novamente em 30 segundos
la password è scaduta da 30 giorni
het wachtwoord moet 8 tekens lang zijn
hasło musi mieć 8 znaków
lösenordet är fel
Пароль должен содержать 8 символов
パスワードを忘れた場合はこちら
パスワードは8文字以上にしてください
密码必须至少8位
비밀번호는 8자 이상이어야 합니다
the api key rotates on 2026-05-01 at noon
an api key has 32 characters and begins with sk
get an API key at https://example.com/account/keys?tab=2
the access token expires after 3600 seconds
token for the laundry machine is 2 euros
the secret of the pyramids was found in 1922 by accident
secret ballot on 2026-11-03, room B204
secret level 3-2 in world 4
top secret: operation overlord 1944
The token ring network ran at 16Mbit
a key for locker 17B is at the desk
key: value pairs are separated by commas
foreign key: fk_orders_customers_2
primary_key=customer_order_line_2024
the public key is published at keys.example.org since 2019
private key file: /home/ada/.ssh/id_ed25519
mnemonic device: every good boy deserves fudge always
the mnemonic for the planets: my very educated mother just served us noodles today while singing softly outside
seed words like tomato, basil and pepper go into the garden in spring
please pass me A4 paper
pass it on to team42
all 217 checks pass in 3.2s
boarding pass QR17-22B at gate 4
ski pass valid 2026-12-01
pw stands for password
PW Singer wrote LikeWar in 2018
pass: ok, fail: 0
pass=12 fail=3 skip=1
password manager of choice: KeePassXC 2.7
the password was changed yesterday at 10:30
my password is the same as yours
the password for the router is on the back of it
password to the wifi is written on the fridge
password as a service 2.0
the wifi password is "written on the fridge"
"password": "Enter your new password"
password: "Please repeat the password"
the pin is stuck in position 3
pin 13 of the ATmega328P drives the LED
card 3 of 12: the fool
the account 1234 5678 9012 3456 does not exist
Visa will not be required until 2027-01-01
room 4012, floor 40, line 8888 8888
dates 2026-11-16 2026-11-17 2026-11-18
1.2.3.4 and 10.0.0.1 and 192.168.178.22
3.14159265358979323846
sq0 is not sq1, and phc is a gas mask maker
dp.pt is a domain in Portugal
NRAK is an airport code in a game
a figd file is a drawing
patents.google.com/patent/US1234567
pattern.compile is slow
AQ. stands for air quality
1//0 raises ZeroDivisionError
re_compile_all_patterns_2024_05_01
csk-2024 final: CSK won by 5 wickets
pul-over and jina are words
Bearer bonds from 1998 were sold for 10000 euros
Basic training starts on 2026-02-01
authorization: basic access is enough for level 2
see otpauth://totp for the format of 2FA links
base64 of hello world is aGVsbG8gd29ybGQ=
echo VGhpcyBpcyBhIHBlcmZlY3RseSBvcmRpbmFyeSBzZW50ZW5jZS4= | base64 -d
a%20sentence%20that%20is%20percent-encoded%20as%20a%20whole%20and%20says%20nothing
C:\\Users\\ada\\AppData\\Local\\Temp\\token_cache_2024
/usr/lib/python3.11/site-packages/secrets/tokens_2024.py
git@github.com:ada/password-store.git
user:password@host is the form of a URL with a login
smtp://user:password@mail.example.com
https://example.com/oauth?response_type=token&state=xyz123
redirect_uri=https://app.example.com/cb&code_challenge_method=S256
X-Request-Id: 7b1c-44aa; X-Token-Remaining: 4999
credentials: include, mode: 'cors'
credential helper: osxkeychain-2.3
"keys": ["a1", "b2"], "token_ids": [101, 2023, 102]
The Secret Garden (1911), The Key (1956), Password (2020)
license_key_type = 'perpetual-2024-edition'
secret_name: prod-database-main-2024
TOKEN_LIFETIME_SECONDS=86400
token_url: https://auth.example.com/oauth2/token
max_password_age = 90d
passphrase strength: 77 bits
wallet address 1BoatSLRHtKNngkdXEeobR76b53LETtpyT
the recovery code has 33 letters and digits in groups of 4
SSID Casa-2G, channel 11, WPA2-PSK
flight LH1234 from FRA to JFK, seat 12A, PNR ABC123
Kundennummer 4711-0815, Aktenzeichen 12 O 345/24
IBAN: see invoice
VAT DE123456789, BIC COBADEFFXXX
"""


def innocents(*, held: bool, seed: int = 0) -> list[str]:
    """Texts without a secret."""
    rng = random.Random(f"innocent{held}{seed}")
    made = [make(rng) for make in (_HELD_MADE if held else _TUNED_MADE) for _ in range(_EACH)]
    return [*made, *(_HELD if held else _TUNED).splitlines()]
