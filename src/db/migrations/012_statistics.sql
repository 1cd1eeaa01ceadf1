-- Only a table's owner may analyze it before PostgreSQL 17; this lets the runtime role do so after work that outruns autovacuum. A table
-- that another process analyzes at this moment is left to it.
create function refresh_statistics(table_name text) returns void language plpgsql
  security definer set search_path = vetledger, pg_temp as $$
begin
  execute format('analyze (skip_locked) vetledger.%I', table_name);
end $$;
