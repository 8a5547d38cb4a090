"""A daemon that serves HTTPS itself: what it says, who reaches it, and what it refuses."""

import http.client
import json
import ssl
import urllib.request
from pathlib import Path

import pytest

from recollectum.domain.ids import system_clock
from recollectum.doors.cli.commands.operate.serve import describe_started
from recollectum.doors.cli.main import main
from recollectum.doors.server.daemon import Listening, StartedDaemon
from tests.doors.server.certificates import make_certificate
from tests.doors.server.daemons import called, daemon, home


def started(host: str, *, is_tls: bool = False, names: tuple[str, ...] = ("localhost",), further: str = "") -> str:
    found = Listening(host=host, port=9000, is_tls=is_tls, names=names, further=further)
    url = "http://127.0.0.1:9000"
    return "\n".join(describe_started(StartedDaemon(pid=1, url=url, started_at=system_clock(), listening=found), "/h"))


@pytest.mark.process
@pytest.mark.loopback
def test_https_for_everybody_and_plain_http_for_programs_of_this_machine(tmp_path: Path) -> None:
    files = make_certificate(tmp_path)
    home().close()
    with daemon("--port", "0", "--tls-cert", str(files.certificate), "--tls-key", str(files.key)) as running:
        told = running.told["listening"]
        assert (told["host"], told["tls"]) == ("127.0.0.1", True)
        context = ssl.create_default_context(cafile=str(files.authority))
        link = http.client.HTTPSConnection("localhost", told["port"], timeout=20, context=context)
        link.request("GET", "/healthz")
        assert json.loads(link.getresponse().read()) == {"status": "ok"}
        link.close()
        # What the file in the home names: no program of this machine has to know the certificate.
        assert running.url.startswith("http://127.0.0.1:")
        with urllib.request.urlopen(f"{running.url}/healthz", timeout=20) as answer:
            assert answer.status == 200
        plain = http.client.HTTPConnection("127.0.0.1", told["port"], timeout=20)
        plain.request("GET", "/healthz")
        with pytest.raises((http.client.HTTPException, OSError)):
            plain.getresponse()
        plain.close()


@pytest.mark.process
def test_files_that_cannot_be_used_are_refused_in_one_sentence(tmp_path: Path) -> None:
    files = make_certificate(tmp_path)
    home().close()
    missing = called("serve", "--tls-cert", str(files.certificate), "--tls-key", str(tmp_path / "none.key"))
    assert (missing.returncode, missing.stderr.count("\n")) == (1, 1)
    assert f"there is no file {tmp_path / 'none.key'}" in missing.stderr
    files.key.chmod(0o644)
    readable = called("serve", "--tls-cert", str(files.certificate), "--tls-key", str(files.key))
    assert readable.returncode == 1
    assert f"run: chmod 600 {files.key}" in readable.stderr


def test_files_that_are_not_there_make_no_home(tmp_path: Path) -> None:
    place, none = tmp_path / "home", str(tmp_path / "none.pem")
    assert main(["serve", "--home", str(place), "--tls-cert", none, "--tls-key", none]) == 1
    assert not place.exists()


def test_half_of_the_files_is_a_mistake() -> None:
    from recollectum.doors.cli.main import main

    assert main(["serve", "--tls-cert", "x.pem"]) == 2


@pytest.mark.parametrize("content", ["not a certificate", ""])
def test_other_files_are_refused(tmp_path: Path, content: str) -> None:
    from recollectum.domain.errors import InvalidInput
    from recollectum.doors.server.tls import TlsFiles, check_tls

    files = make_certificate(tmp_path)
    files.certificate.write_text(content)
    with pytest.raises(InvalidInput, match="are not a certificate chain and its unencrypted key"):
        check_tls(TlsFiles(certificate=files.certificate, key=files.key))


def test_it_says_what_it_is_bound_to_and_how_to_allow_a_name() -> None:
    told = started("0.0.0.0", names=("127.0.0.1", "localhost"))
    assert "listening on all addresses (0.0.0.0:9000), plain HTTP, for the home /h" in told
    assert "allowed host names: 127.0.0.1, localhost; add one: recollectum settings set server.hosts NAME," in told
    assert "clients send no key there; give --tls-cert and --tls-key" in told
    further = started("192.0.2.7", is_tls=True, further="a.example, b.example")
    assert "listening on 192.0.2.7:9000, HTTPS; programs of this machine use http://127.0.0.1:9000" in further
    assert "settings set server.hosts a.example,b.example,NAME," in further
    assert "--tls-cert" not in further
    assert "all addresses ([::]:9000)" in started("::")
    assert started("127.0.0.1") == "listening on http://127.0.0.1:9000, for the home /h (process 1)"
