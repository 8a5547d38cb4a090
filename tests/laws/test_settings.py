"""Laws of settings: merging is a chain, what is set is read back, and moving twice is moving once."""

import json
import tempfile
from pathlib import Path

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from recollectum.domain.errors import SettingsError
from recollectum.home.paths import Home
from recollectum.settings.check import SettingOrigin, SettingsScope, check_tree
from recollectum.settings.edit import set_value, unset_value
from recollectum.settings.load import Values, load, merge, with_origins
from recollectum.settings.migrate import migrate
from recollectum.settings.registry import Setting, all_settings
from recollectum.settings.spec import Value

pytestmark = pytest.mark.slow

names = st.text("abcxyzäßé日-_ ", min_size=1, max_size=8).map(lambda name: name.replace(" ", "")).filter(bool)


#: Texts that have a form of their own.
_FORMS = {
    "server.host": ["127.0.0.1", "::1", "0.0.0.0"],
    "server.origins": ["", "https://app.example", "https://app.example, http://localhost:5173"],
    "lifecycle.agents": ["", "coder=30", "coder=30, scratch=7/0/1"],
    "recall.floor": ["auto", "0", "0.25", "1"],
    "storage.url": ["", "postgresql://service:secret@db.example:5432/memory"],
    "storage.replica_url": ["", "postgresql://service@standby.example/memory"],
    "storage.second_url": ["", "postgresql://service@second.example/memory"],
    "storage.migrator_url": ["", "postgresql://migrator@db.example/memory"],
    "tasks.url": ["", "s3://bucket/prefix", "memory://name"],
    "storage.keys_url": ["", "postgresql://service@keys.example/keys"],
    "storage.keys_migrator_url": ["", "postgresql://migrator@keys.example/keys"],
    "recall.sources": ["notes", "sessions,memories", "memories, sessions, notes"],
}


def values_of(setting: Setting) -> st.SearchStrategy[Value]:
    """Every value the setting allows."""
    spec = setting.spec
    if spec.one_of:
        return st.sampled_from(spec.one_of)
    if setting.key.endswith(".base_url"):
        return st.just("") | st.builds("https://{}".format, names)
    if setting.key == "key_file":
        return st.just("") | st.builds("/{}".format, st.text("ab\"'\\#=[] é𝄞/~$", max_size=12))
    if setting.key in _FORMS:
        return st.sampled_from(_FORMS[setting.key])
    if isinstance(setting.default, str):
        return st.just("") | names
    assert spec.least is not None
    assert spec.most is not None
    if isinstance(setting.default, int):
        return st.integers(int(spec.least), int(spec.most))
    return st.floats(spec.least, spec.most, allow_nan=False)


def nested(flat: dict[str, Value]) -> dict[str, object]:
    tree: dict[str, object] = {}
    for key, value in flat.items():
        section, _, name = key.rpartition(".")
        escaped = value.replace("$", "$$") if isinstance(value, str) else value
        if section:
            table = tree.setdefault(section, {})
            assert isinstance(table, dict)
            table[name] = escaped
        else:
            tree[name] = escaped
    return tree


trees = st.fixed_dictionaries({}, optional={key: values_of(setting) for key, setting in all_settings().items()}).map(
    nested
)
one_value = st.sampled_from(list(all_settings().values())).flatmap(
    lambda one: st.tuples(st.just(one.key), values_of(one))
)


def layer(tree: dict[str, object], scope: SettingsScope) -> Values:
    checked = check_tree(tree, SettingOrigin(scope, "file"), {})
    assert checked.problems == []
    return with_origins(checked)


@pytest.mark.feature("C1")
@given(trees, trees, trees)
def test_merging_is_associative_and_the_last_that_speaks_wins(
    first: dict[str, object], second: dict[str, object], third: dict[str, object]
) -> None:
    a = layer(first, SettingsScope.SYSTEM_DEFAULTS)
    b = layer(second, SettingsScope.USER)
    c = layer(third, SettingsScope.SYSTEM)
    merged = merge(merge(a, b), c)
    assert merged == merge(a, merge(b, c))
    for key in all_settings():
        spoken = [one[key] for one in (a, b, c) if key in one]
        assert merged.get(key) == (spoken[-1] if spoken else None)
    assert merge(a, a) == a == merge(a, {}) == merge({}, a)


def read_back(home: Home, key: str) -> object:
    settings: object = load(home, cwd=home.root, environ={}, system=home.root / "no").settings
    for part in key.split("."):
        settings = getattr(settings, part)
    return settings


@pytest.mark.feature("C1")
@given(st.lists(one_value, min_size=1, max_size=6))
@example([("key_file", '/a"b\\c#d$ ]'), ("recall.limit", 3), ("key_file", ""), ("isolation", "agent")])
def test_what_is_set_is_read_back_and_what_is_unset_is_gone(changes: list[tuple[str, Value]]) -> None:
    with tempfile.TemporaryDirectory() as folder:
        home = Home(Path(folder))
        wanted: dict[str, Value] = {}
        for key, value in changes:
            set_value(home, key, str(value).replace("$", "$$"))
            wanted[key] = value
            assert {key: read_back(home, key) for key in wanted} == wanted
        for key in wanted:
            unset_value(home, key)
            assert read_back(home, key) == all_settings()[key].default


def files(home: Home) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in home.root.iterdir()}


@pytest.mark.feature("C2")
@given(trees)
def test_moving_twice_is_moving_once_and_changes_no_setting(tree: dict[str, object]) -> None:
    with tempfile.TemporaryDirectory() as folder:
        home = Home(Path(folder))
        home.legacy_settings_file.write_text(json.dumps(tree))
        before = load(home, cwd=home.root, environ={}, system=home.root / "no").settings
        migrate(home, dry_run=False)
        once = files(home)
        migrate(home, dry_run=False)
        assert files(home) == once
        assert load(home, cwd=home.root, environ={}, system=home.root / "no").settings == before


def said_to(home: Home, key: str, text: str) -> str:
    try:
        set_value(home, key, text)
    except SettingsError as error:
        return str(error)
    return ""


@given(st.text(), st.text())
def test_no_key_and_no_text_can_break_the_file(key: str, text: str) -> None:
    with tempfile.TemporaryDirectory() as folder:
        home = Home(Path(folder))
        for name in (key, "key_file", "default_user", "recall.limit"):
            assert "\n" not in said_to(home, name, text)
        check = load(home, cwd=home.root, environ={}, system=home.root / "no") if "$" not in text else None
        assert check is None or check.settings.recall.max == 1000
