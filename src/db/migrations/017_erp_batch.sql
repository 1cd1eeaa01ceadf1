-- Batches of units that are handed over as files. A batch is stored whole before its file is written: after a crash the same bytes
-- are written again.
create table erp_batch (
  installation bigint not null,
  number bigint not null,
  format text not null check (format in ('csv', 'sie4', 'datev')),
  -- Name of the file in the folder.
  file text not null,
  sha256 text not null,
  units bigint not null,
  -- The text of the manifest, as it stands beside the file.
  manifest text not null,
  created_at timestamptz not null,
  -- Null until the file and its manifest are on the disk.
  written_at timestamptz,
  -- Its units were taken out of it before it was written: no file is.
  withdrawn_at timestamptz,
  acknowledged_at timestamptz,
  acknowledged_by text,
  primary key (installation, number)
);
create index erp_batch_open on erp_batch (installation, number) where acknowledged_at is null;

-- The bytes of a file that is not on the disk yet, in order; removed once it is, since they hold personal data.
create table erp_batch_piece (
  installation bigint not null,
  number bigint not null,
  piece integer not null,
  content bytea not null,
  primary key (installation, number, piece)
);

alter table erp_unit add column enqueued_at timestamptz not null default clock_timestamp();
create index erp_unit_batch on erp_unit (installation, batch) where batch is not null;
create index erp_unit_hand_over on erp_unit (installation, kind, seq) where state = 'pending' and not needs_consent;
