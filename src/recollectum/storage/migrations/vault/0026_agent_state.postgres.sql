-- What agents keep besides conversations: the commands of shells by project, and small documents with a version each.
CREATE TABLE shell_commands (
    vault   bigint NOT NULL DEFAULT current_setting('recollectum.vault')::bigint,
    id      text COLLATE "C" NOT NULL,
    project bytea NOT NULL,
    command sealed NOT NULL,
    at      bigint NOT NULL,
    PRIMARY KEY (vault, id)
);

CREATE TABLE documents (
    vault      bigint NOT NULL DEFAULT current_setting('recollectum.vault')::bigint,
    name       bytea NOT NULL,
    version    bigint NOT NULL,
    body       sealed NOT NULL,
    updated_at bigint NOT NULL,
    PRIMARY KEY (vault, name)
);

CREATE INDEX shell_commands_project ON shell_commands (vault, project, id);

DO $$
DECLARE
    name text;
BEGIN
    FOREACH name IN ARRAY ARRAY['shell_commands', 'documents'] LOOP
        EXECUTE format('ALTER TABLE recollectum.%I ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY', name);
        EXECUTE format('CREATE POLICY own_vault ON recollectum.%I '
            'USING (vault = current_setting(''recollectum.vault'')::bigint) '
            'WITH CHECK (vault = current_setting(''recollectum.vault'')::bigint)', name);
        EXECUTE format('GRANT SELECT, INSERT, UPDATE, DELETE ON recollectum.%I TO recollectum_application', name);
    END LOOP;
END
$$;
