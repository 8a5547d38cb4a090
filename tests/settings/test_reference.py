"""The reference page names every setting with its variable and default."""

from recollectum.settings.registry import all_settings
from recollectum.settings.render import reference_page


def test_every_setting_has_a_row_that_says_all_of_it() -> None:
    rows = reference_page().splitlines()
    assert len(rows) == 2 + len(all_settings())
    assert len({row.count("|") for row in rows}) == 1
    assert (
        "| `lifecycle.active_days` | a whole number from -1 to 36500 | `-1` | `RECOLLECTUM_LIFECYCLE__ACTIVE_DAYS` "
        "| no | Days until a memory is archived; 0: never, -1: by the preset. |"
    ) in rows


def test_every_sentence_is_one() -> None:
    for setting in all_settings().values():
        assert setting.spec.doc[0].isupper()
        assert setting.spec.doc.endswith(".")
        assert setting.take(setting.default) == setting.default
