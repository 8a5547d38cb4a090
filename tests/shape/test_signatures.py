"""Every type in a public signature is exported, a vault has few members, and no signature changes unannounced."""

import recollectum
from recollectum import Vault
from tests.shape.source import ROOT
from tools.aio import FILES, named_types
from tools.reference import pages

KINDS = [kind for _, kinds in FILES.values() for kind in kinds]
#: The nouns and verbs that people look for; everything else is behind `admin`, `privacy` and `state`.
MOST_MEMBERS = 11


def test_every_type_in_a_public_signature_is_exported() -> None:
    exported = set(recollectum.__all__)
    missing = {f"{kind.__name__}: {name}" for kind in KINDS for name in named_types(kind) if name not in exported}
    assert not missing


def test_every_service_is_exported() -> None:
    assert {kind.__name__ for kind in KINDS} <= set(recollectum.__all__)


def test_a_vault_has_few_members() -> None:
    set_by_constructor = {"owner", "memories", "sessions", "admin", "privacy"}
    members = {name for name in dir(Vault) if not name.startswith("_")} | set_by_constructor
    assert len(members - {"gate"}) <= MOST_MEMBERS


def test_the_reference_shows_every_signature_as_it_is() -> None:
    page = (ROOT / "docs" / "reference" / "python.md").read_text(encoding="utf-8").splitlines()
    made = pages()["python.md"].splitlines()
    changed = sorted(set(page) ^ set(made))
    assert page == made, f"run make docs, and announce the change in CHANGELOG.md: {changed}"
