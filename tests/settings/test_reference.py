"""The reference page names every setting with its variable and default."""

import re
from pathlib import Path

import recollectum
from recollectum.settings.registry import OTHER_VARIABLES, all_settings
from recollectum.settings.render import reference_page


def test_every_setting_has_a_row_that_says_all_of_it() -> None:
    rows = reference_page().splitlines()
    assert len(rows) == 2 + len(all_settings())
    assert len({row.count("|") for row in rows}) == 1
    assert (
        "| `lifecycle.active_days` | a whole number from -1 to 36500 | `-1` | `RECOLLECTUM_LIFECYCLE__ACTIVE_DAYS` "
        "| no | Days until a memory is archived; 0: never, -1: as the preset says. |"
    ) in rows


def test_every_sentence_is_one() -> None:
    for setting in all_settings().values():
        assert setting.spec.doc[0].isupper()
        assert setting.spec.doc.endswith(".")
        assert setting.take(setting.default) == setting.default


def test_every_variable_that_the_source_names_is_taken() -> None:
    texts = (path.read_text(encoding="utf-8") for path in Path(recollectum.__file__).parent.rglob("*.py"))
    named = {name for text in texts for name in re.findall(r'"(RECOLLECTUM_[A-Z_]+[A-Z])"', text)}
    assert "RECOLLECTUM_PASSPHRASE" in named
    assert named <= OTHER_VARIABLES | {setting.variable for setting in all_settings().values()}
