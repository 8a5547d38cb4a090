"""The packaged model is the one whose digests are written down, here and beside it."""

import hashlib
from pathlib import Path

import pytest
import recollectum_gte_small


@pytest.mark.parametrize(
    ("path", "sha256"),
    [
        (recollectum_gte_small.MODEL, recollectum_gte_small.MODEL_SHA256),
        (recollectum_gte_small.TOKENIZER, recollectum_gte_small.TOKENIZER_SHA256),
    ],
)
def test_each_file_is_the_one_whose_digest_is_written_down(path: Path, sha256: str) -> None:
    data = path.read_bytes()
    assert hashlib.sha256(data).hexdigest() == sha256
    notice = path.with_name("NOTICE").read_text()
    assert sha256 in notice
    assert f"{len(data):,} bytes" in notice


def test_the_shape_of_its_vectors_is_known() -> None:
    found = (recollectum_gte_small.NAME, recollectum_gte_small.DIMENSIONS, recollectum_gte_small.MAX_TOKENS)
    assert found == ("gte-small", 384, 512)
