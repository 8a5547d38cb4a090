"""Kinds of secrets that only their surroundings give away, each with its texts: those tuned on, and those held out."""

import base64
import random
from collections.abc import Callable
from dataclasses import dataclass

from bench.redaction_examples import ALNUM, B64, HEX, NAMED, mixed, run
from bench.redaction_set import values


@dataclass(frozen=True, slots=True)
class Told:
    """How a value of this kind is made, and the texts around it."""

    make: Callable[[random.Random], str]
    tuned: tuple[str, ...]
    held: tuple[str, ...]


def _awkward(signs: str) -> Callable[[random.Random], str]:
    """A password with one of these signs in its middle."""
    return lambda rng: f"{run(rng, ALNUM, 5)}{rng.choice(signs)}{mixed(rng, ALNUM, 6)}"


def _basic(rng: random.Random) -> str:
    return base64.b64encode(f"ada:{values.password(rng)}".encode()).decode()


_HEX_KEY = Told(
    lambda rng: f"{rng.choice(('0x', '0x', ''))}{run(rng, HEX, 64)}",
    ("my private key is {}", "private key: {}", "PRIVATE_KEY={}", "Private Key {}", "the wallet's private key ({})"),
    (
        'accounts: ["{}"] // private key of the deployer',
        "Private key (do not share): {}",
        "I exported the private key from MetaMask: {}",
        "--private-key {}",
        "privateKey: '{}',",
    ),
)

#: What the docs claim from the beginning: names and signs before a value.
CLAIMED: dict[str, Told] = {
    "password": Told(
        values.password,
        (
            "my password is {}",
            "The wifi password is {}.",
            "DB_PASSWORD={}",
            'const userPassword = "{}";',
            '{{"password": "{}", "retries": 3}}',
            "passphrase: {}",
            "the password for the router was {}",
            "I changed the password to {}",
            "ALTER USER ada WITH PASSWORD '{}';",
        ),
        (
            "admin_password: {}\nadmin_user: root",
            "my password is now {}, don't tell anyone",
            "<password>{}</password>",
            "spring.datasource.password={}",
            "Password : {}",
            "os.environ['PGPASSWORD'] = '{}'",
            "user: ada, password: {}",
        ),
    ),
    "api-key": Told(
        values.api_key,
        (
            "api_key={}",
            "API_KEY = '{}'",
            'const apiKey = "{}";',
            "client_secret: {}",
            '{{"access_token": "{}"}}',
            "please set SECRET_KEY={} in the .env file",
        ),
        (
            "x-api-key: {}",
            "app.config['SECRET_KEY'] = '{}'",
            "https://api.example.com/v1/rates?api_key={}&base=EUR",
            "  authToken: {}",
            "client_secret='{}',",
            "API-Key: {}",
        ),
    ),
    "aws-secret-key": Told(
        lambda rng: mixed(rng, B64, 40),
        ("aws_secret_access_key={}", "AWS_SECRET_ACCESS_KEY = '{}'", 'aws.secretAccessKey: "{}"'),
        (
            "export AWS_SECRET_ACCESS_KEY={}",
            '"SecretAccessKey": "{}", "region": "aws-global"',
            "aws_secret_access_key = {}",
        ),
    ),
    "url-password": Told(
        lambda rng: mixed(rng, f"{ALNUM}!._~-", 14),
        (
            "postgresql://app:{}@db.example.com:5432/app",
            "redis://:{}@cache:6379/0",
            "https://ada:{}@git.example.com/x.git",
        ),
        (
            "DATABASE_URL=mysql://root:{}@127.0.0.1/shop",
            "amqps://svc:{}@mq.example.org/%2f",
            "git clone https://ada:{}@code.example.net/a/b",
        ),
    ),
    "bearer-token": Told(
        lambda rng: mixed(rng, f"{ALNUM}-_", rng.randint(24, 64)),
        ("Authorization: Bearer {}", '"authorization": "Bearer {}"', "-H 'authorization: bearer {}'"),
        (
            "headers={{'Authorization': 'Bearer {}'}}",
            "set the header to Bearer {} and retry",
            "AUTHORIZATION=Bearer {}",
        ),
    ),
    "basic-auth": Told(
        _basic,
        ("Authorization: Basic {}", '"authorization": "Basic {}"'),
        ("-H 'Authorization: Basic {}'", "proxy-authorization: basic {}", "headers = {{'Authorization': 'Basic {}'}}"),
    ),
    "otp-secret": Told(
        lambda rng: run(rng, "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567", 32),
        ("otpauth://totp/Example:ada?secret={}&issuer=Example", "otpauth://totp/x?issuer=Y&secret={}"),
        (
            "scan otpauth://hotp/ACME:bo@example.org?algorithm=SHA1&digits=6&secret={} now",
            '"otpauth://totp/a?secret={}"',
        ),
    ),
    "azure-key": Told(
        lambda rng: base64.b64encode(rng.randbytes(64)).decode(),
        ("AccountName=x;AccountKey={};EndpointSuffix=core.windows.net", "SharedAccessKey={}"),
        (
            "Endpoint=sb://x.servicebus.windows.net/;SharedAccessKeyName=Root;SharedAccessKey={}",
            'AZURE="DefaultEndpointsProtocol=https;AccountKey={}"',
        ),
    ),
}

#: What an attacker's review found missing.
LISTED: dict[str, Told] = {
    "curl -u": Told(
        values.password,
        (
            "curl -u ada:{} https://example.com",
            "curl -s --user 'ada:{}' https://example.com/x",
            "curl -u admin:{} -X POST x",
        ),
        (
            '$ curl --silent -o out.json -u "svc_user:{}" https://api.example.org',
            "I ran curl -uada:{} https://example.com and got a 401",
            "wget --user=ada --password={} https://example.com/f.zip",
            "curl -x http://proxy:3128 --proxy-user ada:{} https://example.com",
        ),
    ),
    "--password X": Told(
        values.password,
        ("mysql --user root --password {}", "tool login --password '{}' --user ada", "run --db-password {} --port 1"),
        (
            "az login --username ada@example.com --password {}",
            'docker login --username ada --password "{}" registry.example.com',
            "pg_restore --passwd {} dump.tar",
            "vpnctl up --passphrase {}",
        ),
    ),
    "-pX": Told(
        values.password,
        (
            "mysql -u root -p{} shop",
            "mysqldump -h db -uroot -p{} shop > x.sql",
            "docker login -u ada -p {} example.com",
        ),
        (
            "mariadb -uada -p'{}' -e 'select 1'",
            "7z x backup.7z -p{} -oout",
            "mysqladmin -p{} status",
            "redis-cli -h cache -a {} ping",
        ),
    ),
    "sshpass -p": Told(
        values.password,
        ("sshpass -p {} ssh ada@host", "sshpass -p '{}' scp a b:", "sshpass -p{} ssh host"),
        ('rsync -e "sshpass -p {} ssh -p 2222" a b:', 'run: sshpass -p "{}" ssh -o X=no ada@10.0.0.4 uptime'),
    ),
    "--token X": Told(
        values.api_key,
        ("gh auth login --token {}", "deploy --api-key {} --env prod", "tool --auth-token '{}' sync"),
        (
            "vercel --token {} --prod",
            'influx write --token "{}" -b x',
            "app --client-secret {}",
            "npx thing --apikey {}",
        ),
    ),
    "the api key is X": Told(
        values.api_key,
        (
            "the api key is {}",
            "here is the api key {}",
            "API key for Stripe: {}",
            "our API key is {}, keep it safe",
            "the key for the weather API is {}",
        ),
        (
            "I got an API key from them: {}",
            "Use this api key: {}",
            "The new API key you asked for is {}.",
            "my access key is {}",
            "api key = {}",
        ),
    ),
    "my auth token is X": Told(
        values.api_key,
        ("my Twilio auth token is {}", "the access token is {}", "token for the CI is {}", "the bot's token: {}"),
        (
            "Your authentication token is {}",
            "The refresh token was {}, I think.",
            "here's my token {}",
            "the token I use on staging is {}",
            "Session token -> {}",
        ),
    ),
    "the secret for … is X": Told(
        values.api_key,
        ("the secret for the webhook is {}", "client secret is {}", "the secret is {}", "signing secret: {}"),
        (
            "the secret of our OAuth app is {}",
            "webhook secret for staging - {}",
            "The shared secret will be {}.",
            "here is the client secret {}",
        ),
    ),
    "password for the router: X": Told(
        values.password,
        ("password for the router: {}", "The password to the wifi: {}", "password of the NAS = {}"),
        ("Password for guest network: {}", "passcode for the front door: {}", "the password on the old laptop - {}"),
    ),
    "pw:": Told(
        values.password,
        ("user: ada pw: {}", "pw: {}", "login ada / pw {}", "PW={}", "SMTP_PASS={}"),
        ("ada@example.com, pw: {}", "wifi pw is {}", "uid=ada;pw={};", "PASS: {}", 'db_pass = "{}"'),
    ),
    "pass X": Told(
        lambda rng: f"{values.run(rng, ALNUM[:26], 5).title()}{rng.choice('!@#')}{rng.randrange(100, 999)}",
        ("log in as ada pass {}", "user root, pass {}", "login: ada pass: {}", "the pass is {}"),
        ("ssh root@box with pass {}", "ada / pass {} should work", "wifi is Casa, password {}", "pass = {}"),
    ),
    "a quoted password with a space": Told(
        values.spaced_password,
        ('password: "{}"', 'the password is "{}"', "password = '{}'", 'my passphrase is "{}".'),
        (
            '{{"user": "ada", "password": "{}"}}',
            "DB_PASSWORD='{}'",
            'The wifi password is "{}", capital or not',
            'passphrase="{}"',
        ),
    ),
    "German": Told(
        values.password,
        ("Das Passwort lautet {}", "mein Passwort ist {}", "Passwort: {}", "Das Kennwort für den Router ist {}."),
        (
            "Das neue Passwort heißt jetzt {}",
            "WLAN-Kennwort: {}",
            "Das Passwort vom NAS war {}",
            "Zugangscode lautet {}",
        ),
    ),
    "French": Told(
        values.password,
        ("le mot de passe est {}", "mot de passe : {}", "mon mot de passe du wifi est {}"),
        ("Le mot de passe de la base, c'est {}", "Mot de passe = {}", "le nouveau mot de passe sera {}"),
    ),
    "Spanish": Told(
        values.password,
        ("la contraseña es {}", "contraseña: {}", "mi clave es {}", "la contraseña del wifi es {}"),
        ("La nueva contraseña será {}", "contrasena: {}", "la clave del router es {}"),
    ),
    "Portuguese and Italian": Told(
        values.password,
        ("a senha é {}", "senha: {}", "la password è {}", "la password del router è {}"),
        ("minha senha do wifi é {}", "palavra-passe: {}", "La mia password: {}", "la nuova password sarà {}"),
    ),
    "Dutch, Polish, Swedish, Turkish": Told(
        values.password,
        ("het wachtwoord is {}", "hasło to {}", "lösenordet är {}", "şifre: {}"),
        ("wachtwoord van de router: {}", "hasło: {}", "mitt lösenord är {}", "wifi şifresi {}", "parola: {}"),
    ),
    "Russian": Told(
        values.password,
        ("пароль: {}", "мой пароль {}", "пароль от вайфая — {}"),
        ("Пароль от базы: {}", "новый пароль это {}", "пароль = {}"),
    ),
    "Japanese": Told(
        values.password,
        ("パスワードは{}です", "パスワード：{}", "パスワードは {} です。"),
        ("WiFiのパスワードは「{}」です", "新しいパスワード: {}", "暗証番号は {} です"),
    ),
    "Chinese and Korean": Told(
        values.password,
        ("密码是{}", "密码：{}", "비밀번호는 {} 입니다", "密碼: {}"),
        ("WiFi密码是 {}", "我的密码为{}", "비밀번호: {}"),
    ),
    "Azure client secret in talk": Told(
        values.azure_secret,
        ("our Azure client secret is {}", "the app secret ({}) expires in May"),
        ("Entra gave me {} as the value", "AZURE: {} (valid for two years)", "value {} / id 7f"),
    ),
    "SAS sig=": Told(
        values.sas_signature,
        (
            "https://x.blob.core.windows.net/c/f?sv=2023-01-03&se=2026-01-01&sr=b&sp=r&sig={}",
            "?sv=2022&sig={}&se=2026",
        ),
        (
            "SharedAccessSignature=sv=2021-06-08&ss=b&sig={}",
            "upload to https://y.blob.core.windows.net/z?sp=rw&sig={}&spr=https",
        ),
    ),
    "url-password with @": Told(
        _awkward("@"),
        ("postgres://ada:{}@db.example.com/app", "redis://:{}@localhost:6379"),
        ("mysql://root:{}@127.0.0.1:3306/shop", "ftp://ada:{}@files.example.org/x?y=a@b"),
    ),
    "url-password with /": Told(
        _awkward("/"),
        ("postgres://ada:{}@db.example.com/app", "redis://:{}@localhost:6379"),
        ("mysql://root:{}@127.0.0.1:3306/shop", "mongodb+srv://svc:{}@cluster0.example.net/?w=majority"),
    ),
    "0x + 64 hex after private key": _HEX_KEY,
    "seed phrase": Told(
        values.seed_phrase,
        ("my seed phrase is {}", "seed phrase: {}", 'mnemonic: "{}"', "recovery phrase: {}"),
        (
            "MNEMONIC='{}'",
            "Here is the seed phrase of the old wallet:\n{}\n",
            "Write down your recovery words: {}",
            "secret recovery phrase - {}",
        ),
    ),
}

#: The kinds that the other set makes with its own texts.
assert CLAIMED.keys() >= NAMED.keys()
