"""Python in the README and the guides runs, or at least compiles where it is marked no-run."""

from pathlib import Path

import pytest

from tests.docs.pages import ROOT, Block, blocks

pytestmark = pytest.mark.process

RUN = "python"
COMPILE = "python no-run"


def example_pages() -> list[Path]:
    """The pages whose Python a reader will try."""
    return [ROOT / "README.md", *sorted((ROOT / "docs" / "guides").rglob("*.md"))]


def run_examples(name: str, found: list[Block]) -> None:
    """Run the blocks of one page in order, in one namespace that begins empty."""
    namespace: dict[str, object] = {"__name__": "__main__"}
    for block in found:
        # Empty lines ahead, so that a traceback names the line of the page.
        code = compile("\n" * (block.line - 1) + block.code, name, "exec")
        if block.info == RUN:
            exec(code, namespace)


@pytest.mark.parametrize("page", example_pages(), ids=lambda page: str(page.relative_to(ROOT)))
def test_every_example_runs(page: Path) -> None:
    found = [block for block in blocks(page.read_text(encoding="utf-8")) if block.info.startswith("python")]
    assert {block.info for block in found} <= {RUN, COMPILE}
    run_examples(str(page), found)


@pytest.mark.parametrize("provider", ["none", "auto"])
def test_the_first_example_prints_its_hit_also_by_words_alone(
    provider: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("RECOLLECTUM_EMBEDDING__PROVIDER", provider)
    page = ROOT / "README.md"
    first = next(block for block in blocks(page.read_text(encoding="utf-8")) if block.info == RUN)
    run_examples(str(page), [first])
    assert "I am vegetarian" in capsys.readouterr().out.splitlines()[0]


def test_blocks_of_a_page_share_their_names_and_run_in_order() -> None:
    first, not_run, last = (
        "```python\nn = 1\n```\n",
        "```python no-run\nn = 2\n```\n",
        "```python\nassert n == 1\n```\n",
    )
    page = f"{first}{not_run}```sh\nn = ;\n```\n{last}"
    run_examples("page", [block for block in blocks(page) if block.info.startswith("python")])


@pytest.mark.parametrize(
    ("page", "error"),
    [("```python\nn = 1 / 0\n```\n", ZeroDivisionError), ("```python no-run\nn = = 1\n```\n", SyntaxError)],
)
def test_an_example_that_is_wrong_is_seen(page: str, error: type[Exception]) -> None:
    with pytest.raises(error):
        run_examples("page", list(blocks(page)))
