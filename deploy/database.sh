#!/usr/bin/env bash
# Starts one of the two database servers: a primary as it is, the other one as a copy that follows it.
set -euo pipefail

# The first process of a container ignores signals without it.
trap 'exit 1' INT TERM

ask_other() {
    PGPASSWORD="$REPLICATION_PASSWORD" PGCONNECT_TIMEOUT=2 psql --no-psqlrc --quiet --tuples-only --no-align \
        --dbname="host=$OTHER user=replicator dbname=postgres ${2:-}" --command="$1"
}
# Each database has a number, and each promotion of a standby counts up its timeline.
identity() {
    LC_ALL=C pg_controldata "$PGDATA" | awk -F ': *' '
        $1 == "Database system identifier" { database = $2 }
        $1 == "Latest checkpoint'\''s TimeLineID" { timeline = $2 }
        END { print database, timeline }'
}
# Waits for the other one: follows, promoted after this one, behind this one, or away.
other() {
    local tries=0 follows database timeline other_database other_timeline
    until follows=$(ask_other "SELECT pg_is_in_recovery()" 2>/dev/null) && [ -n "$follows" ]; do
        # Both may start at the same moment. Only the one that PRIMARY names goes on alone.
        tries=$((tries + 1))
        if [ "$PRIMARY" != "$SERVER" ] && [ "$tries" = 1 ]; then
            echo "$SERVER was a primary, and asks $OTHER; if that one is lost, write PRIMARY=$SERVER into .env" >&2
        fi
        if [ "$PRIMARY" = "$SERVER" ] && [ "$tries" = 5 ]; then
            echo away
            return
        fi
        sleep 1
    done
    if [ "$follows" = t ]; then
        echo follows
        return
    fi
    read -r database timeline <<<"$(identity)"
    IFS='|' read -r other_database other_timeline _ <<<"$(ask_other IDENTIFY_SYSTEM replication=true)"
    if [ "$database" = "$other_database" ] && [ "$timeline" -lt "$other_timeline" ]; then
        echo promoted
    else
        echo behind
    fi
}
copy_other() {
    local copy="$PGDATA.copy"
    echo "$SERVER waits for $OTHER to be a primary, and copies it"
    until [ "$(ask_other "SELECT pg_is_in_recovery()" 2>/dev/null)" = f ]; do sleep 1; done
    ask_other "SELECT pg_create_physical_replication_slot('$SERVER')
        WHERE NOT EXISTS (SELECT FROM pg_replication_slots WHERE slot_name = '$SERVER')" >/dev/null
    rm -rf "$copy"
    mkdir -p "$(dirname "$PGDATA")"
    PGPASSWORD="$REPLICATION_PASSWORD" pg_basebackup --host="$OTHER" --username=replicator --pgdata="$copy" \
        --slot="$SERVER" --checkpoint=fast --write-recovery-conf
    # A promoted copy would wait for the standby that its origin had. The name is its own once it follows, and not
    # while it is copied: half a copy confirms nothing.
    printf "synchronous_standby_names = ''\ncluster_name = '%s'\n" "$SERVER" >>"$copy/postgresql.auto.conf"
    rm -rf "$PGDATA"
    # In one step, so that a copy that was interrupted is never started.
    mv "$copy" "$PGDATA"
}

if [ ! -s "$PGDATA/PG_VERSION" ]; then
    if [ "$PRIMARY" != "$SERVER" ]; then copy_other; fi
elif [ ! -e "$PGDATA/standby.signal" ]; then
    # It is a primary, or was one. What one of two primaries takes, the other never has.
    case $(other) in
    promoted)
        if [ "$PRIMARY" = "$SERVER" ]; then
            echo "$OTHER was promoted: write PRIMARY=$OTHER into .env, and $SERVER becomes its copy" >&2
            exit 1
        fi
        copy_other
        ;;
    behind)
        echo "$SERVER was promoted, and $OTHER is a primary too: write PRIMARY=$SERVER into .env, and start $OTHER again" >&2
        exit 1
        ;;
    esac
fi
exec docker-entrypoint.sh postgres
