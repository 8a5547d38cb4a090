"""Prompts are put before texts for the models that want them, and kept in the identity."""

import pytest

from recollectum.domain.models.embedder import Purpose
from recollectum.models.embedding.inputs import Prompts, prompts_for


@pytest.mark.parametrize(
    ("model", "passage", "query"),
    [
        ("nomic-embed-text:v1.5", "search_document: x", "search_query: x"),
        ("intfloat/multilingual-e5-large", "passage: x", "query: x"),
        ("BAAI/bge-small-en-v1.5", "x", "Represent this sentence for searching relevant passages: x"),
        ("snowflake-arctic-embed2", "x", "query: x"),
        ("embeddinggemma:300m", "title: none | text: x", "task: search result | query: x"),
        ("text-embedding-3-large", "x", "x"),
        ("bge-m3", "x", "x"),
    ],
)
def test_a_known_model_gets_the_words_it_wants(model: str, passage: str, query: str) -> None:
    prompts = prompts_for(model)
    assert prompts.put("x", Purpose.PASSAGE) == passage
    assert prompts.put("x", Purpose.QUERY) == query


def test_forms_are_told_apart() -> None:
    forms = {Prompts().form, Prompts("a").form, Prompts("", "a").form, Prompts("a", "a").form}
    assert len(forms) == 4
    assert Prompts().form == "plain"
