"""A manifest is read in both forms, and every problem of it is one sentence with the field, the value and the cure."""

import json
import os
import random
from pathlib import Path
from typing import Any, cast

import jsonschema
import pytest

from recollectum.domain.errors import InvalidInput
from recollectum.home.extensions.manifest import (
    GEMINI_NAME,
    NAME,
    json_schema,
    parse_manifest,
    read_manifest,
    version_order,
)
from tests.home.extensions.samples import MANIFEST, write_folder
from tests.shape.source import ROOT

#: How many made-up manifests are read; the full run has 10,000.
FUZZED = int(os.environ.get("RECOLLECTUM_TEST_FUZZED_EXTENSIONS", "400"))


def _data(**changes: object) -> bytes:
    return json.dumps({name: one for name, one in {**MANIFEST, **changes}.items() if one is not None}).encode()


def _refusal(data: bytes, file: str = NAME) -> str:
    with pytest.raises(InvalidInput) as caught:
        parse_manifest(data, file)
    return str(caught.value)


@pytest.mark.feature("C11")
def test_a_manifest_is_read_with_all_it_says() -> None:
    found = parse_manifest(_data(), NAME)
    assert (found.name, found.version, found.description) == ("weather", "1.2.0", "Tells the weather")
    assert found.context_files == ("CONTEXT.md",)
    assert found.exclude_tools == ("run_shell_command(rm)",)
    assert [(one.variable, one.secret) for one in found.settings] == [("WEATHER_KEY", True)]
    assert found.servers["weather"]["command"] == "node"


def test_a_manifest_of_gemini_cli_is_read_and_its_other_fields_are_named(tmp_path: Path) -> None:
    document: dict[str, object] = {
        "name": "maps",
        "version": "2",
        "mcpServers": {"maps": {"httpUrl": "https://maps.example/mcp", "oauth": {}}},
    }
    found = parse_manifest(json.dumps({**document, "themes": [1], "plan": {}}).encode(), GEMINI_NAME)
    assert found.context_files == ("GEMINI.md",)
    assert found.ignored == ("mcpServers.maps.oauth", "plan", "themes")
    assert found.servers == {"maps": {"httpUrl": "https://maps.example/mcp"}}
    write_folder(tmp_path, {NAME: _data().decode(), GEMINI_NAME: json.dumps(document)})
    assert read_manifest(tmp_path).name == "weather", "our own file comes first"


@pytest.mark.parametrize(
    ("changes", "sentence"),
    [
        ({"name": "Weather"}, "name is 'Weather'; it must be 1 to 64 lower-case letters, digits and hyphens"),
        ({"name": "weather\n"}, "name is 'weather\\n'; it must be"),
        ({"name": "con"}, "name is 'con', which Windows keeps for a device; choose another"),
        ({"name": None}, "name is missing; add it: the name of the extension."),
        ({"version": "new"}, "version is 'new'; it must be numbers with dots, such as 1.2.0"),
        ({"version": 1}, "version is 1; it must be numbers with dots"),
        ({"schema": 2}, "schema is 2; it must be 1"),
        ({"schema": True}, "schema is true; it must be 1"),
        ({"summary": "x"}, "summary is not known; use schema, name, version"),
        ({"mcpServers": []}, "mcpServers is a list; it must be an object"),
        ({"mcpServers": {"a": {}}}, "mcpServers.a has none of them; give exactly one of command, url, httpUrl"),
        ({"mcpServers": {"a": {"command": "x", "url": "http://y"}}}, "mcpServers.a has command and url; give exactly"),
        ({"mcpServers": {"a": {"command": 5}}}, "mcpServers.a.command is 5; it must be a text on one line"),
        ({"mcpServers": {"a": {"command": "x", "trust": True}}}, "mcpServers.a.trust is not for an extension to say"),
        ({"mcpServers": {"a": {"url": "file:///etc"}}}, "mcpServers.a.url is 'file:///etc'; it must be an address"),
        ({"mcpServers": {"../a": {"command": "x"}}}, "a name in mcpServers is '../a'; it must be 1 to 64 letters"),
        ({"mcpServers": {"a": {"command": "x", "env": {"A B": "c"}}}}, "a name in mcpServers.a.env is 'A B'"),
        ({"contextFileName": "../secret"}, "contextFileName.0: the file '../secret' leads out of its folder"),
        ({"contextFileName": "/etc/passwd"}, "contextFileName.0: the file '/etc/passwd' is an absolute path"),
        ({"excludeTools": ["a b"]}, "excludeTools.0 is 'a b'; it must be the name of a tool"),
        ({"settings": [{"name": "x"}]}, "settings.0.envVar is missing; add it: the environment variable"),
        ({"settings": [{"name": "x", "envVar": "A"}] * 2}, "settings name A twice; keep one of them"),
        ({"description": "\x1b[31m"}, "description is '\\x1b[31m'; it must be a text on one line"),
        ({"description": "\ud800"}, "description is '\\ud800'; it must be a text on one line"),
        ({"description": "x" * 2001}, "description has 2,001 characters; it may have at most 2,000"),
    ],
)
def test_each_problem_is_one_sentence_with_the_field_the_value_and_the_cure(
    changes: dict[str, object], sentence: str
) -> None:
    told = _refusal(_data(**changes)).splitlines()
    assert len(told) == 1
    assert told[0].startswith(f"{NAME}: {sentence}")


def test_all_problems_are_told_at_once() -> None:
    assert len(_refusal(_data(name=1, version=2, excludeTools=3)).splitlines()) == 3


@pytest.mark.parametrize(
    ("data", "sentence"),
    [
        (b"{", f"{NAME} line 1 is not JSON: "),
        (b"[]", f"{NAME} is not a JSON object; begin it with a brace"),
        (b"\xff", f"{NAME} is not UTF-8 on line 1"),
        (b'{"a": 1, "a": 2}', f"{NAME}: 'a' is there twice; keep one of them"),
        (b'{"a": NaN}', f"{NAME} contains a value that no manifest can have"),
        (b'{"a": ' + b"[" * 100_000, f"{NAME} contains a value that no manifest can have"),
        (b'{"a": ' + b"9" * 100_000 + b"}", f"{NAME} contains a value that no manifest can have"),
    ],
)
def test_what_is_no_manifest_is_refused_in_one_sentence(data: bytes, sentence: str) -> None:
    assert _refusal(data).startswith(sentence)


def test_a_folder_without_a_manifest_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InvalidInput, match=r"has neither recollectum-extension.json nor gemini-extension.json"):
        read_manifest(tmp_path)


def test_versions_are_ordered() -> None:
    ordered = ["0.9", "1.0.0-alpha", "1.0.0-beta.2", "1.0.0-beta.10", "1.0", "1.0.1", "1.2", "1.10"]
    assert sorted(ordered[::-1], key=version_order) == ordered
    assert version_order("1.0") == version_order("1.0.0+build")


@pytest.mark.feature("C11")
def test_the_published_schema_is_the_one_of_the_code() -> None:
    published = json.loads((ROOT / "docs/reference/extension-manifest.schema.json").read_text("utf-8"))
    assert published == json_schema()
    jsonschema.Draft202012Validator.check_schema(published)


def test_made_up_manifests_are_read_or_refused_and_the_schema_agrees() -> None:
    chance = random.Random(11)
    validator: Any = jsonschema.Draft202012Validator(json_schema())
    counts = {True: 0, False: 0}
    for _ in range(FUZZED):
        document = _made_up(chance)
        data = json.dumps(document).encode()
        try:
            parse_manifest(data, NAME)
            fits = True
        except InvalidInput as error:
            told = str(error).splitlines()
            assert all(line.startswith(NAME) and len(line) < 600 and line.isprintable() for line in told)
            # What concerns several fields at once, the schema cannot say.
            fits = all(
                any(word in line for word in (" twice; ", "Windows", "the file ", "it must be the name of a tool"))
                for line in told
            )
        assert fits == validator.is_valid(json.loads(data)), (document, counts)
        counts[fits] += 1
        cut = data[: chance.randrange(len(data))] + bytes(chance.randbytes(chance.randrange(3)))
        for file in (NAME, GEMINI_NAME):
            try:
                parse_manifest(cut, file)
            except InvalidInput:
                counts[False] += 1
    assert min(counts.values()) > FUZZED // 50


_ODD: list[Any] = [
    "",
    "x",
    "a/../b",
    "\x00",
    "\ud800",
    -1,
    0,
    1,
    10**30,
    1.0,
    1.5,
    True,
    None,
    [],
    {},
    ["x"],
    {"x": 1},
    "é" * 3000,
]
_NAMES = [*MANIFEST, "trust", "command", "url", "env", "nme", "", "\x1b"]


def _odd(chance: random.Random) -> Any:  # noqa: ANN401 - any JSON
    return json.loads(json.dumps(chance.choice(_ODD)))


def _made_up(chance: random.Random) -> Any:  # noqa: ANN401 - any JSON
    document: Any = json.loads(json.dumps(MANIFEST))
    for _ in range(chance.choice((0, 1, 1, 2, 5))):
        _spoil(document, chance)
    return document if chance.random() < 0.98 else _odd(chance)


def _spoil(place: Any, chance: random.Random) -> None:  # noqa: ANN401 - any JSON
    is_object = isinstance(place, dict)
    keys = list(cast("dict[Any, Any]", place)) if is_object else [*range(len(place))]
    key = chance.choice(keys) if keys else None
    if is_object and (key is None or chance.random() < 0.15):
        cast("dict[str, Any]", place)[chance.choice(_NAMES)] = _odd(chance)
    elif key is None:
        cast("list[Any]", place).append(_odd(chance))
    elif isinstance(place[key], dict | list) and chance.random() < 0.7:
        _spoil(place[key], chance)
    elif chance.random() < 0.3:
        del place[key]
    else:
        place[key] = _odd(chance)
