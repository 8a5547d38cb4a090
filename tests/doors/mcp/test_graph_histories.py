"""The graph profile and the reference memory server say the same to random histories, but for a listed few things."""

import json
import os
import random
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from mcp import Client, StdioServerParameters

from recollectum import Recollectum
from tests.doors.mcp.every_tool import text_of
from tests.doors.mcp.served import over_stdio, run
from tests.doors.mcp.test_graph import PACKAGE, VERSION, answer_of
from tests.tools.npm import node, node_package

pytestmark = pytest.mark.process

#: For all histories together; a thousand or more in a long run.
STEPS = int(os.environ.get("RECOLLECTUM_TEST_GRAPH_STEPS", "120"))
HISTORIES = 3
#: Names that differ by case, blanks, form and script, and one that is a word of the other's language.
NAMES = (
    "Ann",
    "ann",
    "Ann ",
    "Bo the second",
    "Zoë",
    "Zoe\u0308",
    "名前",
    "a\tb",
    "constructor",
    "__proto__",
    "",
    "0",
    "null",
)
KINDS = ("person", "Person", "org", "", "größe")
TEXTS = (
    "likes teal",
    "Likes Teal",
    "likes  teal",
    "sagt „grüß Gott“",
    "",
    "0",
    "line\nbreak",
    "ﬁsh",
    "\U0001f9e1",
    "x" * 300,
)


class History:
    """Makes steps at random, from few enough names that they meet each other."""

    def __init__(self, seed: int) -> None:
        self._chance = random.Random(seed)

    def step(self) -> tuple[str, dict[str, Any]]:
        """Return a call of one tool."""
        made = {
            "create_entities": {"entities": self._some(self._entity, by="name")},
            "create_relations": {"relations": self._some(self._relation)},
            "add_observations": {"observations": self._some(self._addition, by="entityName")},
            "delete_entities": {"entityNames": self._names()},
            "delete_observations": {"deletions": self._some(self._deletion)},
            "delete_relations": {"relations": self._some(self._relation)},
            "read_graph": {},
            "search_nodes": {"query": self._chance.choice([*NAMES, *TEXTS, "l", "TEAL", "ß", "é", "nothing"])},
            "open_nodes": {"names": self._names()},
        }
        weights = [5, 4, 4, 1, 2, 2, 2, 3, 2]
        (tool,) = self._chance.choices(list(made), weights)
        return tool, made[tool]

    def _some(self, one: Callable[[], dict[str, Any]], by: str | None = None) -> list[dict[str, Any]]:
        many = [one() for _ in range(self._chance.randrange(4))]
        return list({given[by] if by else str(given): given for given in many}.values())

    def _names(self) -> list[str]:
        return [self._chance.choice(NAMES) for _ in range(self._chance.randrange(3))]

    def _texts(self) -> list[str]:
        return [self._chance.choice(TEXTS) for _ in range(self._chance.randrange(4))]

    def _entity(self) -> dict[str, Any]:
        return {"name": self._names_one(), "entityType": self._chance.choice(KINDS), "observations": self._texts()}

    def _names_one(self) -> str:
        return self._chance.choice(NAMES)

    def _relation(self) -> dict[str, Any]:
        return {"from": self._names_one(), "to": self._names_one(), "relationType": self._chance.choice(KINDS)}

    def _addition(self) -> dict[str, Any]:
        return {"entityName": self._names_one(), "contents": self._texts()}

    def _deletion(self) -> dict[str, Any]:
        return {"entityName": self._names_one(), "observations": self._texts()}


@pytest.mark.parametrize("seed", range(HISTORIES))
def test_a_random_history_is_answered_as_by_the_reference_server_and_its_file_imported(
    seed: int, tmp_path: Path
) -> None:
    program = node_package(PACKAGE, VERSION) / "dist" / "index.js"
    file = tmp_path / "memory.jsonl"
    reference = StdioServerParameters(command=str(node()), args=[str(program)], env={"MEMORY_FILE_PATH": str(file)})

    async def work() -> None:
        history = History(seed)
        async with Client(reference, mode="legacy") as theirs, over_stdio("legacy", "--profile", "graph") as ours:
            for number in range(STEPS // HISTORIES):
                tool, arguments = history.step()
                wanted = answer_of(await theirs.call_tool(tool, arguments))
                assert answer_of(await ours.call_tool(tool, arguments)) == wanted, (number, tool, arguments)

    run(work)
    with Recollectum(tmp_path / "home", settings={"encryption": "off"}) as home:
        vault = home.vault("user:ann")
        vault.admin.imports.run(vault.admin.imports.preview([file]))
        held = [json.loads(one.content) for one in vault.memories.list(limit=1000)]
        written = [json.loads(line) for line in file.read_text("utf-8").splitlines()]
        assert sorted(map(str, held)) == sorted(map(str, written))
        assert held


ODD = {"name": "key \0 ghp_" + "a1B2" * 9, "entityType": "secret", "observations": ["x"]}
TWICE = {"name": "Ann", "entityType": "person", "observations": ["first"]}
KEPT = "key \ufffd [secret:github-token]"


def test_what_is_kept_in_another_form_is_found_by_the_name_that_was_given() -> None:
    """Each line of the table of differences in docs/concepts/mcp.md that this server decides."""

    async def work() -> None:
        async with over_stdio("legacy", "--profile", "graph") as ours:

            async def call(tool: str, **arguments: object) -> Any:  # noqa: ANN401 - JSON of any form
                result = await ours.call_tool(tool, arguments)
                return text_of(result) if result.is_error else result.structured_content

            made = await call("create_entities", entities=[TWICE, {**TWICE, "observations": ["second"]}, ODD])
            assert [one["name"] for one in made["entities"]] == ["Ann", KEPT]
            assert made["notice"]
            knows = {"from": "Ann", "to": ODD["name"], "relationType": "has"}
            assert len((await call("create_relations", relations=[knows, knows]))["relations"]) == 1
            await call("add_observations", observations=[{"entityName": ODD["name"], "contents": ["y", "z"]}])
            await call("delete_observations", deletions=[{"entityName": ODD["name"], "observations": ["x"]}])
            opened = await call("open_nodes", names=[ODD["name"]])
            assert opened["entities"] == [{"name": KEPT, "entityType": "secret", "observations": ["y", "z"]}]
            assert (await call("search_nodes", query=ODD["name"])) == opened
            await call("delete_relations", relations=[knows])
            await call("delete_entities", entityNames=[ODD["name"]])
            assert await call("read_graph") == {"entities": [TWICE], "relations": []}
            too_long = {**TWICE, "name": "long", "observations": ["x" * 1_000_000]}
            assert "too long" in await call("create_entities", entities=[too_long])
            assert "must have 'entities'" in await call("create_entities")

    run(work)
