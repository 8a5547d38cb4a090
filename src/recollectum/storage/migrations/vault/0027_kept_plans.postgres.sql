-- oldest: 0026
-- The transactions of a vault plan each statement for the vault that asks (plan_cache_mode), also the statements inside of
-- functions. These find one row by its whole key, or insert one, so their plan is the same for every vault and is kept.

-- Called once for a statement, and not once for a row, because changing a setting takes longer than counting.
CREATE FUNCTION kept_number(counted text) RETURNS bigint LANGUAGE plpgsql SET plan_cache_mode = force_generic_plan AS $$
BEGIN
    RETURN coalesce((SELECT last FROM counters WHERE name = counted), 0);
END
$$;

-- Assignments are evaluated without a plan; PERFORM would be planned for each row.
CREATE OR REPLACE FUNCTION next_number(counted text) RETURNS bigint LANGUAGE plpgsql AS $$
DECLARE
    setting text := 'recollectum.last_' || counted;
    vault text := current_setting('recollectum.vault');
    kept text := current_setting(setting, true);
    number bigint;
BEGIN
    IF split_part(kept, ':', 1) = vault THEN
        number := split_part(kept, ':', 2)::bigint + 1;
    ELSE
        number := kept_number(counted) + 1;
    END IF;
    kept := set_config(setting, vault || ':' || number, true);
    RETURN number;
END
$$;

CREATE OR REPLACE FUNCTION keep_last(counted text, used bigint) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
    kept text;
BEGIN
    IF used IS NOT NULL THEN
        INSERT INTO counters (name, last) VALUES (counted, used)
        ON CONFLICT (vault, name) DO UPDATE SET last = greatest(counters.last, excluded.last);
    END IF;
    kept := set_config('recollectum.last_' || counted, '', true);
END
$$;

ALTER FUNCTION keep_number() SET plan_cache_mode = force_generic_plan;
ALTER FUNCTION keep_id() SET plan_cache_mode = force_generic_plan;
ALTER FUNCTION refuse_erased() SET plan_cache_mode = force_generic_plan;
ALTER FUNCTION keep_undo_row() SET plan_cache_mode = force_generic_plan;
ALTER FUNCTION tell_undo_rows() SET plan_cache_mode = force_generic_plan;

REVOKE EXECUTE ON FUNCTION kept_number(text) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION kept_number(text) TO recollectum_application;
