#!/usr/bin/env bash
# Copies the primary when the data folder of the standby is new, and then follows it.
set -euo pipefail

primary="host=${PRIMARY_HOST:-primary} user=replicator password=$REPLICATION_PASSWORD application_name=standby"
if [ ! -s "$PGDATA/PG_VERSION" ]; then
    mkdir -p "$PGDATA"
    pg_basebackup --dbname="$primary" --pgdata="$PGDATA" --slot=standby --checkpoint=fast --write-recovery-conf
    chmod 0700 "$PGDATA"
    # The copy has the primary's: after a promotion every write would wait for a standby that does not exist.
    echo "synchronous_standby_names = ''" >> "$PGDATA/postgresql.auto.conf"
fi
exec docker-entrypoint.sh postgres
