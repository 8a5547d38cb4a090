"""Checks the server of a database: version, durability, vacuum, standbys, and a pooler in between."""

from collections.abc import Iterator
from contextlib import suppress
from typing import Any

import psycopg

from recollectum.domain.records import dataclass
from recollectum.storage.engine import ServerFinding
from recollectum.storage.postgres.connections.address import DatabaseAddress
from recollectum.storage.postgres.connections.connection import Connected

SERVER, DURABILITY, VACUUM, STANDBYS, POOLER = "server", "durability", "dead rows", "standbys", "pooler"
#: Fewer dead rows are a moment's work for the server.
_MANY_DEAD = 10_000
#: A standby that is further behind would lose so much, or keep a reader waiting for so long.
_FAR_BEHIND = 16 * 2**20
_CONNECT_SECONDS = 5
_MIB = 2**20

_DURABILITY = """
    SELECT name, setting FROM pg_settings
     WHERE name IN ('fsync', 'full_page_writes', 'synchronous_commit', 'data_checksums')
"""
#: What is lost with each of them off, and how it is turned on.
_OFF = {
    "fsync": ("a crash of the machine can destroy the database", "set fsync = on in the server's configuration"),
    "full_page_writes": (
        "a crash of the machine can tear pages",
        "set full_page_writes = on in the server's configuration",
    ),
    "synchronous_commit": (
        "a crash of the server can lose changes that were acknowledged",
        "set synchronous_commit = on for the server, the database and the role",
    ),
    "data_checksums": (
        "a page that the disk changed is not noticed",
        "stop the server and run pg_checksums --enable, the standbys too",
    ),
}
_BLOATED = """
    SELECT format('%%I.%%I', schemaname, relname), n_dead_tup, n_live_tup,
           greatest(last_vacuum, last_autovacuum)::date::text
      FROM pg_stat_user_tables
     WHERE schemaname IN ('recollectum', 'recollectum_catalog') AND n_dead_tup > %s AND n_dead_tup > n_live_tup
     ORDER BY n_dead_tup DESC
"""
_UNVACUUMED = """
    SELECT 'of the server' WHERE current_setting('autovacuum') = 'off' OR current_setting('track_counts') = 'off'
    UNION ALL
    SELECT format('of the table %I.%I', n.nspname, c.relname)
      FROM pg_class AS c JOIN pg_namespace AS n ON n.oid = c.relnamespace, unnest(c.reloptions) AS one
     WHERE n.nspname IN ('recollectum', 'recollectum_catalog')
       AND one IN ('autovacuum_enabled=false', 'autovacuum_enabled=off')
"""
_SENDERS = """
    SELECT count(*), count(replay_lsn), max(pg_wal_lsn_diff(pg_current_wal_lsn(), replay_lsn))::bigint
      FROM pg_stat_replication
"""
_WRITTEN = "SELECT pg_current_wal_lsn()"
_REPLAYED = """
    SELECT pg_is_in_recovery(), CASE WHEN pg_is_in_recovery() THEN pg_is_wal_replay_paused() END,
           CASE WHEN pg_is_in_recovery() THEN greatest(pg_wal_lsn_diff(%s, pg_last_wal_replay_lsn()), 0)::bigint END
"""


def version(connection: Connected) -> Iterator[ServerFinding]:
    """Name the version of the server; one that is too old was refused when the home was opened."""
    number = connection.info.server_version
    yield ServerFinding(
        topic=SERVER,
        severity="fine",
        words=f"PostgreSQL {number // 10_000}.{number % 10_000}, as {connection.info.user}",
    )


def durability(connection: Connected) -> Iterator[ServerFinding]:
    """Check that an acknowledged change survives a crash, and that a changed page is noticed."""
    found = dict(connection.execute(_DURABILITY, prepare=False).fetchall())
    weak = [name for name in _OFF if found.get(name) == "off"]
    for name in weak:
        loss, cure = _OFF[name]
        yield ServerFinding(topic=DURABILITY, severity="warning", words=f"{name} is off: {loss}", cure=cure)
    if not weak:
        yield ServerFinding(
            topic=DURABILITY,
            severity="fine",
            words="changes are synced before they are acknowledged; pages have checksums",
        )


def vacuum(connection: Connected) -> Iterator[ServerFinding]:
    """Check that the server removes dead rows, which also hold what was erased."""
    off = [str(row[0]) for row in connection.execute(_UNVACUUMED, prepare=False)]
    for whose in off:
        yield ServerFinding(
            topic=VACUUM,
            severity="warning",
            words=f"autovacuum {whose} is off, so deleted rows stay in the files",
            cure="set autovacuum and track_counts on, or as the migrator: ALTER TABLE … RESET (autovacuum_enabled)",
        )
    bloated = connection.execute(_BLOATED, (_MANY_DEAD,), prepare=False).fetchall()
    for name, dead, live, last in bloated:
        yield ServerFinding(
            topic=VACUUM,
            severity="warning",
            words=f"{name} has {dead} dead rows beside {live} live ones; the last vacuum was {last or 'never'}",
            cure=f"end long transactions, and as the migrator: VACUUM (ANALYZE) {name}",
        )
    if not off and not bloated:
        yield ServerFinding(topic=VACUUM, severity="fine", words="no table has more dead rows than live ones")


def standbys(
    connection: Connected, address: DatabaseAddress, replica: DatabaseAddress | None
) -> Iterator[ServerFinding]:
    """Check how far the standbys are behind: those that the primary sends to, the replica, and the further hosts."""
    ((written,),) = connection.execute(_WRITTEN, prepare=False).fetchall()
    named = {one.words: one for one in _hosts(address, "storage.url")}
    further = named if len(named) > 1 else {}
    replicas = {one.words: one for one in _hosts(replica, "storage.replica_url")} if replica else {}
    others = [one for words, one in {**replicas, **further}.items() if words != _place(connection)]
    told = [finding for host in others for finding in _standby(host, str(written))]
    yield from told
    ((senders, shown, behind),) = connection.execute(_SENDERS, prepare=False).fetchall()
    if told or (not senders and not others):
        if not told:
            yield ServerFinding(topic=STANDBYS, severity="fine", words="none: the database has one server")
        return
    if not shown:
        yield ServerFinding(
            topic=STANDBYS,
            severity="note",
            words=f"{senders} connected; how far they are behind is not shown to this role",
            cure="name them in storage.url or storage.replica_url, or grant the role pg_read_all_stats",
        )
    else:
        yield _behind(f"the last of {senders}", int(behind or 0))


@dataclass(frozen=True, slots=True)
class _Host:
    words: str
    #: The setting that names it.
    setting: str
    options: dict[str, Any]


def _hosts(address: DatabaseAddress, setting: str) -> Iterator[_Host]:
    """Return the single hosts of an address, which may have several."""
    hosts, ports = (str(address.options.get(name) or "").split(",") for name in ("host", "port"))
    for place, host in enumerate(hosts):
        port = ports[min(place, len(ports) - 1)] or "5432"
        options = {**address.options, "host": host, "port": port, "target_session_attrs": "any"}
        yield _Host(f"{host}:{port}", setting, {**options, "connect_timeout": _CONNECT_SECONDS})


def _place(connection: Connected) -> str:
    return f"{connection.info.host}:{connection.info.port}"


def _standby(host: _Host, written: str) -> Iterator[ServerFinding]:
    try:
        with psycopg.connect(**host.options, autocommit=True, prepare_threshold=None) as connection:
            ((is_standby, is_paused, behind),) = connection.execute(_REPLAYED, (written,)).fetchall()
    except psycopg.Error:
        yield ServerFinding(
            topic=STANDBYS,
            severity="warning",
            words=f"{host.words}, a host of {host.setting}, cannot be reached or does not answer",
            cure=f"start it, or take it out of {host.setting}",
        )
        return
    if not is_standby:
        yield ServerFinding(
            topic=STANDBYS,
            severity="problem",
            words=f"{host.words}, a host of {host.setting}, is a second primary: changes may be split between the two",
            cure="stop the one that is not meant at once, and make it a standby of the other",
        )
    elif is_paused:
        yield ServerFinding(
            topic=STANDBYS,
            severity="warning",
            words=f"{host.words} has paused its replay and falls behind",
            cure="as an administrator there: SELECT pg_wal_replay_resume()",
        )
    else:
        yield _behind(host.words, int(behind))


def _behind(who: str, behind: int) -> ServerFinding:
    words = f"{who} is {behind / _MIB:.1f} MiB behind"
    if behind <= _FAR_BEHIND:
        return ServerFinding(topic=STANDBYS, severity="fine", words=words)
    cure = "look at the standby's log, its disk and the network; a failover now would lose so much"
    return ServerFinding(topic=STANDBYS, severity="warning", words=words, cure=cure)


def pooler(connection: Connected, address: DatabaseAddress, *, prepares: bool) -> Iterator[ServerFinding]:
    """Check whether a pooler is in between, and whether it can pass prepared statements on."""
    ((backend,),) = connection.execute("SELECT pg_backend_pid()", prepare=False).fetchall()
    if backend == connection.info.backend_pid:
        yield ServerFinding(topic=POOLER, severity="fine", words="none in between")
    else:
        yield pooler_advice(prepares=prepares, kept=_kept_statements(address))


def pooler_advice(*, prepares: bool, kept: int | None) -> ServerFinding:
    """Return the finding about a pooler that keeps so many prepared statements; None when it does not say."""
    if not prepares:
        return ServerFinding(topic=POOLER, severity="fine", words="in between; storage.prepared_statements is off")
    if kept:
        return ServerFinding(topic=POOLER, severity="fine", words="PgBouncer, which passes prepared statements on")
    off = "set storage.prepared_statements to off"
    if kept == 0:
        words = "PgBouncer is in between and passes no prepared statements on, so statements fail"
        cure = f"{off}, or use 1.21 or later with max_prepared_statements above 0"
        return ServerFinding(topic=POOLER, severity="problem", words=words, cure=cure)
    words = "a pooler is in between, and does not tell this role whether it passes prepared statements on"
    cure = f"{off}, unless it is PgBouncer 1.21 or later with max_prepared_statements above 0"
    return ServerFinding(topic=POOLER, severity="warning", words=words, cure=cure)


def _kept_statements(address: DatabaseAddress) -> int | None:
    """Return how many prepared statements PgBouncer keeps, 0 before 1.21; None when it does not answer this role."""
    with suppress(psycopg.Error):
        options: dict[str, Any] = {**address.options, "dbname": "pgbouncer", "connect_timeout": _CONNECT_SECONDS}
        with psycopg.connect(**options, autocommit=True, prepare_threshold=None) as console:
            # Below the cursors, which begin with more than PgBouncer's console understands.
            told = console.pgconn.exec_(b"SHOW CONFIG")
            names = [bytes(told.get_value(row, 0) or b"") for row in range(told.ntuples)]
            if b"max_prepared_statements" in names:
                return int(told.get_value(names.index(b"max_prepared_statements"), 1) or 0)
            return 0 if names else None
    return None
