-- What the holder of a lane waits for, so that `status` says why nothing goes on while nothing has failed yet. Programs of the version
-- before write none of it: `noted_token` tells whether it is of the present holder.
alter table lease
  add column noted_token bigint,
  add column taken_at timestamptz,
  -- By activity: what it waits for, since when, and its last error.
  add column waits jsonb not null default '{}';
