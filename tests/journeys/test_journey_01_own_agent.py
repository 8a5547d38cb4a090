"""Journey 1, memory in one's own Python agent: the programs of the guide, with the real client libraries."""

import json
import re
import runpy
from collections.abc import Generator
from pathlib import Path

import pytest

from recollectum import Recollectum
from recollectum.models.language.costs import input_tokens
from recollectum.testing import ScriptedModel
from tests.docs.pages import ROOT, blocks
from tests.journeys.scripted_providers import NOTHING, Providers, scripted_providers

GUIDE = ROOT / "docs" / "guides" / "agent.md"
LANGUAGE_MODELS = GUIDE.with_name("language-models.md")
AGENTS = sorted(path for path in (ROOT / "examples").glob("*_agent*.py") if not path.stem.endswith("_memory"))
#: Lines of code, without empty ones, the description and the conversation that shows it.
MOST_LINES = 20

pytestmark = [pytest.mark.loopback, pytest.mark.process]


@pytest.fixture
def providers(monkeypatch: pytest.MonkeyPatch) -> Generator[Providers]:
    """The three providers, where the client libraries look for them."""
    with scripted_providers() as made:
        for name in ("OPENAI_API_KEY", "ANTHROPIC_API_KEY", "GEMINI_API_KEY"):
            monkeypatch.setenv(name, "none")
        monkeypatch.delenv("GOOGLE_API_KEY", raising=False)
        monkeypatch.setenv("OPENAI_BASE_URL", f"{made.url}/v1")
        monkeypatch.setenv("MODEL_URL", f"{made.url}/v1")
        monkeypatch.setenv("ANTHROPIC_BASE_URL", made.url)
        monkeypatch.setenv("GOOGLE_GEMINI_BASE_URL", made.url)
        yield made


def test_there_is_one_for_every_provider_and_one_awaited() -> None:
    names = {path.stem for path in AGENTS}
    assert names == {
        *(f"{provider}_agent" for provider in ("openai", "anthropic", "gemini", "openai_compatible")),
        *(f"{provider}_agent_async" for provider in ("openai", "anthropic", "gemini")),
    }


# Google's library inherits from a class of aiohttp.
@pytest.mark.filterwarnings("ignore:Inheritance class Aiohttp:DeprecationWarning")
@pytest.mark.parametrize("agent", AGENTS, ids=lambda path: path.stem)
def test_what_is_said_in_one_conversation_is_known_in_the_next_one(
    agent: Path, providers: Providers, capsys: pytest.CaptureFixture[str]
) -> None:
    runpy.run_path(str(agent), run_name="__main__")
    told = dict(line.split(": ", 1) for line in capsys.readouterr().out.splitlines())
    assert "My colour is teal." in told["ann/2"]
    assert told["bob/1"] == NOTHING
    assert len(providers.asked) == 3
    # The instructions are where the interface has them, and the person's words are last.
    asked = providers.asked[1]
    said = asked.get("messages") or asked["contents"]
    system = asked.get("system") or asked.get("systemInstruction") or said[0]
    assert "You are a helpful assistant." in str(system)
    assert "teal" in str(system)
    assert "What is my colour?" in str(said[-1])
    assert "teal" not in str(said[-1])


@pytest.mark.parametrize("agent", AGENTS, ids=lambda path: path.stem)
def test_an_agent_has_twenty_lines(agent: Path) -> None:
    text = agent.read_text("utf-8").partition('"""\n')[2]
    program = re.split(r"^(?:async def main|if __name__)", text, flags=re.MULTILINE)[0]
    lines = [line for line in program.splitlines() if line.strip() and '"""' not in line]
    assert len(lines) <= MOST_LINES


def test_the_guide_shows_the_programs_that_are_tested() -> None:
    shown = [block.code.strip() for block in blocks(GUIDE.read_text("utf-8")) if block.info.startswith("python")]
    programs = [path.read_text("utf-8") for path in AGENTS]
    own = [code for code in shown if "def reply" in code]
    assert len(own) >= 2
    for code in own:
        assert any(code in program for program in programs)
    # Where a whole program would only repeat another one, the guide shows the lines that differ.
    for code in shown:
        if code not in own and "client" in code:
            assert any(all(line.strip() in program for line in code.splitlines()) for program in programs)


#: A message of 30 words.
_SENTENCE = (
    "We talked about the garden again, and I said that the beans need water every evening"
    " while Tom is away in June, because the ground there is very dry in summer."
)


@pytest.mark.parametrize("messages", [2, 20, 100])
def test_the_page_on_language_models_tells_what_reading_costs(messages: int) -> None:
    model = ScriptedModel([json.dumps({"findings": []})] * 9)
    with Recollectum.temporary(language_model=model, settings={"embedding.provider": "none"}) as home:
        said = [{"role": ("user", "assistant")[at % 2], "content": f"{at}: {_SENTENCE}"} for at in range(messages)]
        assert home.vault("user:ann").learn(said).trouble is None
    page = re.sub(r"\s+", " ", LANGUAGE_MODELS.read_text("utf-8"))
    told = re.search(r"about ([\d,]+) tokens for an exchange .*?, ([\d,]+) for twenty messages, and ([\d,]+)", page)
    assert told
    stated = int(told[(2, 20, 100).index(messages) + 1].replace(",", ""))
    assert sum(map(input_tokens, model.prompts)) == pytest.approx(stated, rel=0.15)
