-- Since when a process has not reached Temporal (src/runtime/presence.ts): `status`, another process, tells it.
alter table daemon add column temporal_gone_since timestamptz;
