"""Recollectum: opens a home and hands out vaults. Wiring only; the operations are in the vault's services."""

import os
import secrets
from collections.abc import Callable, Mapping
from contextlib import suppress
from functools import partial
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING

from recollectum.domain.access.caller import OPERATOR, Caller, Permission, Scope
from recollectum.domain.access.owner import Owner, OwnerKind
from recollectum.domain.errors import Denied, NotFound
from recollectum.domain.ids import Clock, system_clock
from recollectum.home.paths import Home, home_root
from recollectum.policy.access import decide_access, may_see
from recollectum.policy.actions import check_client
from recollectum.storage.tables.catalog import vaults
from recollectum.vault.access.keys import Keys, caller_for, caller_of
from recollectum.vault.gate import Gate
from recollectum.vault.sessions.chat import Chat
from recollectum.vault.vault import Vault

if TYPE_CHECKING:
    from tempfile import TemporaryDirectory

    from recollectum.models.embedding.port import Embedder
    from recollectum.models.language.port import LanguageModel
    from recollectum.models.search import SearchModels
    from recollectum.settings.load import LoadedSettings
    from recollectum.settings.model import Settings
    from recollectum.storage.engine import VaultPlace
    from recollectum.storage.keystore import KeyStore
    from recollectum.upkeep.home_admin import HomeAdmin
    from recollectum.vault.access.people import People
    from recollectum.vault.extensions.service import Extensions
    from recollectum.vault.idempotency import Idempotency
    from recollectum.vault.purge.receipts import Receipts
    from recollectum.vault.purge.service import Purge
    from recollectum.vault.runtime import VaultRuntime

API_KEY_VARIABLE = "RECOLLECTUM_API_KEY"


class Recollectum:
    """An open home, as one caller sees it: the process owner, unless an API key is given."""

    def __init__(
        self,
        home: str | Path | None = None,
        *,
        api_key: str | None = None,
        settings: Mapping[str, object] | None = None,
        embedder: "Embedder | SearchModels | None" = None,
        language_model: "LanguageModel | None" = None,
        create: bool = True,
        environ: Mapping[str, str] | None = None,
        clock: Clock = system_clock,
    ) -> None:
        """Open a home; a missing one is created, unless `create` is false.

        `embedder` and `language_model` replace those of the settings; the caller who passes one closes it. With
        `SearchModels` in place of an embedder also a reranker can be passed, and the embedders of earlier vectors.
        """
        # Imported here: importing this class must not import what an open home needs: settings, keys and a database.
        from recollectum.models.search import search_models  # noqa: PLC0415
        from recollectum.runtime import HomeRuntime, OpenOptions  # noqa: PLC0415

        variables = os.environ if environ is None else environ
        self._runtime = HomeRuntime(
            OpenOptions(
                root=home_root(Path(home) if home is not None else None, variables),
                cwd=Path.cwd(),
                environ=variables,
                overrides=settings or {},
                search_models=search_models(embedder),
                language_model=language_model,
                create=create,
                clock=clock,
            )
        )
        self._closes: Callable[[], None] = self._runtime.close
        #: Set for a temporary home.
        self._folder: TemporaryDirectory[str] | None = None
        try:
            # An empty key is a wrong key: an unset variable must not give operator rights.
            secret = variables.get(API_KEY_VARIABLE) if api_key is None else api_key
            self._runtime.settle()
            self._become(OPERATOR if secret is None else self._caller_of(secret), self._look_up(secret))
        except BaseException:
            self.close()
            raise

    @classmethod
    def temporary(
        cls,
        *,
        settings: Mapping[str, object] | None = None,
        embedder: "Embedder | SearchModels | None" = None,
        language_model: "LanguageModel | None" = None,
        clock: Clock = system_clock,
    ) -> "Recollectum":
        """Open a home in a temporary folder that is deleted on close, for tests and demonstrations.

        Its key is protected by a random passphrase, so that no keyring is touched.
        """
        # Imported here: few programs open one.
        from tempfile import TemporaryDirectory  # noqa: PLC0415

        from recollectum.home.credentials.keychain import FORCE_VARIABLE  # noqa: PLC0415
        from recollectum.home.keys.holders import PASSPHRASE_VARIABLE  # noqa: PLC0415

        folder = TemporaryDirectory(prefix="recollectum-")
        # The API key of another home must not decide who opens this one.
        environ = {name: value for name, value in os.environ.items() if name != API_KEY_VARIABLE}
        try:
            made = cls(
                Path(folder.name) / "home",
                settings=settings,
                embedder=embedder,
                language_model=language_model,
                environ={**environ, FORCE_VARIABLE: "1", PASSPHRASE_VARIABLE: secrets.token_urlsafe(32)},
                clock=clock,
            )
        except BaseException:
            folder.cleanup()
            raise
        made._folder = folder
        return made

    def _caller_of(self, secret: str) -> Caller:
        return caller_of(self._runtime.known, secret, self._runtime.latest)

    def _look_up(self, secret: str | None) -> Callable[[], Caller] | None:
        return None if secret is None else partial(self._caller_of, secret)

    def _become(self, caller: Caller, look_up: Callable[[], Caller] | None, clients: tuple[str, ...] = ()) -> None:
        self.caller = caller
        self._now: Callable[[], Caller] | None = look_up
        self._clients = clients

    def _as(self, caller: Caller, look_up: Callable[[], Caller] | None, clients: tuple[str, ...]) -> "Recollectum":
        """Return the same open home for another caller; closing it closes nothing."""
        other = object.__new__(Recollectum)
        other._runtime = self._runtime
        other._closes = lambda: None
        other._folder = None
        other._become(caller, look_up, clients)
        return other

    @property
    def people(self) -> "People":
        """The people of the home: their names, identities and tenants."""
        from recollectum.vault.access.people import People  # noqa: PLC0415 - few programs manage people

        return People(self._runtime.catalog, self._home_gate(), self._runtime.clock)

    @property
    def keys(self) -> Keys:
        """API keys and grants."""
        return Keys(self._runtime.catalog, self._home_gate(), self._runtime.latest, self._runtime.ids)

    @property
    def extensions(self) -> "Extensions":
        """What others wrote for agents: installed extensions, and what they bring."""
        from recollectum.vault.extensions.service import Extensions  # noqa: PLC0415 - few programs use them

        return Extensions(self._runtime.home, self._runtime.loaded.project, self._home_gate(), self._runtime.clock)

    def _home_gate(self) -> Gate:
        return self._runtime.gate(self.caller, None, self._now, self._clients)

    def login(self, api_key: str, *, cache: bool = False) -> "Recollectum":
        """Return the home as the person sees it to whom a key belongs.

        Each operation loads the key again, because it may have been revoked. With `cache` the current permissions are
        kept, which suits one request.
        """
        look_up = partial(self._caller_of, api_key)
        return self._as(look_up(), None if cache else look_up, self._clients)

    def with_client(self, client: str) -> "Recollectum":
        """Return the same home with a client such as `mcp:desktop` added to the names that policy rules match."""
        return self._as(self.caller, self._now, (*self._clients, check_client(client)))

    def as_person(self, person: str) -> "Recollectum":
        """Return the home as a person sees it, authorised by the process owner; for channel adapters."""
        self._operator_only("act for somebody")
        owner = Owner.parse(person).person
        look_up = partial(caller_for, self._runtime.known, owner)
        return self._as(look_up(), look_up, self._clients)

    def vault(self, owner: str | Owner, *, agent: str | None = None, create: bool = True) -> Vault:
        """Return the vault of an owner; it is created on first use, unless `create` is false."""
        wanted = owner if isinstance(owner, Owner) else Owner.parse(owner)
        if self._runtime.settings.isolation == "agent":
            wanted = _isolated(wanted, agent)
        caller = self._caller_now()
        if not may_see(caller, wanted):
            raise _vault_not_found(wanted)
        known = self._runtime.find_vault(wanted)
        if known is None:
            if not create or not decide_access(caller, wanted, Permission.WRITE, Scope.USER).allowed:
                raise _vault_not_found(wanted)
            # The person of a key exists, unless it was erased since the key was checked.
            self._runtime.make_vault(wanted, may_add_person=not caller.by_key)
            known = self._runtime.find_vault(wanted)
            if known is None:
                # Another process erased it at once.
                raise _vault_not_found(wanted)
        clients = self._clients if agent is None else (*self._clients, f"agent:{agent}")
        gate = self._runtime.gate(caller, known.entry.owner, self._now, clients)
        runtime = self._runtime.vault_runtime(known, gate)
        return Vault(wanted, runtime, self._purge, self._runtime.tasks)

    def _purge(self, runtime: "VaultRuntime") -> "Purge":
        from recollectum.vault.purge.service import Purge  # noqa: PLC0415 - few programs erase

        return Purge(runtime, self._runtime.person_erasure(), self._runtime.latest)

    def chat(self, identity: str, *, agent: str = "main", group: str | None = None, topic: str | None = None) -> Chat:
        """Open the conversation with the person who has a channel address: person and session in one step."""
        person = self.people.resolve(identity)
        if person is None:
            channel = identity.partition(":")[0]
            raise NotFound(f"no person here has that {channel} identity; link it to a person first")
        vault = self.as_person(str(person)).vault(person, agent=agent)
        channel = identity.partition(":")[0].casefold()
        return vault.sessions.open(channel=channel, agent=agent, group=group, topic=topic)

    def list_owners(self) -> list[Owner]:
        """Return the owners whose vaults this caller may open, by name."""
        caller = self._caller_now()
        entries = self._runtime.catalog.read(vaults.everything)
        return [entry.owner for entry in entries if may_see(caller, entry.owner)]

    def vault_place(self, owner: str | Owner) -> "VaultPlace | None":
        """Return where an owner's vault is and how large, or None when there is none for this caller."""
        wanted = owner if isinstance(owner, Owner) else Owner.parse(owner)
        known = self._runtime.find_vault(wanted) if may_see(self._caller_now(), wanted) else None
        return self._runtime.engine.place_of(known.entry.id) if known else None

    def upgrade(self, *, dry_run: bool = False) -> dict[Owner, tuple[str, ...]]:
        """Migrate every vault to this program's schema, each after a backup; return the steps that ran or would run.

        A vault is also migrated when it is first opened.
        """
        self._operator_only("upgrade vaults")
        due = {owner: steps for owner, steps in self._runtime.pending_steps().items() if steps}
        if not dry_run:
            for owner in self.list_owners():
                # Erased in between: nothing is left to migrate.
                with suppress(NotFound):
                    self.vault(owner, create=False).admin.totals()
        return due

    @property
    def home(self) -> Home:
        """The state directory."""
        return self._runtime.home

    @property
    def settings(self) -> "Settings":
        """The effective settings."""
        return self._runtime.settings

    @property
    def loaded_settings(self) -> "LoadedSettings":
        """The effective settings, and where each value comes from."""
        return self._runtime.loaded

    @property
    def receipts(self) -> "Receipts":
        """The signed receipts of what was erased in this home."""
        # Imported here: few programs look at receipts.
        from recollectum.vault.purge.receipts import Receipts  # noqa: PLC0415

        return Receipts(self._home_gate(), self._runtime.person_erasure())

    @property
    def idempotency(self) -> "Idempotency":
        """The idempotency keys of this caller: each request runs once, however often it is sent."""
        # Imported here: only servers need it.
        from recollectum.vault.idempotency import Idempotency  # noqa: PLC0415

        caller = self._caller_now()
        person = caller.person
        decision = decide_access(caller, person, Permission.WRITE, Scope.USER)
        if not decision.allowed:
            # Checked also before an answer is repeated, which no gate sees.
            raise Denied(f"{self.caller.name} may not do this: {decision.rule}")
        return Idempotency(self._runtime.catalog.uncounted, person, self._runtime.clock, self._runtime.running)

    def encryption(self) -> "KeyStore":
        """Return the key store: who holds the key, and the recovery code."""
        self._operator_only("manage keys")
        return self._runtime.keys

    @property
    def embedder(self) -> "Embedder | None":
        """The embedder that all vaults share; None when there is none. It is closed with the home."""
        return self._runtime.embedder()

    @property
    def language_model(self) -> "LanguageModel | None":
        """The language model that chat, consolidation, summaries and profile share; None when the settings name none.

        It is closed with the home.
        """
        return self._runtime.language_model()

    @property
    def admin(self) -> "HomeAdmin":
        """The services for backup, restore, verification and repair of the whole home; for the process owner."""
        self._operator_only("take care of the whole home")
        runtime = self._runtime
        # Imported here: few programs maintain a whole home.
        from recollectum.upkeep.home_admin import admin_of  # noqa: PLC0415

        return admin_of(runtime)

    def close(self) -> None:
        """Close every file; a second call does nothing."""
        self._closes()
        if self._folder:
            self._folder.cleanup()

    def __enter__(self) -> "Recollectum":
        """Return the open home itself."""
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Close the home."""
        self.close()

    def _caller_now(self) -> Caller:
        """Return the caller with its current permissions: a key may have been revoked, or a grant withdrawn."""
        return self._now() if self._now else self.caller

    def _operator_only(self, what: str) -> None:
        if not self.caller.operator:
            raise Denied(f"{self.caller.name} may not {what}; only the process owner may")


def _isolated(owner: Owner, agent: str | None) -> Owner:
    """Return the owner of the vault of one agent of a person."""
    if owner.kind is OwnerKind.USER and owner.agent is None:
        return Owner.parse(f"{owner}/agent:{agent or 'main'}")
    return owner


def _vault_not_found(owner: Owner) -> NotFound:
    """Return the same error for a missing vault and for one that this caller may not know of."""
    return NotFound(f"there is no vault of {str(owner)!r} for this caller")


def open_keys(
    home: str | Path | None = None, *, passphrase: str | None = None, environ: Mapping[str, str] | None = None
) -> "KeyStore":
    """Open the key store of a home alone, which works when the key is lost, and recovers it."""
    from recollectum.settings.load import load  # noqa: PLC0415 - few programs open the keys alone
    from recollectum.storage.keystore import KeyStore  # noqa: PLC0415

    variables = os.environ if environ is None else environ
    place = Home(home_root(Path(home) if home is not None else None, variables))
    settings = load(place, cwd=Path.cwd(), environ=variables).settings
    return KeyStore.open(
        place,
        encryption="off",
        key_file=settings.key_file,
        passphrase=passphrase,
        environ=variables,
        storage=settings.storage,
    )
