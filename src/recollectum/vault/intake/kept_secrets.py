"""Finds the references to stored secrets in texts, and deletes the secrets whose texts are gone."""

import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence

from recollectum.domain.message import Json, Message
from recollectum.domain.session import Session
from recollectum.storage.port import Tx
from recollectum.storage.tables.content import sessions, summaries
from recollectum.storage.tables.erasure import remaining_texts
from recollectum.storage.tables.trail import meta
from recollectum.vault.runtime import VaultRuntime

#: The service name of stored secrets in the credential store.
SERVICE = "redacted"
#: Accounts whose text is destroyed, until their secrets are deleted too.
_DELETION_QUEUE = "kept_secrets_going"
_REFERENCE = re.compile(rf" ?\({SERVICE} (sec_[0-9a-hjkmnp-tv-z]{{26}})\)")


def to_reference(kind: str, account: str) -> str:
    """Return the reference that replaces a secret stored under an account."""
    return f"[secret:{kind}] ({SERVICE} {account})"


def without_references(text: str) -> str:
    """Return a text as it reads where no secrets are stored: with `[secret:kind]` alone."""
    return _REFERENCE.sub("", text) if SERVICE in text else text


def queue_secret_deletion(tx: Tx, *texts: str) -> None:
    """Queue the secrets of texts for deletion, in the transaction that destroys the texts or skips writing them."""
    found = {account for text in texts if SERVICE in text for account in _REFERENCE.findall(text)}
    if found:
        known = json.loads(meta.find(tx, _DELETION_QUEUE) or "[]")
        meta.save(tx, _DELETION_QUEUE, json.dumps(sorted({*known, *found})))


def queue_message_secrets(tx: Tx, message: Message) -> None:
    """Queue all secrets of a message and its parts for deletion."""
    carried = (message.extra, *(call.extra for call in message.tool_calls))
    others = (text for value in carried for text in _strings_in(value))
    queue_secret_deletion(tx, *message_texts(message), *others, message.speaker or "")


def queue_session_secrets(tx: Tx, session: Session) -> None:
    """Queue the secrets of a session's title, summary and fields for deletion."""
    queue_secret_deletion(tx, session.title or "", session.summary or "", *_strings_in(session.extra))


def queue_summary_secrets(tx: Tx, session_id: str) -> None:
    """Queue the secrets of what sums up a conversation: its title, its description and its summary."""
    if session := sessions.find(tx, session_id):
        queue_session_secrets(tx, session)
    if summary := summaries.find(tx, session_id):
        queue_secret_deletion(tx, summary.text)


def message_texts(message: Message) -> tuple[str, ...]:
    """Return every text of a message: its content, and each text in its parts, thoughts and tool calls."""
    parts = () if isinstance(message.content, str) else message.content
    calls = (value for call in message.tool_calls for value in (call.args, call.result))
    return (message.text, *(text for value in (*parts, *message.thoughts, *calls) for text in _strings_in(value)))


def _strings_in(value: Json) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, Mapping):
        yield from (text for inner in value.values() for text in _strings_in(inner))
    elif isinstance(value, Sequence):
        yield from (text for inner in value for text in _strings_in(inner))


def delete_queued_secrets(runtime: VaultRuntime) -> None:
    """Delete the queued secrets, also after a crash, unless another text refers to them."""
    noted = runtime.database.read(lambda tx: meta.find(tx, _DELETION_QUEUE))
    if noted and noted != "[]":
        delete_unreferenced(runtime, json.loads(noted))
        runtime.database.write(lambda tx: meta.save(tx, _DELETION_QUEUE, "[]"), frees=True)


def delete_unreferenced(runtime: VaultRuntime, accounts: Iterable[str]) -> None:
    """Delete those stored secrets that no text of the vault refers to."""
    forget = runtime.home.forget_secret
    for account in sorted(accounts):
        if forget and not runtime.database.read(lambda tx, a=account: remaining_texts.is_referenced(tx, a)):
            forget(account)
