"""A real small model in this process: structured output, streaming, time limits, and no network."""

import os
import subprocess
import sys
from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from threading import Event, Thread

import pytest

from recollectum.domain.errors import ModelMissing, ModelRefused, ModelTimeout
from recollectum.domain.message import Json, Role
from recollectum.domain.models.language_model import Finish, Prompt, Turn
from recollectum.models.language.json_schema import explain_misfit
from recollectum.models.language.llama import LlamaModel, LlamaOptions, find_model
from recollectum.models.language.port import LanguageModel
from recollectum.models.registry.language import open_language_model
from recollectum.settings.model import LanguageModelSettings

pytestmark = pytest.mark.process

SETTINGS = LanguageModelSettings(provider="local", window_tokens=1024, retries=0)
SCHEMA: Mapping[str, Json] = {
    "type": "object",
    "properties": {
        "name": {"type": "string", "maxLength": 20},
        "city": {"type": "string", "maxLength": 20},
        "kind": {"enum": ["preference", "fact"]},
    },
    "required": ["name", "city", "kind"],
    "additionalProperties": False,
}
EXTRACT = Prompt(
    system="Extract the name of the person and the city as JSON.",
    turns=(Turn(role=Role.USER, text="My name is Alice and I live in Lisbon."),),
    schema=SCHEMA,
    max_output_tokens=60,
)
STORY = Prompt(turns=(Turn(role=Role.USER, text="Tell a long story about a lighthouse."),), max_output_tokens=12)


@pytest.fixture(scope="module")
def model() -> Iterator[LanguageModel]:
    """One for the whole file, which loads it once."""
    found = open_language_model(SETTINGS, {})
    assert found is not None
    yield found
    found.close()


@pytest.mark.feature("A5")
@pytest.mark.feature("A17")
def test_a_real_model_extracts_what_fits_the_schema(model: LanguageModel) -> None:
    reply = model.complete(EXTRACT)
    assert explain_misfit(reply.value, SCHEMA) is None
    assert isinstance(reply.value, dict)
    assert (reply.value["name"], reply.value["city"]) == ("Alice", "Lisbon")
    assert (reply.finish, reply.usage.estimated) == (Finish.STOP, False)
    assert reply.usage.input > 20
    assert 0 < reply.usage.output <= 60
    assert str(reply.by) == "local/SmolLM2-135M-Instruct.Q4_1"
    # The temperature is 0, and so is the difference.
    assert model.complete(EXTRACT).value == reply.value


def test_a_stream_is_the_same_reply_in_pieces(model: LanguageModel) -> None:
    whole = model.complete(STORY)
    *texts, last = model.stream(STORY)
    assert len(texts) > 5
    assert "".join(piece.text for piece in texts) == whole.text
    assert last.reply is not None
    assert (last.reply.text, last.reply.finish) == (whole.text, Finish.LENGTH)
    assert last.reply.usage.output == 12


def test_who_stops_reading_stops_the_model(model: LanguageModel) -> None:
    pieces = model.stream(replace(STORY, max_output_tokens=900))
    next(pieces)
    del pieces
    # It would otherwise have to wait for some 900 tokens, which is longer than anybody waits for a test.
    assert model.complete(STORY).text


def test_others_go_on_while_the_model_thinks(model: LanguageModel) -> None:
    ticks, over = [0], Event()

    def tick() -> None:
        while not over.wait(0.001):
            ticks[0] += 1

    thread = Thread(target=tick)
    thread.start()
    model.complete(STORY)
    over.set()
    thread.join()
    assert ticks[0] > 10


def test_a_prompt_that_is_too_long_is_refused_with_the_cure(model: LanguageModel) -> None:
    long = replace(STORY, turns=(Turn(role=Role.USER, text="word " * 3000),))
    with pytest.raises(ModelRefused, match=r"shorten it, or raise language_model\.window_tokens"):
        model.complete(long)
    with pytest.raises(ModelRefused, match="shorten it"):
        list(model.stream(long))
    assert model.complete(STORY).text


def test_time_that_is_up_ends_the_call() -> None:
    now = [0.0]

    def clock() -> float:
        now[0] += 1
        return now[0]

    bare = LlamaModel(find_model(""), LlamaOptions(window_tokens=1024, timeout_seconds=3, clock=clock))
    with pytest.raises(ModelTimeout, match="did not finish within 3 s"):
        bare.complete(replace(STORY, max_output_tokens=200))
    # The clock was read once for each word: the model stopped, and did not only come too late.
    assert now[0] < 10
    bare.close()


@pytest.mark.feature("A17")
def test_it_listens_to_no_network_and_leaves_no_file_behind(tmp_path: Path) -> None:
    program = f"""
import os
from pathlib import Path
from recollectum.models.language.llama import find_model, load_llama
model = load_llama(find_model(""), threads=1, window_tokens=256)
sockets = [file for file in Path("/proc/self/fd").iterdir() if file.is_socket()]
own = {{os.readlink(file)[len("socket:[") : -1] for file in sockets}}
tables = [Path("/proc/self/net") / name for name in ("tcp", "tcp6", "udp", "udp6")]
used = [line for table in tables if table.exists() for line in table.read_text().splitlines()[1:]]
print([line for line in used if line.split()[9] in own], os.listdir({str(tmp_path)!r}))
"""
    if not Path("/proc/self/net").exists():
        pytest.skip("only Linux shows what a process listens to")
    run = subprocess.run(
        [sys.executable, "-c", program],
        capture_output=True,
        text=True,
        check=True,
        env={**os.environ, "TMPDIR": str(tmp_path)},
    )
    assert run.stdout == "[] []\n"


def test_a_file_that_is_none_is_named(tmp_path: Path) -> None:
    with pytest.raises(ModelMissing, match="which is not a file; name a GGUF file"):
        open_language_model(replace(SETTINGS, model=str(tmp_path / "none.gguf")), {})
    wrong = tmp_path / "wrong.gguf"
    wrong.write_bytes(b"GGUF and nothing that follows")
    found = open_language_model(replace(SETTINGS, model=str(wrong)), {})
    assert found is not None
    with pytest.raises(ModelMissing, match=r"wrong\.gguf cannot be loaded"):
        found.complete(STORY)
