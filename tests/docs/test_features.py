"""The features page lists every id once, and calls built only what a test proves."""

import ast

from tests.plugins.features import PAGE, read_features
from tests.shape.source import modules

_LAST = {"G": 22, "A": 19, "C": 18, "P": 11, "M": 10}
_IDS = [f"{letter}{number}" for letter, last in _LAST.items() for number in range(1, last + 1)]


def proven() -> set[str]:
    """The ids that stand in a feature mark of any test."""
    found: set[str] = set()
    marked = (module for module in modules("tests") if "mark.feature" in module.text)
    for module in marked:
        for node in module.nodes:
            if isinstance(node, ast.Call) and ast.unparse(node.func) == "pytest.mark.feature":
                found.update(str(arg.value) for arg in node.args if isinstance(arg, ast.Constant))
    return found


def test_every_id_is_listed_once_and_in_order() -> None:
    listed = [feature.id for feature in read_features(PAGE.read_text(encoding="utf-8"))]
    assert listed == _IDS


def test_every_state_is_built_or_planned() -> None:
    features = read_features(PAGE.read_text(encoding="utf-8"))
    assert {feature.state.split()[0] for feature in features} <= {"built", "planned"}


def test_what_is_called_built_is_proven() -> None:
    features = read_features(PAGE.read_text(encoding="utf-8"))
    built = {feature.id for feature in features if feature.state.startswith("built")}
    assert not built - proven(), "mark a test with pytest.mark.feature for each, or call it planned"
