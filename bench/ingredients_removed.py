"""Lists the ingredients of the ranking, and takes one out for a while.

An ingredient is taken out of the product itself: its weight becomes 0, or its step returns what it was given. Nothing
is fitted again, so the weights that are left are those that ship.
"""

from collections.abc import Generator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass

from recollectum.domain.errors import ModelUnavailable
from recollectum.domain.models.embedder import EmbedderIdentity, Purpose
from recollectum.models.embedding.port import Embedder, Vectors
from recollectum.recall import candidates, head_order, pipeline, scoring
from recollectum.recall.allowed_chunks import AllowedChunks
from recollectum.recall.question_times import NamedTime
from recollectum.recall.recency import AskedWords, DatedStatement, TimeOrder
from recollectum.recall.vectors import query
from recollectum.recall.vectors.query import VectorQuery
from recollectum.storage.port import Matches, Tx
from recollectum.text.terms.analyser import QueryTerm


class MutableEmbedder:
    """An embedder that refuses questions while it is muted, so that recall compares words alone."""

    def __init__(self, made: Embedder) -> None:
        self._made = made
        self.muted = False

    @property
    def identity(self) -> EmbedderIdentity:
        """The identity of the embedder."""
        return self._made.identity

    @property
    def max_tokens(self) -> int:
        """How much of a text the model reads."""
        return self._made.max_tokens

    def embed(self, texts: Sequence[str], purpose: Purpose) -> Vectors:
        """Return one row for each text; raise ModelUnavailable for a question while it is muted."""
        if self.muted and purpose is Purpose.QUERY:
            raise ModelUnavailable("vectors were taken out")
        return self._made.embed(texts, purpose)

    def close(self) -> None:
        """Do nothing: the caller closes what was wrapped."""


def _no_word_candidates(
    tx: Tx, terms: Sequence[QueryTerm], within: AllowedChunks, size: int
) -> tuple[list[int], Matches]:
    return [], candidates.find_by_words(tx, terms, within, size)[1]


def _no_time_candidates(_tx: Tx, _times: Sequence[NamedTime], _nearest: VectorQuery | None, _size: int) -> list[int]:
    return []


def _same_terms(terms: Sequence[QueryTerm]) -> tuple[QueryTerm, ...]:
    return tuple(terms)


def _no_request(_text: str) -> bool:
    return False


def _same_order(
    statements: Sequence[DatedStatement], _asked: AskedWords | None = None, _order: TimeOrder | None = None
) -> list[int]:
    return [one.number for one in statements]


@dataclass(frozen=True, slots=True)
class Replacement:
    """One name of a module of the product, or of an embedder, and its value without the ingredient."""

    owner: object
    name: str
    value: object


_CONTEXT = tuple(Replacement(scoring, f"{one}_WEIGHT", 0.0) for one in ("BEFORE", "AFTER", "SESSION", "REPLY"))
_OTHERS: Mapping[str, tuple[Replacement, ...]] = {
    "feedback": (Replacement(query, "FEEDBACK_WEIGHT", 0.0), Replacement(query, "WRITTEN_FEEDBACK_WEIGHT", 0.0)),
    "kinds": (Replacement(pipeline, "expand_kinds", _same_terms),),
    "who": (Replacement(scoring, "SPEAKER_WEIGHT", 0.0), Replacement(scoring, "FIRST_PERSON_WEIGHT", 0.0)),
    "when": (Replacement(scoring, "TIME_WEIGHT", 0.0), Replacement(pipeline, "find_by_time", _no_time_candidates)),
    "told": (Replacement(scoring, "TOLD_WEIGHT", 0.0),),
    "echo": (Replacement(scoring, "ECHO_WEIGHT", 0.0),),
    "assistant": (Replacement(scoring, "ASSISTANT_WEIGHT", 0.0),),
    "wish": (Replacement(pipeline, "is_request", _no_request),),
    "before": _CONTEXT[:1],
    "after": _CONTEXT[1:2],
    "session": _CONTEXT[2:3],
    "reply": _CONTEXT[3:],
    "before, after, session, reply": _CONTEXT,
    "answer": (Replacement(head_order, "ANSWER_WEIGHT", 0.0),),
    "name": (Replacement(head_order, "prefer_whole_names", _same_order),),
    "newest": (Replacement(head_order, "order_by_recency", _same_order),),
}
VECTORS = "vectors"
INGREDIENTS: Mapping[str, tuple[Replacement, ...]] = {
    "words": (
        Replacement(scoring, "LEXICAL_WEIGHT", 0.0),
        Replacement(scoring, "CONTEXT_LEXICAL_WEIGHT", 0.0),
        Replacement(scoring, "WORDS_ALONE_WEIGHT", 0.0),
        Replacement(scoring, "WRITTEN_LEXICAL_WEIGHT", 0.0),
        Replacement(scoring, "WRITTEN_WORDS_ALONE_WEIGHT", 0.0),
        Replacement(pipeline, "find_by_words", _no_word_candidates),
    ),
    VECTORS: (),
    **_OTHERS,
    "all but words and vectors": tuple(dict.fromkeys(one for each in _OTHERS.values() for one in each)),
}


@contextmanager
def without(ingredient: str, embedder: MutableEmbedder) -> Generator[None]:
    """Take an ingredient out of the ranking until the end of the block."""
    muted = (Replacement(embedder, "muted", value=True),) if ingredient == VECTORS else ()
    with ExitStack() as stack:
        for one in (*INGREDIENTS[ingredient], *muted):
            stack.enter_context(_replaced(one))
        yield


@contextmanager
def _replaced(one: Replacement) -> Generator[None]:
    before = getattr(one.owner, one.name)
    setattr(one.owner, one.name, one.value)
    try:
        yield
    finally:
        setattr(one.owner, one.name, before)
