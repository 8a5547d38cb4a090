"""An extension has an effect only after a person agreed to exactly its files, and never a wider one than theirs."""

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from recollectum import Conflict, Denied, ExtensionState, InvalidInput, NotFound, Recollectum
from recollectum.domain.errors import Damaged
from recollectum.home.extensions.register import read_register
from recollectum.vault import policies
from tests.home.extensions.samples import files, write_archives, write_folder
from tests.home.trusting import trust

_SETTINGS = {"encryption": "off", "storage.reserve_mib": 0}


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Recollectum]:
    # The files of policies are looked at before each operation.
    monkeypatch.setattr(policies, "_RELOAD_SECONDS", 0)
    with Recollectum(tmp_path / "home", settings=_SETTINGS) as opened:
        yield opened


@pytest.fixture
def source(tmp_path: Path) -> Path:
    return write_folder(tmp_path / "source")


def _install(home: Recollectum, source: Path) -> Path:
    made = home.extensions.install(source, home.extensions.preview(source).token)
    return Path(made.folder)


def _extensions(home: Recollectum) -> dict[str, ExtensionState]:
    return {one.name: one.state for one in home.extensions.list()}


@pytest.mark.feature("C11")
def test_a_preview_changes_nothing_and_says_what_it_may_do(home: Recollectum, source: Path) -> None:
    shown = home.extensions.preview(source)
    assert shown.may == (
        "hands agents the MCP server 'weather', which runs: node ${extensionPath}${/}server.js",
        "hands agents the command 'forecast.toml'",
        "hands agents the text of CONTEXT.md for their context",
        "denies the tool run_shell_command(rm)",
        "adds 1 rule of policies/strict.toml to deny or ask, and never to allow",
        "sets recall.limit to 7, unless you set it",
    )
    assert (shown.name, shown.version, shown.replaces, shown.files) == ("weather", "1.2.0", None, 6)
    assert home.extensions.list() == []
    assert list((home.home.root / "extensions").iterdir()) == []


def test_each_form_of_an_archive_is_installed(home: Recollectum, tmp_path: Path) -> None:
    inside = {f"weather-1.2.0/{name}": text for name, text in files().items()}
    for archive in (*write_archives(tmp_path / "plain"), *write_archives(tmp_path / "inside", inside)):
        _install(home, archive)
        assert _extensions(home) == {"weather": ExtensionState.ENABLED}
        home.extensions.delete("weather")
    assert home.extensions.list() == []


def test_what_changed_since_the_preview_is_not_installed(home: Recollectum, source: Path) -> None:
    token = home.extensions.preview(source).token
    (source / "server.js").write_text("// another", encoding="utf-8")
    with pytest.raises(Conflict, match="changed since the preview; make a new preview"):
        home.extensions.install(source, token)
    assert home.extensions.list() == []


@pytest.mark.parametrize(
    ("name", "text", "words"),
    [
        ("policies/wide.toml", '[[rule]]\ntool = "x"\ndecision = "allow"\n', "an extension may not allow anything"),
        ("policies/wide.toml", '[[rule]]\ntool = "*"\ndecision = "deny"\n', "may not have a rule about extensions"),
        (
            "policies/wide.toml",
            '[[rule]]\ntool = "extension.*"\ndecision = "deny"\n',
            "may not have a rule about extensions",
        ),
        ("policies/bad.toml", "[[rule", "policies/bad.toml:1: it is not TOML"),
        ("settings.toml", 'encryption = "off"\n', "encryption may not be set by an extension"),
        ("settings.toml", "[recall]\nlimit = 0\n", "recall.limit is 0; it must be"),
        ("settings.toml", '[sessions]\ndirect = "${HOME}"\n', "refers to the environment, which an extension may not"),
        ("recollectum-extension.json", "{}", "schema is missing"),
    ],
)
def test_what_an_extension_may_not_have_is_refused_and_nothing_is_left(
    home: Recollectum, source: Path, name: str, text: str, words: str
) -> None:
    (source / name).write_text(text, encoding="utf-8")
    with pytest.raises(InvalidInput, match=words):
        home.extensions.preview(source)
    assert list((home.home.root / "extensions").iterdir()) == []


def test_a_folder_that_was_copied_by_hand_has_no_effect_until_it_is_trusted(home: Recollectum, source: Path) -> None:
    write_folder(home.home.root / "extensions/copied-from-a-friend")
    assert _extensions(home) == {"weather": ExtensionState.UNTRUSTED}
    assert home.extensions.merged().servers == ()
    memory = home.vault("user:ada").memories.save("a thing").memory
    home.vault("user:ada").memories.forget(memory.id)
    shown = home.extensions.preview_trust("weather")
    assert home.extensions.trust("weather", shown.token).state is ExtensionState.ENABLED
    assert [one.name for one in home.extensions.merged().servers] == ["weather"]
    kept = home.vault("user:ada").memories.save("another thing").memory
    with pytest.raises(Denied, match=r"strict\.toml:1"):
        home.vault("user:ada").memories.forget(kept.id)


@pytest.mark.parametrize("change", ["edit", "add", "remove", "link", "manifest"])
def test_a_changed_file_takes_the_effect_away_and_is_reported(home: Recollectum, source: Path, change: str) -> None:
    folder = _install(home, source)
    if change == "edit":
        (folder / "server.js").write_text("// evil", encoding="utf-8")
    elif change == "add":
        (folder / "commands/more.toml").write_text("", encoding="utf-8")
    elif change == "remove":
        (folder / "CONTEXT.md").unlink()
    elif change == "link":
        (folder / "CONTEXT.md").unlink()
        (folder / "CONTEXT.md").symlink_to("/etc/passwd")
    else:
        (folder / "recollectum-extension.json").write_text("{", encoding="utf-8")
    found = home.extensions.get("weather")
    assert found.state is ExtensionState.CHANGED
    assert found.changed
    assert "recollectum extensions trust weather" in found.problems[0]
    merged = home.extensions.merged()
    assert (merged.servers, merged.files) == ((), ())
    assert "weather brings nothing" in merged.problems[0]


def test_a_broken_one_does_not_stop_the_others(home: Recollectum, source: Path) -> None:
    _install(home, source)
    (home.home.root / "extensions/broken").mkdir()
    (home.home.root / "extensions/odd").mkdir()
    (home.home.root / "extensions/odd/gemini-extension.json").write_text('{"name": 1}', encoding="utf-8")
    found = {one.name: one for one in home.extensions.list()}
    assert {name: one.state for name, one in found.items()} == {
        "broken": ExtensionState.BROKEN,
        "odd": ExtensionState.BROKEN,
        "weather": ExtensionState.ENABLED,
    }
    assert found["odd"].problems[0].startswith("gemini-extension.json: name is 1; it must be")
    assert [one.name for one in home.extensions.merged().servers] == ["weather"]


def test_a_disabled_one_brings_nothing_and_an_enabled_one_again(home: Recollectum, source: Path) -> None:
    _install(home, source)
    vault = home.vault("user:ada")
    memory = vault.memories.save("a thing").memory
    with pytest.raises(Denied):
        vault.memories.forget(memory.id)
    assert home.extensions.switch("weather", enabled=False).state is ExtensionState.DISABLED
    assert home.extensions.merged().servers == ()
    vault.memories.forget(memory.id)
    assert home.extensions.switch("weather", enabled=True).state is ExtensionState.ENABLED
    assert home.extensions.merged().servers != ()


def test_a_project_differs_from_the_rest(
    home: Recollectum, source: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    _install(home, source)
    with pytest.raises(InvalidInput, match="there is no project here"):
        home.extensions.switch("weather", enabled=False, in_project=True)
    work = tmp_path / "work"
    write_folder(work / ".recollectum/extensions/local", files(name="local"))
    trust(home.home, work)
    monkeypatch.chdir(work)
    with Recollectum(home.home.root, settings=_SETTINGS) as here:
        assert _extensions(here) == {"local": ExtensionState.UNTRUSTED, "weather": ExtensionState.ENABLED}
        here.extensions.switch("weather", enabled=False, in_project=True)
        assert here.extensions.get("weather").state is ExtensionState.DISABLED
        assert here.extensions.merged().servers == ()
    assert home.extensions.get("weather").state is ExtensionState.ENABLED
    with Recollectum(home.home.root) as here:
        assert here.settings.recall.limit == 10, "the settings of a disabled extension have no effect"


@pytest.mark.feature("C11")
def test_an_update_keeps_the_switches_and_refuses_an_older_version(home: Recollectum, source: Path) -> None:
    old = _install(home, source)
    home.extensions.switch("weather", enabled=False)
    with pytest.raises(Conflict, match=r"weather 1\.2\.0 is installed already"):
        home.extensions.install(source, home.extensions.preview(source).token)
    write_folder(source, files(version="1.10.0"))
    token = home.extensions.preview(source).token
    updated = home.extensions.update("weather", token)
    assert (updated.version, updated.state) == ("1.10.0", ExtensionState.DISABLED)
    assert not old.exists()
    write_folder(source, files(version="1.9.0"))
    token = home.extensions.preview(source).token
    with pytest.raises(Conflict, match=r"1\.9\.0 is older; add --downgrade"):
        home.extensions.update("weather", token)
    assert home.extensions.get("weather").version == "1.10.0"
    assert home.extensions.update("weather", token, downgrade=True).version == "1.9.0"
    write_folder(source, files(name="other"))
    with pytest.raises(InvalidInput, match="of 'other' and not of 'weather'"):
        home.extensions.update("weather", home.extensions.preview(source).token)


def test_an_update_to_the_same_files_mends_what_was_changed(home: Recollectum, source: Path) -> None:
    folder = _install(home, source)
    (folder / "server.js").write_text("// evil", encoding="utf-8")
    updated = home.extensions.update("weather", home.extensions.preview(source).token)
    assert updated.state is ExtensionState.ENABLED
    assert not folder.exists()
    assert (Path(updated.folder) / "server.js").read_text("utf-8") == "// a server"
    assert home.extensions.update("weather", home.extensions.preview(source).token).folder == updated.folder


def test_the_person_comes_first_and_each_conflict_is_told(home: Recollectum, source: Path, tmp_path: Path) -> None:
    folder = _install(home, source)
    _install(home, write_folder(tmp_path / "other", files(name="another")))
    root = home.home.root
    write_folder(root, {"commands/forecast.toml": "mine", "skills/mine/SKILL.md": "mine"})
    own = {"mcpServers": {"weather": {"command": "mine", "env": {"TOKEN": "secret"}}}}
    (root / "mcp.json").write_text(json.dumps(own), encoding="utf-8")
    found = home.extensions.merged()
    assert [(one.name, one.extension, one.config["command"]) for one in found.servers] == [("weather", None, "mine")]
    assert [(one.kind, one.name, one.extension) for one in found.files] == [
        ("commands", "forecast.toml", None),
        ("skills", "mine", None),
        ("context", "another/CONTEXT.md", "another"),
        ("context", "weather/CONTEXT.md", "weather"),
    ]
    assert found.conflicts == (
        "MCP server 'weather' of another is left out, because you have one of that name",
        "commands 'forecast.toml' of another is left out, because you have one of that name",
        "MCP server 'weather' of weather is left out, because you have one of that name",
        "commands 'forecast.toml' of weather is left out, because you have one of that name",
    )
    (root / "mcp.json").write_text("[", encoding="utf-8")
    found = home.extensions.merged()
    assert found.problems[0].startswith(f"{root / 'mcp.json'} line 1 is not JSON")
    assert [(one.name, one.extension) for one in found.servers] == [("weather", "another")]
    assert found.servers[0].variables == ("WEATHER_KEY",)
    assert found.servers[0].config["args"] != [f"{folder}/server.js"]


def test_a_key_with_admin_sees_no_values_and_changes_nothing(home: Recollectum, source: Path) -> None:
    _install(home, source)
    mine = {"url": "https://x.example/?key=secret", "args": ["secret"], "headers": {"Authorization": "Bearer secret"}}
    own = {"mcpServers": {"mine": {**mine, "description": "mine"}}}
    (home.home.root / "mcp.json").write_text(json.dumps(own), encoding="utf-8")
    home.people.add("user:dave")
    with pytest.raises(Denied):
        home.as_person("user:dave").extensions.list()
    dave = home.login(home.keys.add("user:dave", permissions=("read", "admin"))[1])
    found = {one.name: one for one in dave.extensions.merged().servers}
    assert found["mine"].config == {"description": "mine", "headers": {"Authorization": "${Authorization}"}}
    assert found["weather"].config["env"] == {"CITY": "${CITY}"}
    assert _extensions(dave) == {"weather": ExtensionState.ENABLED}
    for act in (
        lambda: dave.extensions.switch("weather", enabled=False),
        lambda: dave.extensions.delete("weather"),
        lambda: dave.extensions.preview(source),
    ):
        with pytest.raises(Denied):
            act()


@pytest.mark.feature("C11")
def test_settings_and_rules_of_an_extension_come_after_those_of_the_person(home: Recollectum, source: Path) -> None:
    _install(home, source)
    root = home.home.root
    with Recollectum(root) as again:
        assert again.settings.recall.limit == 7
        assert str(again.loaded_settings.origins["recall.limit"]).startswith("extension (")
        memory = again.vault("user:ada").memories.save("a thing").memory
        with pytest.raises(Denied):
            again.vault("user:ada").memories.forget(memory.id)
    (root / "settings.toml").write_text("[recall]\nlimit = 9\n", encoding="utf-8")
    write_folder(root, {"policies/mine.toml": '[[rule]]\ntool = "memory.delete"\ndecision = "allow"\n'})
    with Recollectum(root) as again:
        assert again.settings.recall.limit == 9
        again.vault("user:ada").memories.forget(memory.id)


def test_rules_that_cannot_be_read_deny_others_and_not_the_process_owner(home: Recollectum, source: Path) -> None:
    folder = _install(home, source)
    (folder / "policies/strict.toml").write_text("", encoding="utf-8")
    home.vault("user:ada").memories.save("a thing")
    ada = home.as_person("user:ada").vault("user:ada")
    with pytest.raises(Denied, match="missing or changed since it was agreed to"):
        ada.memories.save("another")
    home.extensions.delete("weather")
    ada.memories.save("another")


def test_a_damaged_register_is_told_and_nothing_has_an_effect(home: Recollectum, source: Path) -> None:
    _install(home, source)
    register = home.home.root / "extensions/installed.json"
    whole = json.loads(register.read_text("utf-8"))
    for text in ("", "[]", "{}", '{"form": 1, "extensions": {"a": 1}}', json.dumps(whole).replace("weather@", "../x@")):
        register.write_text(text, encoding="utf-8")
        with pytest.raises(Damaged, match="cannot be read, so no extension has an effect"):
            home.extensions.list()
        with Recollectum(home.home.root) as again:
            assert again.settings.recall.limit == 10
    register.write_text(json.dumps(whole), encoding="utf-8")
    assert list(read_register(home.home)) == ["weather"]


def test_what_is_not_installed_is_not_found(home: Recollectum) -> None:
    for act in (home.extensions.get, home.extensions.delete, home.extensions.source_of, home.extensions.preview_trust):
        with pytest.raises(NotFound, match="there is no installed extension 'none'; see: recollectum extensions list"):
            act("none")
