-- The vaults: one schema holds all of them. The first column of every table is the vault, it fills itself from a setting
-- of the transaction, it leads every key, and row-level security admits the rows of that vault alone.

-- The words of the portable subset that PostgreSQL has no function for.

-- OFFSET 0 keeps the planner from merging a list into the statement: a cast is not leakproof, and under row-level security
-- a comparison that contains one is never an index condition.

CREATE FUNCTION texts(list text) RETURNS TABLE (key bigint, value text) LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
    SELECT place - 1, member FROM jsonb_array_elements_text(list::jsonb) WITH ORDINALITY AS one (member, place) OFFSET 0
$$;

CREATE FUNCTION numbers(list text) RETURNS TABLE (key bigint, value bigint) LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
    SELECT place - 1, member::bigint
      FROM jsonb_array_elements_text(list::jsonb) WITH ORDINALITY AS one (member, place) OFFSET 0
$$;

CREATE FUNCTION triples(list text) RETURNS TABLE (key bigint, first bigint, second bigint, third bigint)
LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
    SELECT place - 1, (member ->> 0)::bigint, (member ->> 1)::bigint, (member ->> 2)::bigint
      FROM jsonb_array_elements(list::jsonb) WITH ORDINALITY AS one (member, place) OFFSET 0
$$;

-- What is encrypted before it is sent. The type of a column tells the engine how: `sealed` with a random nonce, `bytea` so
-- that equal values are equal and can be compared. The server can look into neither.
CREATE DOMAIN sealed AS bytea;

CREATE FUNCTION names(list bytea[]) RETURNS TABLE (key bigint, value bytea) LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
    SELECT place - 1, member FROM unnest(list) WITH ORDINALITY AS one (member, place)
$$;

-- The whole: the engine cuts it when it is decrypted.
CREATE FUNCTION piece(whole bytea, start bigint, count bigint) RETURNS bytea LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
    SELECT whole
$$;

-- Numbers: dense in each vault, from 1, and never used again. A sequence would have gaps and show how much others write.

CREATE TABLE counters (
    vault bigint NOT NULL DEFAULT current_setting('recollectum.vault')::bigint,
    name  text COLLATE "C" NOT NULL,
    last  bigint NOT NULL,
    PRIMARY KEY (vault, name)
);

-- Counts in a setting of the transaction: a row of `counters` that is updated once for each number gets slower each time.
CREATE FUNCTION next_number(counted text) RETURNS bigint LANGUAGE plpgsql AS $$
DECLARE
    vault text := current_setting('recollectum.vault');
    kept text[] := string_to_array(current_setting('recollectum.last_' || counted, true), ':');
    number bigint;
BEGIN
    IF kept[1] = vault THEN
        number := kept[2]::bigint + 1;
    ELSE
        number := coalesce((SELECT last FROM counters WHERE name = counted), 0) + 1;
    END IF;
    PERFORM set_config('recollectum.last_' || counted, vault || ':' || number, true);
    RETURN number;
END
$$;

-- Returns the highest number ever used, also by rows that are gone.
CREATE FUNCTION last_number(counted text) RETURNS bigint LANGUAGE sql STABLE AS $$
    SELECT coalesce((SELECT last FROM counters WHERE name = counted), 0)
$$;

-- After each statement: keeps the highest number that it used, and gives back those of rows that were not inserted.
CREATE FUNCTION keep_number() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
    used bigint := (SELECT max(number) FROM added);
BEGIN
    PERFORM keep_last(TG_TABLE_NAME, used);
    RETURN NULL;
END
$$;

CREATE FUNCTION keep_id() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
    used bigint := (SELECT max(id) FROM added);
BEGIN
    PERFORM keep_last(TG_TABLE_NAME, used);
    RETURN NULL;
END
$$;

CREATE FUNCTION keep_last(counted text, used bigint) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
    IF used IS NOT NULL THEN
        INSERT INTO counters (name, last) VALUES (counted, used)
        ON CONFLICT (vault, name) DO UPDATE SET last = greatest(counters.last, excluded.last);
    END IF;
    PERFORM set_config('recollectum.last_' || counted, '', true);
END
$$;

CREATE TABLE meta (
    vault bigint NOT NULL DEFAULT current_setting('recollectum.vault')::bigint,
    name  text COLLATE "C" NOT NULL,
    value sealed NOT NULL,
    PRIMARY KEY (vault, name)
);

CREATE TABLE sessions (
    vault          bigint NOT NULL DEFAULT current_setting('recollectum.vault')::bigint,
    id             text COLLATE "C" NOT NULL,
    key            bytea NOT NULL,
    created_at     bigint NOT NULL,
    updated_at     bigint NOT NULL,
    ended_at       bigint,
    title          sealed,
    summary        sealed,
    project        sealed,
    imported       bigint NOT NULL,
    message_count  bigint NOT NULL,
    token_estimate bigint NOT NULL,
    extra          sealed,
    PRIMARY KEY (vault, id)
);

CREATE TABLE messages (
    vault          bigint NOT NULL DEFAULT current_setting('recollectum.vault')::bigint,
    number         bigint NOT NULL DEFAULT next_number('messages'),
    id             text COLLATE "C" NOT NULL,
    session_id     text COLLATE "C" NOT NULL,
    position       bigint NOT NULL,
    role           text COLLATE "C" NOT NULL,
    created_at     bigint NOT NULL,
    text           sealed NOT NULL,
    parts          sealed,
    tool_calls     sealed,
    thoughts       sealed,
    tokens         sealed,
    token_estimate bigint NOT NULL,
    model          sealed,
    native_id      bytea,
    speaker        sealed,
    trust          text COLLATE "C" NOT NULL,
    extra          sealed,
    speaker_folded bytea,
    copy_of        text COLLATE "C",
    PRIMARY KEY (vault, number),
    UNIQUE (vault, session_id, position),
    UNIQUE (vault, id),
    FOREIGN KEY (vault, session_id) REFERENCES sessions (vault, id) ON DELETE CASCADE
);

CREATE TABLE memories (
    vault                bigint NOT NULL DEFAULT current_setting('recollectum.vault')::bigint,
    number               bigint NOT NULL DEFAULT next_number('memories'),
    id                   text COLLATE "C" NOT NULL,
    content              sealed NOT NULL,
    key                  bytea,
    kind                 text COLLATE "C" NOT NULL,
    importance           double precision NOT NULL,
    trust                text COLLATE "C" NOT NULL,
    author               bytea NOT NULL,
    agent                bytea,
    message_id           text COLLATE "C",
    version              bigint NOT NULL,
    state                text COLLATE "C" NOT NULL,
    created_at           bigint NOT NULL,
    updated_at           bigint NOT NULL,
    valid_from           bigint,
    valid_to             bigint,
    supersedes           text COLLATE "C",
    superseded_by        text COLLATE "C",
    archive_at           bigint,
    retention_expires_at bigint,
    expires_at           bigint,
    deleted_at           bigint,
    hard_delete_at       bigint,
    fingerprint          bytea NOT NULL,
    due_at               bigint,
    day                  text COLLATE "C",
    day_at               bigint,
    no_contacts          bigint,
    PRIMARY KEY (vault, number),
    UNIQUE (vault, id)
);

CREATE TABLE events (
    vault      bigint NOT NULL DEFAULT current_setting('recollectum.vault')::bigint,
    number     bigint NOT NULL DEFAULT next_number('events'),
    at         bigint NOT NULL,
    type       text COLLATE "C" NOT NULL,
    subject    text COLLATE "C" NOT NULL,
    subject_id text COLLATE "C" NOT NULL,
    actor      bytea NOT NULL,
    state      text COLLATE "C",
    payload    sealed,
    PRIMARY KEY (vault, number)
);

CREATE TABLE chunks (
    vault         bigint NOT NULL DEFAULT current_setting('recollectum.vault')::bigint,
    number        bigint NOT NULL DEFAULT next_number('chunks'),
    source        text COLLATE "C" NOT NULL,
    source_number bigint NOT NULL,
    start         bigint NOT NULL,
    stop          bigint NOT NULL,
    told          bigint,
    own           bigint,
    echo          double precision,
    first_line    bigint,
    last_line     bigint,
    headings      sealed,
    created_at    bigint,
    trust         text COLLATE "C",
    role          text COLLATE "C",
    speaker       sealed,
    PRIMARY KEY (vault, number)
);

CREATE TABLE generations (
    vault         bigint NOT NULL DEFAULT current_setting('recollectum.vault')::bigint,
    id            bigint NOT NULL DEFAULT next_number('generations'),
    identity      text COLLATE "C" NOT NULL,
    state         text COLLATE "C" NOT NULL,
    done          bigint NOT NULL DEFAULT 0,
    removed       bigint NOT NULL DEFAULT 0,
    created_at    bigint NOT NULL,
    swapped_at    bigint,
    coarse        bigint NOT NULL DEFAULT 0,
    coarse_size   bigint,
    coarse_rounds bigint NOT NULL DEFAULT 0,
    coarse_done   bigint NOT NULL DEFAULT 0,
    PRIMARY KEY (vault, id),
    CHECK (state IN ('building', 'current', 'previous'))
);

CREATE TABLE vectors (
    vault      bigint NOT NULL DEFAULT current_setting('recollectum.vault')::bigint,
    generation bigint NOT NULL,
    chunk      bigint NOT NULL,
    data       sealed NOT NULL,
    PRIMARY KEY (vault, generation, chunk),
    FOREIGN KEY (vault, generation) REFERENCES generations (vault, id) ON DELETE CASCADE
);

CREATE TABLE embedding_cache (
    vault     bigint NOT NULL DEFAULT current_setting('recollectum.vault')::bigint,
    text_hash bytea NOT NULL,
    model     bytea NOT NULL,
    data      sealed NOT NULL,
    used_at   bigint NOT NULL,
    PRIMARY KEY (vault, text_hash, model)
);

CREATE TABLE note_folders (
    vault    bigint NOT NULL DEFAULT current_setting('recollectum.vault')::bigint,
    number   bigint NOT NULL DEFAULT next_number('note_folders'),
    path     bytea NOT NULL,
    added_at bigint NOT NULL,
    PRIMARY KEY (vault, number),
    UNIQUE (vault, path)
);

CREATE TABLE notes (
    vault     bigint NOT NULL DEFAULT current_setting('recollectum.vault')::bigint,
    number    bigint NOT NULL DEFAULT next_number('notes'),
    folder    bytea NOT NULL,
    path      bytea NOT NULL,
    hash      sealed NOT NULL,
    mtime     bigint NOT NULL,
    size      bigint NOT NULL,
    text      sealed NOT NULL,
    synced_at bigint NOT NULL,
    PRIMARY KEY (vault, number),
    UNIQUE (vault, folder, path),
    FOREIGN KEY (vault, folder) REFERENCES note_folders (vault, path)
);

CREATE TABLE jobs (
    vault       bigint NOT NULL DEFAULT current_setting('recollectum.vault')::bigint,
    id          text COLLATE "C" NOT NULL,
    kind        text COLLATE "C" NOT NULL,
    subject     text COLLATE "C" NOT NULL,
    idempotency text COLLATE "C" NOT NULL,
    state       text COLLATE "C" NOT NULL,
    not_before  bigint NOT NULL,
    claim       text COLLATE "C",
    lease_until bigint,
    attempts    bigint NOT NULL,
    trouble     sealed,
    created_at  bigint NOT NULL,
    done_at     bigint,
    PRIMARY KEY (vault, id),
    UNIQUE (vault, idempotency),
    CHECK (state IN ('waiting', 'claimed', 'done', 'failed'))
);

CREATE TABLE runs (
    vault            bigint NOT NULL DEFAULT current_setting('recollectum.vault')::bigint,
    id               text COLLATE "C" NOT NULL,
    session_id       text COLLATE "C" NOT NULL,
    from_position    bigint NOT NULL,
    through_position bigint NOT NULL,
    by               sealed NOT NULL,
    added            bigint NOT NULL,
    updated          bigint NOT NULL,
    superseded       bigint NOT NULL,
    renewed          bigint NOT NULL,
    proposed         bigint NOT NULL,
    ignored          bigint NOT NULL,
    at               bigint NOT NULL,
    reverted_at      bigint,
    PRIMARY KEY (vault, id),
    UNIQUE (vault, session_id, through_position)
);

CREATE TABLE run_effects (
    vault     bigint NOT NULL DEFAULT current_setting('recollectum.vault')::bigint,
    run_id    text COLLATE "C" NOT NULL,
    number    bigint NOT NULL,
    act       text COLLATE "C" NOT NULL,
    memory_id text COLLATE "C" NOT NULL,
    version   bigint NOT NULL,
    target_id text COLLATE "C",
    PRIMARY KEY (vault, run_id, number),
    FOREIGN KEY (vault, run_id) REFERENCES runs (vault, id) ON DELETE CASCADE
);

CREATE TABLE citations (
    vault      bigint NOT NULL DEFAULT current_setting('recollectum.vault')::bigint,
    memory_id  text COLLATE "C" NOT NULL,
    message_id text COLLATE "C" NOT NULL,
    start      bigint NOT NULL,
    stop       bigint NOT NULL,
    run_id     text COLLATE "C",
    PRIMARY KEY (vault, memory_id, message_id, start, stop),
    FOREIGN KEY (vault, message_id) REFERENCES messages (vault, id) ON DELETE CASCADE
);

CREATE TABLE summaries (
    vault      bigint NOT NULL DEFAULT current_setting('recollectum.vault')::bigint,
    session_id text COLLATE "C" NOT NULL,
    covered_to bigint NOT NULL,
    text       sealed NOT NULL,
    made_by    sealed NOT NULL,
    made_at    bigint NOT NULL,
    PRIMARY KEY (vault, session_id),
    FOREIGN KEY (vault, session_id) REFERENCES sessions (vault, id) ON DELETE CASCADE
);

CREATE TABLE checkpoints (
    vault      bigint NOT NULL DEFAULT current_setting('recollectum.vault')::bigint,
    name       bytea NOT NULL,
    session_id text COLLATE "C" NOT NULL,
    position   bigint NOT NULL,
    saved_at   bigint NOT NULL,
    PRIMARY KEY (vault, name),
    FOREIGN KEY (vault, session_id) REFERENCES sessions (vault, id) ON DELETE CASCADE
);

CREATE TABLE erased (
    vault bigint NOT NULL DEFAULT current_setting('recollectum.vault')::bigint,
    id    text COLLATE "C" NOT NULL,
    PRIMARY KEY (vault, id)
);

CREATE TABLE undo_rows (
    vault                bigint NOT NULL DEFAULT current_setting('recollectum.vault')::bigint,
    number               bigint NOT NULL DEFAULT next_number('undo_rows'),
    memory_id            text COLLATE "C" NOT NULL,
    event                bigint,
    key                  bytea,
    kind                 text COLLATE "C" NOT NULL,
    importance           double precision NOT NULL,
    trust                text COLLATE "C" NOT NULL,
    author               bytea NOT NULL,
    version              bigint NOT NULL,
    state                text COLLATE "C" NOT NULL,
    updated_at           bigint NOT NULL,
    valid_from           bigint,
    valid_to             bigint,
    supersedes           text COLLATE "C",
    superseded_by        text COLLATE "C",
    archive_at           bigint,
    retention_expires_at bigint,
    expires_at           bigint,
    deleted_at           bigint,
    hard_delete_at       bigint,
    PRIMARY KEY (vault, number),
    FOREIGN KEY (vault, memory_id) REFERENCES memories (vault, id) ON DELETE CASCADE
);

CREATE TABLE sweeps (
    vault    bigint NOT NULL DEFAULT current_setting('recollectum.vault')::bigint,
    number   bigint NOT NULL DEFAULT next_number('sweeps'),
    at       bigint NOT NULL,
    state    text COLLATE "C" NOT NULL,
    archived bigint NOT NULL,
    deleted  bigint NOT NULL,
    marked   bigint NOT NULL,
    purged   bigint NOT NULL,
    waiting  bigint NOT NULL,
    erased   bigint NOT NULL,
    PRIMARY KEY (vault, number),
    CHECK (state IN ('done', 'needs_confirmation', 'held'))
);

CREATE TABLE quarantines (
    vault       bigint NOT NULL DEFAULT current_setting('recollectum.vault')::bigint,
    id          text COLLATE "C" NOT NULL,
    source      sealed NOT NULL,
    went        text COLLATE "C" NOT NULL,
    by          sealed NOT NULL,
    at          bigint NOT NULL,
    released_at bigint,
    PRIMARY KEY (vault, id),
    CHECK (went IN ('archived', 'soft_deleted'))
);

CREATE TABLE served_blocks (
    vault  bigint NOT NULL DEFAULT current_setting('recollectum.vault')::bigint,
    digest bytea NOT NULL,
    head   sealed NOT NULL,
    lines  bigint NOT NULL,
    source text COLLATE "C" NOT NULL,
    at     bigint NOT NULL,
    PRIMARY KEY (vault, digest)
);

CREATE TABLE coarse_middles (
    vault      bigint NOT NULL DEFAULT current_setting('recollectum.vault')::bigint,
    generation bigint NOT NULL,
    middles    sealed NOT NULL,
    PRIMARY KEY (vault, generation),
    FOREIGN KEY (vault, generation) REFERENCES generations (vault, id) ON DELETE CASCADE
);

CREATE TABLE coarse_lists (
    vault      bigint NOT NULL DEFAULT current_setting('recollectum.vault')::bigint,
    generation bigint NOT NULL,
    chunk      bigint NOT NULL,
    list       bigint NOT NULL,
    PRIMARY KEY (vault, generation, chunk),
    FOREIGN KEY (vault, generation, chunk) REFERENCES vectors (vault, generation, chunk) ON DELETE CASCADE
);

CREATE TABLE transcript_roots (
    vault    bigint NOT NULL DEFAULT current_setting('recollectum.vault')::bigint,
    number   bigint NOT NULL DEFAULT next_number('transcript_roots'),
    path     bytea NOT NULL,
    agent    sealed,
    channel  sealed,
    added_at bigint NOT NULL,
    PRIMARY KEY (vault, number)
);

CREATE TABLE transcript_files (
    vault      bigint NOT NULL DEFAULT current_setting('recollectum.vault')::bigint,
    path       bytea NOT NULL,
    root       bigint NOT NULL,
    identity   sealed NOT NULL,
    size       bigint NOT NULL,
    mtime      bigint NOT NULL,
    read_to    bigint NOT NULL,
    lines      bigint NOT NULL,
    head       sealed NOT NULL,
    tail       sealed NOT NULL,
    form       text COLLATE "C",
    session_id text COLLATE "C",
    synced_at  bigint NOT NULL,
    PRIMARY KEY (vault, path),
    FOREIGN KEY (vault, root) REFERENCES transcript_roots (vault, number) ON DELETE CASCADE
);

CREATE TABLE imports (
    vault      bigint NOT NULL DEFAULT current_setting('recollectum.vault')::bigint,
    session_id text COLLATE "C" NOT NULL,
    id         text COLLATE "C" NOT NULL,
    first      bigint NOT NULL,
    last       bigint NOT NULL,
    by         bytea NOT NULL,
    at         bigint NOT NULL,
    PRIMARY KEY (vault, session_id, id, first),
    FOREIGN KEY (vault, session_id) REFERENCES sessions (vault, id) ON DELETE CASCADE
);

CREATE TABLE barred (
    vault      bigint NOT NULL DEFAULT current_setting('recollectum.vault')::bigint,
    message_id text COLLATE "C" NOT NULL,
    start      bigint NOT NULL,
    stop       bigint NOT NULL,
    memory_id  text COLLATE "C" NOT NULL,
    PRIMARY KEY (vault, message_id, start, stop, memory_id),
    FOREIGN KEY (vault, message_id) REFERENCES messages (vault, id) ON DELETE CASCADE
);

CREATE TABLE memory_versions (
    vault       bigint NOT NULL DEFAULT current_setting('recollectum.vault')::bigint,
    memory_id   text COLLATE "C" NOT NULL,
    version     bigint NOT NULL,
    content     sealed NOT NULL,
    key         sealed,
    kind        text COLLATE "C" NOT NULL,
    importance  double precision NOT NULL,
    valid_from  bigint,
    valid_to    bigint,
    recorded_at bigint NOT NULL,
    replaced_at bigint NOT NULL,
    author      sealed NOT NULL,
    PRIMARY KEY (vault, memory_id, version)
);

CREATE TABLE quarantined (
    vault         bigint NOT NULL DEFAULT current_setting('recollectum.vault')::bigint,
    item          text COLLATE "C" NOT NULL,
    quarantine_id text COLLATE "C" NOT NULL,
    memory        bigint NOT NULL,
    PRIMARY KEY (vault, item, quarantine_id)
);

CREATE TABLE purge_items (
    vault    bigint NOT NULL DEFAULT current_setting('recollectum.vault')::bigint,
    purge_id text COLLATE "C" NOT NULL,
    rank     bigint NOT NULL,
    item     bytea NOT NULL,
    PRIMARY KEY (vault, purge_id, rank, item)
);

CREATE TABLE purge_samples (
    vault    bigint NOT NULL DEFAULT current_setting('recollectum.vault')::bigint,
    purge_id text COLLATE "C" NOT NULL,
    digest   text COLLATE "C" NOT NULL,
    bits     text COLLATE "C" NOT NULL,
    PRIMARY KEY (vault, purge_id, digest)
);

CREATE TABLE proposals (
    vault       bigint NOT NULL DEFAULT current_setting('recollectum.vault')::bigint,
    id          text COLLATE "C" NOT NULL,
    run_id      text COLLATE "C",
    session_id  text COLLATE "C",
    act         text COLLATE "C" NOT NULL,
    content     sealed NOT NULL,
    kind        text COLLATE "C" NOT NULL,
    importance  double precision NOT NULL,
    key         sealed,
    reason      sealed NOT NULL,
    trust       text COLLATE "C" NOT NULL,
    by          sealed NOT NULL,
    certain     bigint NOT NULL,
    spans       sealed NOT NULL,
    fingerprint text COLLATE "C" NOT NULL,
    decision    text COLLATE "C" NOT NULL,
    created_at  bigint NOT NULL,
    decided_at  bigint,
    decided_by  sealed,
    memory_id   text COLLATE "C",
    PRIMARY KEY (vault, id),
    CHECK (decision IN ('waiting', 'approved', 'rejected', 'stale'))
);

CREATE TABLE proposal_items (
    vault       bigint NOT NULL DEFAULT current_setting('recollectum.vault')::bigint,
    proposal_id text COLLATE "C" NOT NULL,
    item        text COLLATE "C" NOT NULL,
    number      bigint,
    version     bigint,
    PRIMARY KEY (vault, proposal_id, item),
    FOREIGN KEY (vault, proposal_id) REFERENCES proposals (vault, id) ON DELETE CASCADE
);

CREATE UNIQUE INDEX sessions_open ON sessions (vault, key) WHERE ended_at IS NULL AND imported = 0;
CREATE INDEX sessions_key ON sessions (vault, key, updated_at);
CREATE UNIQUE INDEX messages_native ON messages (vault, session_id, native_id) WHERE native_id IS NOT NULL;
CREATE UNIQUE INDEX memories_key ON memories (vault, key) WHERE key IS NOT NULL AND state = 'active';
CREATE INDEX memories_fingerprint ON memories (vault, fingerprint, number);
CREATE INDEX memories_due ON memories (vault, due_at, number) WHERE due_at IS NOT NULL;
CREATE INDEX events_subject ON events (vault, subject_id, number);
CREATE INDEX chunks_source ON chunks (vault, source, source_number);
CREATE INDEX embedding_cache_used ON embedding_cache (vault, used_at);
CREATE INDEX messages_speaker ON messages (vault, speaker_folded) WHERE speaker_folded IS NOT NULL;
CREATE INDEX messages_copies ON messages (vault, copy_of) WHERE copy_of IS NOT NULL;
CREATE INDEX messages_created ON messages (vault, created_at, number);
CREATE INDEX memories_created ON memories (vault, created_at, number);
CREATE INDEX jobs_open ON jobs (vault, kind, not_before) WHERE state IN ('waiting', 'claimed');
CREATE INDEX citations_message ON citations (vault, message_id);
CREATE INDEX undo_rows_memory ON undo_rows (vault, memory_id, event);
CREATE INDEX memories_told ON memories (vault, kind, importance, updated_at, number) WHERE state = 'active' AND superseded_by IS NULL;
CREATE INDEX served_blocks_source ON served_blocks (vault, source);
CREATE UNIQUE INDEX proposals_waiting ON proposals (vault, fingerprint) WHERE decision = 'waiting';
CREATE INDEX proposal_items_item ON proposal_items (vault, item);
CREATE INDEX memories_listed ON memories (vault, no_contacts, state, kind, number);

-- The full-text index: the terms of a chunk in order, or NULL after it is removed; `stamp` orders the changes.
CREATE TABLE search (
    vault  bigint NOT NULL DEFAULT current_setting('recollectum.vault')::bigint,
    number bigint NOT NULL,
    stamp  bigint NOT NULL,
    terms  sealed,
    PRIMARY KEY (vault, number)
);

CREATE INDEX search_stamp ON search (vault, stamp);

CREATE TRIGGER messages_numbered AFTER INSERT ON messages REFERENCING NEW TABLE AS added
    FOR EACH STATEMENT EXECUTE FUNCTION keep_number();
CREATE TRIGGER memories_numbered AFTER INSERT ON memories REFERENCING NEW TABLE AS added
    FOR EACH STATEMENT EXECUTE FUNCTION keep_number();
CREATE TRIGGER events_numbered AFTER INSERT ON events REFERENCING NEW TABLE AS added
    FOR EACH STATEMENT EXECUTE FUNCTION keep_number();
CREATE TRIGGER chunks_numbered AFTER INSERT ON chunks REFERENCING NEW TABLE AS added
    FOR EACH STATEMENT EXECUTE FUNCTION keep_number();
CREATE TRIGGER generations_numbered AFTER INSERT ON generations REFERENCING NEW TABLE AS added
    FOR EACH STATEMENT EXECUTE FUNCTION keep_id();
CREATE TRIGGER note_folders_numbered AFTER INSERT ON note_folders REFERENCING NEW TABLE AS added
    FOR EACH STATEMENT EXECUTE FUNCTION keep_number();
CREATE TRIGGER notes_numbered AFTER INSERT ON notes REFERENCING NEW TABLE AS added
    FOR EACH STATEMENT EXECUTE FUNCTION keep_number();
CREATE TRIGGER undo_rows_numbered AFTER INSERT ON undo_rows REFERENCING NEW TABLE AS added
    FOR EACH STATEMENT EXECUTE FUNCTION keep_number();
CREATE TRIGGER sweeps_numbered AFTER INSERT ON sweeps REFERENCING NEW TABLE AS added
    FOR EACH STATEMENT EXECUTE FUNCTION keep_number();
CREATE TRIGGER transcript_roots_numbered AFTER INSERT ON transcript_roots REFERENCING NEW TABLE AS added
    FOR EACH STATEMENT EXECUTE FUNCTION keep_number();

-- What was erased for good is not taken in again.
CREATE FUNCTION refuse_erased() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF EXISTS (SELECT 1 FROM erased WHERE id = NEW.id) THEN
        RAISE EXCEPTION 'this % was erased for good, and is not taken in again', TG_ARGV[0]
            USING ERRCODE = 'integrity_constraint_violation';
    END IF;
    RETURN NEW;
END
$$;

CREATE TRIGGER sessions_erased BEFORE INSERT ON sessions FOR EACH ROW EXECUTE FUNCTION refuse_erased('session');
CREATE TRIGGER messages_erased BEFORE INSERT ON messages FOR EACH ROW EXECUTE FUNCTION refuse_erased('message');

-- At most one generation is in each state.
CREATE FUNCTION refuse_second_state() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF EXISTS (SELECT 1 FROM generations WHERE state = NEW.state AND id <> NEW.id) THEN
        RAISE EXCEPTION 'two generations in one state' USING ERRCODE = 'integrity_constraint_violation';
    END IF;
    RETURN NEW;
END
$$;

CREATE TRIGGER generations_added BEFORE INSERT ON generations FOR EACH ROW EXECUTE FUNCTION refuse_second_state();
CREATE TRIGGER generations_moved BEFORE UPDATE OF state ON generations
    FOR EACH ROW EXECUTE FUNCTION refuse_second_state();

-- Undo: the row before each change, and the event that tells of the change.
CREATE FUNCTION keep_undo_row() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    INSERT INTO undo_rows (memory_id, key, kind, importance, trust, author, version, state, updated_at, valid_from,
        valid_to, supersedes, superseded_by, archive_at, retention_expires_at, expires_at, deleted_at, hard_delete_at)
    VALUES (OLD.id, OLD.key, OLD.kind, OLD.importance, OLD.trust, OLD.author, OLD.version, OLD.state, OLD.updated_at,
        OLD.valid_from, OLD.valid_to, OLD.supersedes, OLD.superseded_by, OLD.archive_at, OLD.retention_expires_at,
        OLD.expires_at, OLD.deleted_at, OLD.hard_delete_at);
    RETURN NULL;
END
$$;

CREATE TRIGGER undo_rows_kept AFTER UPDATE OF version ON memories FOR EACH ROW EXECUTE FUNCTION keep_undo_row();

CREATE FUNCTION tell_undo_rows() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    UPDATE undo_rows SET event = NEW.number WHERE memory_id = NEW.subject_id AND event IS NULL;
    RETURN NULL;
END
$$;

CREATE TRIGGER undo_rows_told AFTER INSERT ON events FOR EACH ROW
    WHEN (NEW.subject = 'memory' AND NEW.type <> 'created') EXECUTE FUNCTION tell_undo_rows();

-- What goes with a message, a memory and a session.
CREATE FUNCTION follow_message() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    DELETE FROM summaries WHERE session_id = OLD.session_id AND covered_to >= OLD.position;
    DELETE FROM quarantined WHERE item = OLD.id;
    RETURN NULL;
END
$$;

CREATE TRIGGER messages_deleted AFTER DELETE ON messages FOR EACH ROW EXECUTE FUNCTION follow_message();

CREATE FUNCTION follow_memory() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    DELETE FROM meta WHERE name >= 'profile:' AND name < 'profile;';
    DELETE FROM quarantined WHERE item = OLD.id;
    RETURN NULL;
END
$$;

CREATE TRIGGER memories_deleted AFTER DELETE ON memories FOR EACH ROW EXECUTE FUNCTION follow_memory();

CREATE FUNCTION follow_session() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    DELETE FROM proposals WHERE id IN (SELECT proposal_id FROM proposal_items WHERE item = OLD.id);
    RETURN NULL;
END
$$;

CREATE TRIGGER sessions_deleted AFTER DELETE ON sessions FOR EACH ROW EXECUTE FUNCTION follow_session();

-- `current_setting` stands in the policy itself: a plan that is kept would keep the answer of a function around it, if
-- that were IMMUTABLE. Without the setting every statement fails.
DO $$
DECLARE
    name text;
BEGIN
    FOR name IN SELECT tablename FROM pg_tables WHERE schemaname = 'recollectum' AND tablename <> 'migrations' LOOP
        EXECUTE format('ALTER TABLE recollectum.%I ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY', name);
        EXECUTE format('CREATE POLICY own_vault ON recollectum.%I '
            'USING (vault = current_setting(''recollectum.vault'')::bigint) '
            'WITH CHECK (vault = current_setting(''recollectum.vault'')::bigint)', name);
        EXECUTE format('GRANT SELECT, INSERT, UPDATE, DELETE ON recollectum.%I TO recollectum_application', name);
    END LOOP;
END
$$;

REVOKE EXECUTE ON ALL FUNCTIONS IN SCHEMA recollectum FROM PUBLIC;
GRANT EXECUTE ON ALL FUNCTIONS IN SCHEMA recollectum TO recollectum_application;
