-- Sources that have refused to let us in: they are asked again with growing pauses.
create table sign_in (
  installation bigint primary key,
  -- Tells the secret that was refused from another one; the secret itself is not kept.
  mark text not null,
  refusals integer not null,
  since timestamptz not null,
  ask_again_at timestamptz not null
);
