"""A schema without the rules that a server does not know."""

from collections.abc import Mapping, Sequence, Set
from typing import cast

from recollectum.domain.message import Json


def loosened(schema: Mapping[str, Json], unknown: Set[str]) -> dict[str, Json]:
    """The schema without those rules, at every depth; whatever fits the one that was given fits it too."""
    kept = {name: value for name, value in schema.items() if name not in unknown}
    if isinstance(schema.get("items"), Mapping):
        kept["items"] = loosened(cast("Mapping[str, Json]", schema["items"]), unknown)
    if "properties" in schema:
        members = cast("Mapping[str, Mapping[str, Json]]", schema["properties"])
        kept["properties"] = {name: loosened(member, unknown) for name, member in members.items()}
    if "anyOf" in schema:
        branches = cast("Sequence[Mapping[str, Json]]", schema["anyOf"])
        kept["anyOf"] = [loosened(branch, unknown) for branch in branches]
    return kept
