"""Counters: exact where the vocabulary is at hand, and never below it where it is not."""

import base64
import hashlib
import json
import random
import subprocess
import sys
import time
import zlib
from functools import cache
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from recollectum.text import ceilings
from recollectum.text.ceilings import LineCeiling, ceiling
from recollectum.text.tokens import counter_for, encoding
from tests.text.ceiling_table import Tokens, is_sure, vocabularies, weights

pytestmark = pytest.mark.process

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
#: Where pieces begin and end in odd ways: humps, contractions, rows of spaces, marks, other scripts in one word.
HOSTILE = (
    "abcdefghijklmnopqrstuvwxyzqzjx",
    "aAbBcC XyZ'",
    "'sSdDmMtTlLrReEvV \u2019\u017f",
    " \t\n\r\x0b\x0c\x1c\x85\xa0\u2003\u2028\u3000a",
    "!-/:;()[]{}<>@#\"'` x",
    "0123456789٣३ .,",
    "éàüßñçøłżabc '",
    "абвгдёжАБВ ",
    "我喜欢龘鱻𪚥 ",
    "가각힣뷁쀍 ",
    "😀👍🏽\u200d❤️🇬🇧 x",
    "कखगेि़ กขแ่",
    "a\u0301b\u0308ªʰ",
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


@pytest.mark.feature("P4")
@settings(max_examples=1500)
@given(text=st.text(ANY) | st.text(st.characters(max_codepoint=0x7F)) | st.text(st.characters(min_codepoint=0x10000)))
def test_the_ceiling_holds_for_any_text(text: str) -> None:
    pytest.importorskip("rs_bpe")
    assert max(count("cl100k_base", text), count("o200k_base", text)) <= ceiling(text)


@settings(max_examples=1500)
@given(text=st.lists(st.sampled_from(HOSTILE).flatmap(lambda pool: st.text(pool, max_size=9))).map("".join))
def test_the_ceiling_holds_where_pieces_begin_and_end_in_odd_ways(text: str) -> None:
    pytest.importorskip("rs_bpe")
    assert max(count("cl100k_base", text), count("o200k_base", text)) <= ceiling(text)


@settings(max_examples=1500)
@given(
    lines=st.lists(st.sampled_from((*HOSTILE, *ORDINARY.values())).flatmap(lambda pool: st.text(pool, max_size=9))),
    odd=st.sampled_from(["", "\u00a0", " - 'ſ"]),
)
def test_lines_that_are_counted_once_give_the_ceiling_of_the_whole(lines: list[str], odd: str) -> None:
    counted = LineCeiling()
    for text in ("\n".join(lines), odd + "\n".join(reversed(lines)), "\n\n".join((*lines, odd))):
        assert counted(text) == ceiling(text)


def test_the_ceiling_holds_for_many_words_in_every_place() -> None:
    pytest.importorskip("rs_bpe")
    chance = random.Random(4)
    words = [" ".join(ORDINARY.values()).split()[place] for place in range(200)] + [
        "the",
        "The",
        "qzjx",
        "Hello",
        "café",
    ]
    between = ["", " ", "  ", "\n", "\t", "'", "’", "-", "(", '"', "é", "я", "我", "1", "'s ", "'re", "_", "\u00a0"]
    for _ in range(8000):
        text = "".join(chance.choice(words) + chance.choice(between) for _ in range(chance.randint(1, 6)))
        assert max(count("cl100k_base", text), count("o200k_base", text)) <= ceiling(text), text


def test_every_character_there_is_stays_below_its_weight() -> None:
    pytest.importorskip("rs_bpe")
    for start in range(0, 0x110000, 97):
        codes = [code for code in range(start, min(start + 8, 0x110000)) if not 0xD800 <= code < 0xE000]
        for text in (*map(chr, codes), "".join(map(chr, codes))):
            assert max(count("cl100k_base", text), count("o200k_base", text)) <= ceiling(text), ascii(text)


@pytest.mark.parametrize("plane", [0x80, 0x400, 0x900, 0x3000, 0x4E00, 0xAC00, 0xD7F0, 0x1F300, 0x20000, 0xE0000])
def test_the_table_says_what_the_vocabularies_say(plane: int) -> None:
    pytest.importorskip("rs_bpe")
    codes = range(plane, plane + 200)
    expected = list(weights(tokens(), codes))
    assert [ceiling(chr(code)) for code in codes] == expected


@cache
def tokens() -> list[Tokens]:
    return [Tokens(set(found)) for found in vocabularies().values()]


def test_the_words_of_the_table_are_sure() -> None:
    pytest.importorskip("rs_bpe")
    known = json.loads(zlib.decompress(Path(ceilings.__file__).with_name("ceilings.json.z").read_bytes()))
    assert len(known["words"]) > 20_000
    assert all(is_sure(word) for word in known["words"][::101])
    both = [one.whole for one in tokens()]
    assert all(letters.encode() in whole for letters in known["joined"] for whole in both)


@settings(max_examples=100)
@given(seed=st.integers(0, 2**64))
def test_the_ceiling_holds_for_noise(seed: int) -> None:
    pytest.importorskip("rs_bpe")
    noise = hashlib.sha512(str(seed).encode()).digest()
    for text in (noise.hex(), base64.b64encode(noise).decode(), base64.b32encode(noise).decode(), str(seed)):
        assert max(count("cl100k_base", text), count("o200k_base", text)) <= ceiling(text)


@pytest.mark.parametrize(
    ("kind", "most"),
    [("prose", 1.16), ("code", 1.7), ("german", 2.1), ("russian", 3.3), ("json", 1.6), ("chinese", 1.5)],
)
def test_the_ceiling_is_not_far_above_it(kind: str, most: float) -> None:
    pytest.importorskip("rs_bpe")
    text = ORDINARY[kind] * 20
    assert ceiling(text) <= most * count("cl100k_base", text)


@pytest.mark.parametrize(("text", "tokens"), [("", 0), ("Hello world", 2), ("我喜欢", 2)])
def test_a_known_model_is_counted_exactly(text: str, tokens: int) -> None:
    pytest.importorskip("rs_bpe")
    assert counter_for("gpt-4o").count(text) == tokens


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
    found = counter_for(model)
    assert (found.name, found.exact) == (name, name != "ceiling")


def test_without_the_package_a_known_model_gets_the_ceiling(tmp_path: Path) -> None:
    # An empty package of the same name stands in for one that is not there.
    (tmp_path / "rs_bpe").mkdir()
    (tmp_path / "rs_bpe" / "__init__.py").touch()
    program = (
        f"import sys; sys.path.insert(0, {str(tmp_path)!r})\n"
        "from recollectum.text.tokens import counter_for\n"
        "found = counter_for('gpt-4o'); print(found.name, found.exact)"
    )
    ran = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert ran.stdout == "ceiling False\n"


def test_a_lone_surrogate_can_be_counted() -> None:
    assert all(counter_for(model).count("a\ud800b") >= 1 for model in (None, "gpt-4o"))


def test_the_ceiling_of_a_long_text_is_quick() -> None:
    text = (ORDINARY["prose"] + ORDINARY["code"]) * 60
    best = min(_time(text) for _ in range(5))
    # Ten times what it takes on a machine at rest.
    assert best < 0.01 * len(text) / 10_000


def _time(text: str) -> float:
    began = time.process_time()
    ceiling(text)
    return time.process_time() - began
