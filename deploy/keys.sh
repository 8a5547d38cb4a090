#!/usr/bin/env bash
# Makes the keys database and its roles when the data folder of its server is new.
set -euo pipefail

psql --quiet --set=ON_ERROR_STOP=1 --username="${POSTGRES_USER:-postgres}" --dbname=postgres \
    --set=migrator_password="$MIGRATOR_PASSWORD" --set=service_password="$SERVICE_PASSWORD" <<'SQL'
CREATE DATABASE keys;
CREATE ROLE recollectum_owner NOLOGIN;
CREATE ROLE recollectum_application NOLOGIN;
CREATE ROLE migrator LOGIN PASSWORD :'migrator_password' IN ROLE recollectum_owner;
CREATE ROLE service LOGIN PASSWORD :'service_password' IN ROLE recollectum_application;
REVOKE ALL ON DATABASE keys FROM PUBLIC;
GRANT CONNECT ON DATABASE keys TO recollectum_owner, recollectum_application;
GRANT CREATE ON DATABASE keys TO recollectum_owner;
SQL
