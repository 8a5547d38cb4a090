"""Counters: exact where the vocabulary is at hand, and never below it where it is not."""

import base64
import hashlib
import json
import subprocess
import sys
import time
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from recollect.text.ceilings import ceiling
from recollect.text.encodings import encoding
from recollect.text.tokens import counter

NOISE = b"".join(hashlib.sha256(bytes([number])).digest() for number in range(60))
ORDINARY = {
    "prose": "Grace moved to Lyon in the spring, and she likes the river and the market near her flat. ",
    "short words": "a b c d e f g h i j k l m n o p ",
    "names": "Ng Wu, Xi Qu and Zoë from Łódź met Przemysław Błaszczykowski. ",
    "german": "Die Donaudampfschifffahrtsgesellschaft veröffentlichte außerordentlich lange Wörter. ",
    "finnish": "Epäjärjestelmällistyttämättömyydelläänsäkäänköhän juoksentelisinkohan huomenna. ",
    "polish": "Wczoraj spotkałem się ze starym przyjacielem w Krakowie, żółć gęślą jaźń. ",
    "vietnamese": "Hôm qua tôi đã gặp một người bạn cũ ở Hà Nội và nói chuyện rất lâu. ",
    "russian": "Вчера я встретил старого друга в Москве, и мы долго говорили о будущем. ",
    "greek": "Χθες συνάντησα έναν παλιό φίλο στην Αθήνα. ",
    "arabic": "التقيت أمس بصديق قديم في القاهرة وتحدثنا طويلا عن المستقبل. ",
    "hebrew": "פגשתי אתמול חבר ותיק בתל אביב ודיברנו הרבה על העתיד. ",
    "hindi": "मैं कल दिल्ली में एक पुराने दोस्त से मिला। ",
    "thai": "เมื่อวานฉันพบเพื่อนเก่าที่กรุงเทพ",
    "georgian": "გუშინ თბილისში ძველ მეგობარს შევხვდი. ",
    "chinese": "我喜欢喝绿茶,昨天在北京见到了老朋友,我们谈了很多关于未来的计划。",
    "japanese": "私は昨日、東京で友達に会いました。とても楽しかったです。",
    "korean": "저는 어제 서울에서 친구를 만났습니다. 정말 즐거웠어요. ",
    "emoji": "😀🎉👨‍👩‍👧‍👦🇬🇧👍🏽❤️🫠🦤",
    "code": "for (int i = 0; i < n; i++) {\n\ttotal += a[i];\n        if (!x) return NULL;\n}\n",
    "camel case": "getUserByIdOrNull(XMLHttpRequest, myVar_2) ",
    "base64": base64.b64encode(NOISE).decode(),
    "hex": NOISE.hex(),
    "digits": "3141592653589793 2026-03-01T12:00:00Z 1,000,000.00 ",
    "json": json.dumps({"a": [1, 2, {"b": None}], "c": "d"}) + "\n",
    "url": "https://example.com/a/b/c?x=1&y=%20zq&utm_source=abc#frag ",
    "capitals": "THE QUICK BROWN FOX JUMPS OVER THE LAZY DOG ",
    "markup": '<div class="x">**bold** | a | b |\n|---|---|</div>\n',
    "control": "".join(map(chr, range(32))),
    "mathematics": "∀x∈ℝ: ⌈x⌉ = −⌊−x⌋, α∧¬β→γ ∑∫√∞≠≤≥ ",
}
ANY = st.characters(exclude_categories=["Cs"])
#: Letters are weighed as words and rare Han and Hangul as common ones, so no law without exception holds for them.
WEIGHED_ALONE = ANY.filter(
    lambda char: (
        not (char.isascii() and char.isalpha())
        and not "\u4e00" <= char <= "\u9fff"
        and not "\uac00" <= char <= "\ud7a3"
    )
)


@pytest.fixture(scope="module", params=["cl100k_base", "o200k_base"])
def exact(request: pytest.FixtureRequest) -> str:
    pytest.importorskip("rs_bpe")
    name: str = request.param
    return name


def count(name: str, text: str) -> int:
    counted = encoding(name)
    assert counted is not None
    return counted(text)


@pytest.mark.feature("P4")
@pytest.mark.parametrize("kind", ORDINARY)
def test_the_ceiling_is_never_below_the_true_count(exact: str, kind: str) -> None:
    for times in (1, 20):
        text = ORDINARY[kind] * times
        assert count(exact, text) <= ceiling(text)


@settings(max_examples=300)
@given(text=st.text(WEIGHED_ALONE) | st.text(" \t\n\r0123456789.,:;!?-_()[]{}<>/\\'\"#@*éя"))
def test_the_ceiling_holds_for_any_text_without_words(text: str) -> None:
    pytest.importorskip("rs_bpe")
    assert max(count("cl100k_base", text), count("o200k_base", text)) <= ceiling(text)


@settings(max_examples=100)
@given(seed=st.integers(0, 2**64))
def test_the_ceiling_holds_for_noise(seed: int) -> None:
    pytest.importorskip("rs_bpe")
    noise = hashlib.sha512(str(seed).encode()).digest()
    for text in (noise.hex(), base64.b64encode(noise).decode(), base64.b32encode(noise).decode(), str(seed)):
        assert max(count("cl100k_base", text), count("o200k_base", text)) <= ceiling(text)


@settings(max_examples=300)
@given(text=st.text(ANY) | st.text(st.characters(max_codepoint=0x7F)))
def test_no_text_takes_twice_its_ceiling(text: str) -> None:
    pytest.importorskip("rs_bpe")
    assert max(count("cl100k_base", text), count("o200k_base", text)) <= 2 * ceiling(text)


@pytest.mark.parametrize("kind", ["prose", "code", "german", "russian", "json"])
def test_the_ceiling_is_not_far_above_it(kind: str) -> None:
    pytest.importorskip("rs_bpe")
    text = ORDINARY[kind] * 20
    assert ceiling(text) <= 2 * count("cl100k_base", text)


@pytest.mark.parametrize(("text", "tokens"), [("", 0), ("Hello world", 2), ("我喜欢", 2)])
def test_a_known_model_is_counted_exactly(text: str, tokens: int) -> None:
    pytest.importorskip("rs_bpe")
    assert counter("gpt-4o").count(text) == tokens


@pytest.mark.parametrize(
    ("model", "name"),
    [
        ("gpt-4o", "o200k_base"),
        ("gpt-4o-mini", "o200k_base"),
        ("openai:gpt-5.1", "o200k_base"),
        ("openrouter/openai/gpt-4.1-nano", "o200k_base"),
        ("o3-mini", "o200k_base"),
        ("ft:gpt-4o:acme", "o200k_base"),
        ("gpt-4", "cl100k_base"),
        ("gpt-4-turbo", "cl100k_base"),
        ("gpt-3.5-turbo", "cl100k_base"),
        ("claude-opus", "ceiling"),
        ("gemini-2.5-pro", "ceiling"),
        ("ollama/o3d", "ceiling"),
        ("gpt-40", "ceiling"),
        (None, "ceiling"),
    ],
)
def test_each_model_has_its_way_of_counting(model: str | None, name: str) -> None:
    pytest.importorskip("rs_bpe")
    found = counter(model)
    assert (found.name, found.exact) == (name, name != "ceiling")


def test_without_the_package_a_known_model_gets_the_ceiling(tmp_path: Path) -> None:
    # An empty package of the same name stands in for one that is not there.
    (tmp_path / "rs_bpe").mkdir()
    (tmp_path / "rs_bpe" / "__init__.py").touch()
    program = (
        f"import sys; sys.path.insert(0, {str(tmp_path)!r})\n"
        "from recollect.text.tokens import counter\n"
        "found = counter('gpt-4o'); print(found.name, found.exact)"
    )
    ran = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert ran.stdout == "ceiling False\n"


def test_a_lone_surrogate_can_be_counted() -> None:
    assert all(counter(model).count("a\ud800b") >= 1 for model in (None, "gpt-4o"))


def test_the_ceiling_of_a_long_text_is_quick() -> None:
    text = (ORDINARY["prose"] + ORDINARY["code"]) * 60
    best = min(_time(text) for _ in range(5))
    # Ten times what it takes on a machine at rest.
    assert best < 0.01 * len(text) / 10_000


def _time(text: str) -> float:
    began = time.process_time()
    ceiling(text)
    return time.process_time() - began
