"""The OpenAPI document describes response bodies by the dataclasses that they are made from."""

from dataclasses import fields
from typing import Any

import jsonschema
import pytest

from recollectum.domain.memory import Kind, Memory
from recollectum.domain.proposal import Act, Finding
from recollectum.doors.rest.response_schemas import schema_of
from recollectum.vault.purge.request import PurgeRequest
from tests.doors.http.served import Served


def _check(served: Served, method: str, route: str, id_: str = "", body: object = None) -> Any:  # noqa: ANN401 - JSON
    """Ask, and hold the body against the schema of the route; the bodies that schemathesis has no data for."""
    document = served.ask("GET", "/openapi.json").json
    before, _, after = route.partition("{")
    answer = served.ask(method, before + id_ + after.partition("}")[2], body)
    described = document["paths"][route][method.lower()]["responses"][str(answer.status)]
    schema = {**described["content"]["application/json"]["schema"], "components": document["components"]}
    jsonschema.validate(answer.json, schema, cls=jsonschema.Draft202012Validator)
    # Every body has the fields that it is said to have, so a schema that says nothing would be found.
    assert answer.json.keys() == schema["properties"].keys()
    return answer.json


@pytest.mark.loopback
def test_bodies_with_things_in_them_are_as_described(served: Served) -> None:
    vault = served.home.vault("user:alice")
    chat = vault.sessions.open()
    chat.add("user", "I drink oolong tea")
    chat.add("assistant", "with milk?")
    memory = vault.memories.save("Ada drinks oolong tea", message_id=chat.messages()[0].id).memory
    vault.learnings.save("short answers", "preference")
    found = Finding(act=Act.ADD, content="Ada drinks milk", kind=Kind.FACT, importance=0.5, spans=())
    (proposal,) = vault.admin.review.propose([found])
    gone = vault.memories.save("to be erased")
    receipt = vault.privacy.purge.run(vault.privacy.purge.preview(PurgeRequest.memories(gone.id)).token)
    assert _check(served, "POST", "/v1/recall", body={"query": "oolong tea"})["hits"]
    assert _check(served, "POST", "/v1/context", body={"query": "oolong tea", "session_id": chat.id})["messages"]
    assert _check(served, "GET", "/v1/profile")["profile"]
    assert _check(served, "GET", "/v1/memories/{memory_id}/sources", memory.id)["sources"]
    assert _check(served, "GET", "/v1/sessions/{session_id}/messages", chat.id)["messages"]
    assert _check(served, "GET", "/v1/learnings")["learnings"]
    vault.state.history.add("ls")
    assert _check(served, "GET", "/v1/history")["commands"]
    assert _check(served, "PUT", "/v1/state", body={"key": "theme", "value": "dark"})["value"]
    assert _check(served, "GET", "/v1/state")["values"]
    assert _check(served, "POST", "/v1/accounts", body={"service": "google", "account": "ada"})["account"]
    assert _check(served, "GET", "/v1/accounts")["accounts"]
    assert _check(served, "PUT", "/v1/tasks/one", body={"id": "t-17", "data": {"state": "working"}})["task"]
    assert _check(served, "GET", "/v1/tasks")["tasks"]
    assert _check(served, "GET", "/v1/review/{proposal_id}", proposal.id)["diff"]
    assert _check(served, "GET", "/v1/receipts")["receipts"]
    assert _check(served, "GET", "/v1/receipts/{receipt_id}", receipt.id)
    assert _check(served, "GET", "/v1/receipts/{receipt_id}/verification", receipt.id)
    assert _check(served, "GET", "/v1/events")["events"]
    assert _check(served, "POST", "/v1/purges")["preview"]["counts"]
    admin = served.with_key(served.new_key("user:alice", "read", "write", "admin"))
    made = _check(admin, "POST", "/v1/keys", body={"scopes": ["read"]})
    assert _check(admin, "POST", "/v1/keys/{key_id}/rotations", made["key"]["id"])["secret"]
    assert _check(admin, "GET", "/v1/keys")["keys"]


@pytest.mark.loopback
def test_each_class_is_one_component_with_all_of_its_fields(served: Served) -> None:
    document = served.ask("GET", "/openapi.json").json
    schemas = document["components"]["schemas"]
    assert list(schemas["Memory"]["properties"]) == [
        # The notice of a write is in its answer, beside the memory.
        one.name
        for one in fields(Memory)
        if one.name != "notice"
    ]
    assert schemas["Kind"]["enum"] == [one.value for one in Kind]
    assert {"Session", "Message", "Hit", "Proposal", "Receipt", "ApiKey"} <= schemas.keys()
    assert "$defs" not in str(document)


def test_a_class_that_cannot_be_sent_is_refused() -> None:
    with pytest.raises(TypeError, match="complex has no JSON form"):
        schema_of({"value": complex}, {})
