-- Projects: a folder by the SHA-256 of its path. A project that was moved has several roots; the rows of each stay as they
-- were written, and `project_roots` says which project they belong to. A project without a name was forgotten.
CREATE TABLE projects (
    vault    bigint NOT NULL DEFAULT current_setting('recollectum.vault')::bigint,
    id       bytea NOT NULL,
    name     bytea,
    root_id  bytea NOT NULL,
    added_at bigint NOT NULL,
    PRIMARY KEY (vault, id),
    UNIQUE (vault, name)
);
CREATE TABLE project_roots (
    vault    bigint NOT NULL DEFAULT current_setting('recollectum.vault')::bigint,
    id       bytea NOT NULL,
    project  bytea NOT NULL,
    root     sealed NOT NULL,
    added_at bigint NOT NULL,
    PRIMARY KEY (vault, id),
    -- Checked at the commit: a change of keys encrypts one table after the other.
    FOREIGN KEY (vault, project) REFERENCES projects (vault, id) ON DELETE CASCADE DEFERRABLE INITIALLY DEFERRED
);

-- The project that a memory was saved with; NULL for a personal one. Two projects may use one key.
ALTER TABLE memories ADD COLUMN project bytea;
DROP INDEX memories_key;
CREATE UNIQUE INDEX memories_key ON memories (vault, key, coalesce(project, ''::bytea))
    WHERE key IS NOT NULL AND state = 'active';
CREATE INDEX memories_project ON memories (vault, project) WHERE project IS NOT NULL;

DO $$
DECLARE
    name text;
BEGIN
    FOREACH name IN ARRAY ARRAY['projects', 'project_roots'] LOOP
        EXECUTE format('ALTER TABLE recollectum.%I ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY', name);
        EXECUTE format('CREATE POLICY own_vault ON recollectum.%I '
            'USING (vault = current_setting(''recollectum.vault'')::bigint) '
            'WITH CHECK (vault = current_setting(''recollectum.vault'')::bigint)', name);
        EXECUTE format('GRANT SELECT, INSERT, UPDATE, DELETE ON recollectum.%I TO recollectum_application', name);
    END LOOP;
END
$$;
