"""The quick look for contacts says of every text what its patterns say, in whatever order they are asked."""

import re
import unicodedata

from hypothesis import given
from hypothesis import strategies as st

from recollectum.text.contacts import hints
from recollectum.text.contacts.hints import CALLED, KEY, LONGEST, may_mention, strip_accents
from recollectum.text.contacts.vocabulary import RELATIONS

_WORD = re.compile("[a-z]+")
_LAST_WORDS = frozenset(word for relation in RELATIONS for word in _WORD.findall(relation)[-1:])
_WORDS = (
    "my our have has user's owner's I we calls call nickname aka number phone Handy tel cell signal +49 030 "
    "123456 (555) 12-34-56 7 a@b.de @ann 2023-05-18 K ſ MY Mom's moms ß’s ’s é"
)
_PIECES = st.sampled_from([*sorted(_LAST_WORDS), *_WORDS.split(), *" \t\n.,:;'\"{}_-"])
_KEYS = st.sampled_from([None, "contact_ann", "ann_phone", "lg_abc", "phone", "mother_number"])


def _slowly(text: str, key: str | None) -> bool:
    """Return what `may_mention` says, by every pattern."""
    if len(text) > LONGEST:
        return False
    flat = strip_accents(unicodedata.normalize("NFC", text))
    if hints._NAMED.search(flat) or hints._address().search(flat):  # pyright: ignore[reportPrivateUsage]
        return True
    if hints._digits().search(flat) and (CALLED.search(flat) or KEY.fullmatch(key or "")):  # pyright: ignore[reportPrivateUsage]
        return True
    owned = hints._OWNED.search(flat)  # pyright: ignore[reportPrivateUsage]
    words = _WORD.findall(flat.casefold())
    return bool(owned) and any(word in _LAST_WORDS or word.removesuffix("s") in _LAST_WORDS for word in words)


@given(st.lists(st.one_of(_PIECES, _PIECES, st.text(max_size=4)), max_size=12).map("".join), _KEYS)
def test_the_quick_look_says_what_the_patterns_say(text: str, key: str | None) -> None:
    assert may_mention(text, key) == _slowly(text, key)


@given(st.lists(_PIECES, max_size=12).map(" ".join), _KEYS)
def test_the_quick_look_says_it_of_sentences_too(text: str, key: str | None) -> None:
    assert may_mention(text, key) == _slowly(text, key)
