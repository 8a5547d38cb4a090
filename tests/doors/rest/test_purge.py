"""Purging over HTTP: two steps, the caller's own data, and a receipt."""

import pytest

from recollectum.vault.purge.request import PurgeRequest
from tests.doors.http.served import Served


@pytest.mark.loopback
def test_a_purge_takes_two_steps_and_only_ones_own(served: Served) -> None:
    served.ask("POST", "/memory/add", {"content": "Alice drinks tea"})
    bob = served.with_key(served.new_key("user:bob"))
    bob.ask("POST", "/memory/add", {"content": "Bob drinks coffee"})
    preview = served.ask("DELETE", "/memory/user/purge")
    assert preview.status == 202
    assert preview.json["preview"]["counts"]["memories"] == 1
    token = preview.json["confirm"]
    assert served.ask("GET", "/memory").json["memories"]
    assert bob.ask("DELETE", "/memory/user/purge", {"confirm": token}).status in (403, 409)
    assert served.ask("DELETE", "/memory/user/purge?confirm=made-up").status == 409
    served.ask("POST", "/memory/add", {"content": "One more thing"})
    assert served.ask("DELETE", "/memory/user/purge", {"confirm": token}).status == 409
    token = served.ask("DELETE", "/memory/user/purge").json["confirm"]
    done = served.ask("DELETE", "/memory/user/purge", {"confirm": token})
    assert done.status == 200
    assert done.json["receipt"]["state"] == "done"
    assert served.ask("GET", "/memory").status == 401
    assert len(bob.ask("GET", "/memory").json["memories"]) == 1
    assert [str(owner) for owner in served.home.list_owners()] == ["user:bob"]


@pytest.mark.loopback
def test_a_purge_is_posted_twice_and_leaves_a_receipt(served: Served) -> None:
    served.ask("POST", "/v1/memories", {"content": "Alice drinks tea"})
    preview = served.ask("POST", "/v1/purges")
    assert (preview.status, preview.json["preview"]["counts"]["memories"]) == (202, 1)
    assert served.ask("POST", "/v1/purges", {"confirm": "made-up"}).status == 409
    assert served.ask("GET", "/v1/memories").json["memories"]
    done = served.ask("POST", "/v1/purges", {"confirm": preview.json["confirm"]})
    assert (done.status, done.json["receipt"]["state"]) == (200, "done")
    assert not served.home.list_owners()


@pytest.mark.loopback
def test_receipts_are_ones_own_and_genuine(served: Served) -> None:
    vault = served.home.vault("user:alice")
    memory = vault.memories.save("to be erased").memory
    receipt = vault.privacy.purge.run(vault.privacy.purge.preview(PurgeRequest.memories(memory.id)).token)
    assert [one["id"] for one in served.ask("GET", "/v1/receipts").json["receipts"]] == [receipt.id]
    checked = served.ask("GET", f"/v1/receipts/{receipt.id}/verification").json
    assert checked["genuine"] is True
    assert checked["public_key"] == served.home.receipts.key()
    assert served.ask("GET", f"/v1/receipts/{receipt.id}").json["receipt"]["signature"] == receipt.signature
    assert served.with_key(served.new_key("user:bob")).ask("GET", f"/v1/receipts/{receipt.id}").status == 404
