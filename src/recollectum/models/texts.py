"""What of a text a model is given: characters it can read, and no more than it reads."""

from recollectum.text.cleaning import clean
from recollectum.text.tokens import estimate

#: Some endpoints refuse an empty text, and nobody can mean anything by one.
_BLANK = "."


def fit(text: str, max_tokens: int) -> str:
    """The beginning of the text that surely fits, cleaned; a blank one becomes a full stop."""
    legible = clean(_in_question(text, max_tokens))
    if estimate(legible) > max_tokens:
        legible = legible[: _longest(legible, max_tokens)]
    return legible if legible.strip() else _BLANK


def weight(text: str, max_tokens: int) -> int:
    """About how many tokens of the text are read."""
    return min(estimate(_in_question(text, max_tokens)), max_tokens)


def _in_question(text: str, max_tokens: int) -> str:
    # No character is estimated at less than a quarter of a token, so what follows cannot fit.
    return text[: max_tokens * 4 + 1]


def _longest(text: str, max_tokens: int) -> int:
    """How many characters fit: the estimate of a beginning never falls as it grows."""
    fits, too_long = 0, len(text)
    while too_long - fits > 1:
        middle = (fits + too_long) // 2
        if estimate(text[:middle]) > max_tokens:
            too_long = middle
        else:
            fits = middle
    return fits
