"""The check of the built site finds links that lead nowhere and files from other hosts."""

from pathlib import Path

import pytest

from tools.site import faults, main

_GOOD = """
<link rel="canonical" href="https://example.org/one.html"><link rel="stylesheet" href="style.css">
<h1 id="top">One</h1> <a href="two/two.html#end">two</a> <a href="#top">up</a> <a href="two/">folder</a>
<a href="https://example.org">elsewhere</a> <a href="mailto:a@example.org">letter</a> <img src="one%20two.png">
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "two").mkdir()
    (tmp_path / "index.html").write_text(_GOOD)
    (tmp_path / "two" / "index.html").write_text("<p>")
    (tmp_path / "two" / "two.html").write_text('<h2 id="end">End</h2><a href="../index.html#top">back</a>')
    (tmp_path / "style.css").write_text("a { background: url(one.png) }")
    (tmp_path / "one two.png").touch()
    return tmp_path


def test_a_site_whose_links_arrive_has_no_faults(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--check", str(folder)]) == 0
    assert "every link arrives" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("added", "fault"),
    [
        ('<a href="gone.html">x</a>', "page.html links to gone.html, which is not there"),
        ('<a href="two/two.html#gone">x</a>', "page.html links to two/two.html#gone, which is not there"),
        ('<img src="gone.png">', "page.html links to gone.png, which is not there"),
        ('<script src="https://cdn.example.org/x.js"></script>', "page.html loads https://cdn.example.org/x.js"),
        ('<link rel="stylesheet" href="//fonts.example.org/x">', "page.html loads //fonts.example.org/x"),
        ('<pre class="mermaid">', "page.html loads //mermaid"),
    ],
)
def test_each_fault_of_a_page_is_found(folder: Path, added: str, fault: str) -> None:
    (folder / "page.html").write_text(added)
    assert list(faults(folder)) == [fault]
    assert main(["--check", str(folder)]) == 1


def test_a_font_from_another_host_is_found(folder: Path) -> None:
    (folder / "style.css").write_text('@font-face { src: url("https://fonts.example.org/x.woff2") }')
    assert list(faults(folder)) == ["style.css loads https://fonts.example.org/x.woff2"]


def test_an_empty_folder_is_a_fault(tmp_path: Path) -> None:
    assert list(faults(tmp_path)) == [f"{tmp_path} has no pages"]
