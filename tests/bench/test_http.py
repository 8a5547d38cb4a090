"""The comparison over HTTP runs: both servers answer, a kill loses nothing, and memory does not grow under load."""

import re

import pytest

from bench import http

pytestmark = pytest.mark.process


@pytest.mark.loopback
@pytest.mark.feature("M10")
def test_a_short_run_refuses_nothing_loses_nothing_and_stays_as_large(capsys: pytest.CaptureFixture[str]) -> None:
    load = ["--clients", "4", "--seconds", "0.7", "--rounds", "1", "--adds", "20"]
    http.main([*load, "--soak-minutes", "0.04", "--soak-steps", "4"])
    said = capsys.readouterr().out
    rows = re.findall(r"^\| (recollectum|bare) \| ([\d.]+) \| .* \| (\d+) \|$", said, re.MULTILINE)
    assert [(name, refused) for name, _, refused in rows] == [("recollectum", "0"), ("bare", "0")]
    assert all(float(rate) > 0 for _, rate, _ in rows)
    killed = re.search(r"(\d+) adds acknowledged, (\d+) lost", said)
    assert killed
    assert int(killed[1]) > 0
    assert killed[2] == "0"
    grown = re.search(r"memory at the end is ([\d.]+)", said)
    assert grown
    # A few hundred requests: a leak of some 20 kB each is seen.
    assert float(grown[1]) < 1.1
