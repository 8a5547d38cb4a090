#!/usr/bin/env bash
# Makes the database and the roles when the data folder of the first primary is new.
set -euo pipefail

psql --quiet --set=ON_ERROR_STOP=1 --username="${POSTGRES_USER:-postgres}" --dbname=postgres \
    --set=migrator_password="$MIGRATOR_PASSWORD" --set=service_password="$SERVICE_PASSWORD" \
    --set=replication_password="$REPLICATION_PASSWORD" <<'SQL'
CREATE DATABASE memory;
CREATE ROLE recollectum_owner NOLOGIN;
CREATE ROLE recollectum_application NOLOGIN;
CREATE ROLE migrator LOGIN PASSWORD :'migrator_password' IN ROLE recollectum_owner;
CREATE ROLE service LOGIN PASSWORD :'service_password' IN ROLE recollectum_application;
CREATE ROLE replicator LOGIN REPLICATION PASSWORD :'replication_password';
REVOKE ALL ON DATABASE memory FROM PUBLIC;
GRANT CONNECT ON DATABASE memory TO recollectum_owner, recollectum_application;
GRANT CREATE ON DATABASE memory TO recollectum_owner;
-- A change is acknowledged when the standby has it too; in force from the next start, which follows at once.
ALTER SYSTEM SET synchronous_standby_names = 'standby';
SQL

echo "host replication replicator all scram-sha-256" >> "$PGDATA/pg_hba.conf"
