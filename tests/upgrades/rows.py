"""The rows that every stored database of an earlier schema holds: each table once, as far as the schema has it."""

from collections.abc import Mapping, Sequence

Value = str | int | float | bytes | None
Rows = Mapping[str, Sequence[Mapping[str, Value]]]

OWNER = "user:alice"
SPOKEN = "I have been a vegetarian since my student days"
ANSWERED = "Then the lentil soup is yours"
KEPT = "Grace is allergic to hazelnuts"
SHELVED = "The old bicycle is in the cellar"
NOTED = "The boiler is serviced every October"
_AT = 1_767_225_600_000_000

VAULT: Rows = {
    "meta": [{"name": "owner", "value": OWNER}],
    "sessions": [
        {
            "id": "ses_1", "key": "agent:main:main", "created_at": _AT, "updated_at": _AT + 2, "imported": 0,
            "message_count": 2, "token_estimate": 18, "title": "Dinner",
        },
    ],
    "messages": [
        {
            "number": 1, "id": "msg_1", "session_id": "ses_1", "position": 1, "role": "user", "created_at": _AT + 1,
            "text": SPOKEN, "token_estimate": 10, "trust": "owner", "speaker": "Alice",
        },
        {
            "number": 2, "id": "msg_2", "session_id": "ses_1", "position": 2, "role": "assistant",
            "created_at": _AT + 2, "text": ANSWERED, "token_estimate": 8, "trust": "assistant",
        },
    ],
    "memories": [
        {
            "number": 1, "id": "mem_1", "content": KEPT, "key": "grace", "kind": "fact", "importance": 0.5,
            "trust": "owner", "author": "process", "version": 1, "state": "active", "created_at": _AT,
            "updated_at": _AT, "fingerprint": "of an earlier release", "message_id": "msg_1",
        },
        {
            "number": 2, "id": "mem_2", "content": SHELVED, "kind": "fact", "importance": 0.5, "trust": "owner",
            "author": "process", "version": 2, "state": "archived", "created_at": _AT, "updated_at": _AT + 5,
            "fingerprint": "of another",
        },
        {
            "number": 3, "id": "mem_3", "content": "Answer briefly", "kind": "preference", "importance": 0.5,
            "trust": "owner", "author": "process", "version": 1, "state": "active", "created_at": _AT,
            "updated_at": _AT, "fingerprint": "of a learning",
        },
    ],
    "memory_versions": [
        {
            "memory_id": "mem_2", "version": 1, "content": "The bicycle is in the shed", "kind": "fact",
            "importance": 0.5, "recorded_at": _AT, "replaced_at": _AT + 5, "author": "process",
        },
    ],
    "events": [
        {
            "number": 1, "at": _AT, "type": "created", "subject": "memory", "subject_id": "mem_1",
            "actor": "process", "state": "active",
        },
    ],
    "chunks": [
        {"number": 1, "source": "sessions", "source_number": 1, "start": 0, "stop": len(SPOKEN)},
        {"number": 2, "source": "sessions", "source_number": 2, "start": 0, "stop": len(ANSWERED)},
        {"number": 3, "source": "memories", "source_number": 1, "start": 0, "stop": len(KEPT)},
        {"number": 4, "source": "memories", "source_number": 3, "start": 0, "stop": len("Answer briefly")},
        {
            "number": 5, "source": "notes", "source_number": 1, "start": 0, "stop": len(NOTED), "first_line": 1,
            "last_line": 1, "headings": "",
        },
    ],
    "search": [
        {"rowid": 1, "terms": SPOKEN}, {"rowid": 2, "terms": ANSWERED}, {"rowid": 3, "terms": f"{KEPT} grace"},
        {"rowid": 4, "terms": "Answer briefly"}, {"rowid": 5, "terms": f"{NOTED} house"},
    ],
    "projects": [{"id": "a" * 64, "name": "house", "root_id": "b" * 64, "added_at": _AT}],
    "project_roots": [
        {"id": "a" * 64, "project": "a" * 64, "root": "/work/house", "added_at": _AT},
        {"id": "b" * 64, "project": "a" * 64, "root": "/work/home", "added_at": _AT + 1},
    ],
    "note_folders": [{"number": 1, "path": "/notes", "added_at": _AT}],
    "notes": [
        {
            "number": 1, "folder": "/notes", "path": "house.md", "hash": "0" * 64, "mtime": _AT, "size": len(NOTED),
            "text": NOTED, "synced_at": _AT,
        },
    ],
    "transcript_roots": [{"number": 1, "path": "/transcripts", "added_at": _AT}],
    "transcript_files": [
        {
            "path": "/transcripts/a.jsonl", "root": 1, "identity": "1:2", "size": 9, "mtime": _AT, "read_to": 9,
            "lines": 1, "head": "a", "tail": "b", "session_id": "ses_1", "synced_at": _AT,
        },
    ],
    "jobs": [
        {
            "id": "job_1", "kind": "consolidate", "subject": "ses_1", "idempotency": "ses_1:2", "state": "done",
            "not_before": _AT, "attempts": 1, "created_at": _AT, "done_at": _AT,
        },
    ],
    "runs": [
        {
            "id": "run_1", "session_id": "ses_1", "from_position": 0, "through_position": 2, "by": "rules",
            "added": 1, "updated": 0, "superseded": 0, "renewed": 0, "proposed": 0, "ignored": 0, "at": _AT,
        },
    ],
    "run_effects": [{"run_id": "run_1", "number": 1, "act": "add", "memory_id": "mem_1", "version": 1}],
    "citations": [{"memory_id": "mem_1", "message_id": "msg_1", "start": 0, "stop": 6, "run_id": "run_1"}],
    "learning_lines": [
        {
            "agent": "main", "position": 1, "memory_id": "mem_3", "category": "preference", "digest": "d",
            "day": "2026-01-01",
        },
    ],
    "summaries": [{"session_id": "ses_1", "covered_to": 1, "text": "Dinner", "made_by": "rules", "made_at": _AT}],
    "checkpoints": [{"name": "before_dinner", "session_id": "ses_1", "position": 1, "saved_at": _AT}],
    "erased": [{"id": "mem_0"}],
    "imports": [{"id": "imp_1", "session_id": "ses_1", "first": 1, "last": 2, "by": "process", "at": _AT}],
}  # fmt: skip

CATALOG: Rows = {
    "tenants": [{"name": "default", "created_at": _AT, "retention_days": "{}"}],
    "people": [
        {"owner": OWNER, "skeleton": "alice", "tenant": "default", "created_at": _AT},
        {"owner": "user:bob", "skeleton": "bob", "tenant": "default", "created_at": _AT},
    ],
    "identities": [{"identity": "telegram:42", "owner": OWNER}],
    "vaults": [{"owner": OWNER, "id": "vlt_1", "encrypted": 0, "created_at": _AT}],
    "api_keys": [
        {"id": "key_1", "digest": b"d", "owner": OWNER, "permissions": "read", "created_at": _AT},
    ],
    "grants": [
        {
            "id": "grt_1", "grantee": "user:bob", "owner": OWNER, "permission": "read", "scope": "user",
            "created_at": _AT,
        },
    ],
    "erasure_secrets": [{"name": "salt", "value": b"s" * 32}],
    "key_owners": [{"key_id": "key_1", "owner": "user:bob"}],
}  # fmt: skip
