"""What is derived is believed no more than the least of what it came from, whoever derives it."""

from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from recollectum import Recollectum
from recollectum.domain.memory import Kind
from recollectum.domain.message import Message, Role
from recollectum.domain.proposal import Act, Finding
from recollectum.domain.session import Session, SessionKey
from recollectum.domain.trust import Trust, least_trusted
from recollectum.vault.intake.new_message import NewMessage
from recollectum.vault.vault import Vault
from tests.matrix.homes import START, Turning, open_home, quick_folder

pytestmark = pytest.mark.slow

ROLES = st.sampled_from(["user", "assistant", "tool", "system"])
TRUST = {"user": Trust.OWNER, "assistant": Trust.ASSISTANT, "tool": Trust.TOOL, "system": Trust.UNKNOWN}
#: A message: its role, whether it was brought in, and whether a stranger with a grant writes.
TOLD = st.tuples(ROLES, st.booleans(), st.booleans())


def _says(vault: Vault, number: int, role: str, *, brought: bool) -> str:
    if not brought:
        said = vault.sessions.open(channel=f"c{number}").add_many(
            [NewMessage(role=Role(role), content=f"said {number}")]
        )
        return said[0].id
    session = Session(id=f"ses_{number}", key=SessionKey(), created_at=START, updated_at=START)
    message = Message(
        id=f"msg_{number}",
        session_id=session.id,
        position=1,
        role=Role(role),
        content=f"said {number}",
        created_at=START,
        trust=TRUST[role],
    )
    vault.sessions.adopt(session, [message])
    return message.id


def _stranger(home: Recollectum) -> Vault:
    home.people.add("user:eve")
    for permission in ("read", "write"):
        home.keys.add_grant("user:eve", "user:alice", permission, scope="user")
    return home.login(home.keys.add("user:eve")[1]).vault("user:alice")


@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(told=st.lists(TOLD, min_size=2, max_size=5), agent=st.booleans())
def test_derived_trust_is_the_least_of_its_lineage(*, told: list[tuple[str, bool, bool]], agent: bool) -> None:
    with quick_folder() as folder, open_home(Path(folder), Turning()) as home:
        own = home.vault("user:alice")
        eve = _stranger(home)
        made: list[str] = []
        expected: list[Trust] = []
        for number, (role, brought, strange) in enumerate(told):
            message = _says(own, number, role, brought=brought)
            writer = eve if strange else own
            memory = writer.memories.save(f"remembered {number}", message_id=message).memory
            lineage = least_trusted(
                TRUST[role],
                Trust.IMPORTED if brought and role != "system" else Trust.OWNER,
                Trust.UNKNOWN if strange else Trust.OWNER,
            )
            assert memory.trust is lineage
            # Editing believes it no more.
            assert own.memories.edit(memory.id, importance=0.6).trust is lineage
            made.append(memory.id)
            expected.append(lineage)
        finding = Finding(
            act=Act.MERGE, content="all in one", kind=Kind.FACT, importance=0.5, spans=(), targets=tuple(made)
        )
        (proposal,) = (eve if agent else own).admin.review.propose([finding])
        merged = own.admin.review.approve(proposal.id)
        assert own.memories.get(merged.memory_id or "").trust is least_trusted(*expected)
