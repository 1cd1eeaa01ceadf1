// The history of a clinic, made in SQL: three years of entries, and for the console also their records and documents.
// Triggers are off, so that 200,000 invoices take a minute; only a superuser may do this.

/** SQL: whether the payment with this id used a prepayment. */
const isUse = (payment: string) => `(${payment} % 4 = 0 and ${payment} / 4 % 20 <> 0)`;

/** Entries: an invoice has six lines; 0.8 payments and 0.2 prepayments have two each. Payments used 19 of 20 prepayments. */
const entries = `
  create temp table doc as
    select kind, id, date '2023-01-01' + (id * 1095 / of)::int as day, row_number() over (order by id::numeric / of, kind) as seq
    from (select 'invoice' as kind, id, INVOICES as of from generate_series(1, INVOICES) id
      union all select 'payment', id, INVOICES * 8 / 10 from generate_series(1, INVOICES * 8 / 10) id
      union all select 'prepayment', id, INVOICES * 2 / 10 from generate_series(1, INVOICES * 2 / 10) id) d;
  insert into entry (id, installation, kind, document_id, n, seq, entry_date, document_date, reason, description, idempotency_key,
    input_hash, previous_hash, hash, vat_period, is_late, created_at)
  select CLINIC || '/' || kind || '/' || id || '/1', CLINIC, kind, id, 1, seq, day, day, 'posted', kind || ' ' || id,
    CLINIC || '/' || kind || id, 'past', 'past', 'past', to_char(day, 'YYYY-MM'), false, day + interval '1 day' + seq * interval '1 ms' from doc;
  insert into voucher (entry_id, installation, journal, fiscal_year, number)
  select id, installation, case kind when 'invoice' then 'S' when 'payment' then 'P' else 'A' end, 2023, seq from entry
  where installation = CLINIC;
  insert into entry_line (entry_id, line, account, role, side, amount, rule, mapped_by, party_code, department_id, dimension_1,
    document_number, invoice_id, due_date, party_named, vat_group, vat_rate, vat_base, has_vat)
  select e.id, l.line, l.account, l.role, l.side, l.amount, 'R1', 'roles', 'client:' || e.document_id % 9000 + 1, e.document_id % 3,
    l.dimension, 'KU-' || e.document_id, case l.role when 'receivable' then e.document_id end,
    case l.role when 'receivable' then e.document_date + 14 end, e.kind = 'invoice' and l.role = 'receivable',
    l.vat, case when l.vat is not null then 24 end, case when l.vat is not null then l.amount end, l.vat is not null
  from entry e cross join lateral (values
    ('invoice', 1, '1700', 'receivable', 'debit', 181.00, null, null),
    ('invoice', 2, (3010 + e.document_id % 12)::text, 'revenue', 'credit', 80.00, 'D' || e.document_id % 5, 'VAT 24'),
    ('invoice', 3, (3030 + e.document_id % 7)::text, 'revenue', 'credit', 20.00, null, 'VAT 24'),
    ('invoice', 4, '3060', 'revenue', 'credit', 50.00, null, 'VAT 14'),
    ('invoice', 5, '2939', 'vat', 'credit', 24.00, null, 'VAT 24'),
    ('invoice', 6, '2938', 'vat', 'credit', 7.00, null, 'VAT 14'),
    ('payment', 1, '1910', 'card_clearing', 'debit', 181.00, null, null),
    ('payment', 2, '1700', 'receivable', 'credit', 181.00, null, null),
    ('use', 1, '2450', 'prepayment_liability', 'debit', 181.00, null, null),
    ('use', 2, '1700', 'receivable', 'credit', 181.00, null, null),
    ('prepayment', 1, '1910', 'card_clearing', 'debit', 181.00, null, null),
    ('prepayment', 2, '2450', 'prepayment_liability', 'credit', 181.00, null, null)
  ) l (kind, line, account, role, side, amount, dimension, vat)
  where l.kind = case when e.kind = 'payment' and ${isUse('e.document_id')} then 'use' else e.kind end and e.installation = CLINIC;
  insert into entry_party_name (installation, entry_id, party_code, name)
  select CLINIC, l.entry_id, l.party_code, 'Client ' || l.party_code from entry e join entry_line l on l.entry_id = e.id
  where e.installation = CLINIC and l.party_named;
  insert into entry_mapping select CLINIC, '', count(*), min(seq), max(seq) from entry where installation = CLINIC;
  insert into account_day (installation, entry_date, place, account, role, department_id, dimension_1, debit, credit)
  select e.installation, e.entry_date, gen_random_uuid(), l.account, l.role, l.department_id, l.dimension_1,
    coalesce(sum(l.amount) filter (where l.side = 'debit'), 0), coalesce(sum(l.amount) filter (where l.side = 'credit'), 0)
  from entry e join entry_line l on l.entry_id = e.id where e.installation = CLINIC group by 1, 2, 4, 5, 6, 7;`;

/** The record of an invoice, its rows, a payment and a prepayment, with the fields that the mirror keeps. */
const invoiceText = `'{"client":"https://clinic.example/CLINIC/api/0.1/client/' || n % 9000 + 1 || '/","client_first_name":"","consolidated_invoices":[],"countersale":false,"created":"'
  || day || 'T09:30:00+02:00","credit_note":false,"credit_note_original_invoice":null,"department":"https://clinic.example/CLINIC/api/0.1/department/' || n % 3 + 1
  || '/","due_sum":181.00,"id":' || n || ',"invoice_date":"' || day || '","invoice_due_date":"' || day + 14 || '","invoice_number":' || n
  || ',"invoice_prefix":"KU","modified":"' || day || 'T09:30:00.123456+02:00","payer_country_code":"FI","payer_name":"Client ' || n % 9000
  || '","payer_organization_name":"","payer_vat_number":"","reference_number":"' || n || '7","status":' || status || ',"total":150.00,"total_vat":31.00,"total_with_vat":'
  || total || '}'`;
const rowText = `'{"account_number":"' || account || '","credited_invoicerow":null,"id":' || n * 3 + place || ',"invoice":"https://clinic.example/CLINIC/api/0.1/invoice/' || n
  || '/","invoice_row_extra":{"account_number":null,"reporting_dimension_1":null,"reporting_dimension_2":null},"invoicerow_vat_group":{"account_number":"'
  || vat_account || '","name":"VAT ' || rate || ' %","percentage":' || rate || '},"modified":"' || day || 'T09:30:00.123456+02:00","name":"Row ' || n
  || '","reporting_dimension_1":' || coalesce('"' || dimension || '"', 'null') || ',"reporting_dimension_2":null,"reporting_dimension_3":null,"sum":'
  || net || ',"sum_total":' || net + vat || ',"sum_vat":' || vat || ',"vat_percentage":' || rate || '}'`;
const paymentText = `'{"date_added":"' || day || 'T10:00:00+02:00","id":' || n || ',"invoice":"https://clinic.example/CLINIC/api/0.1/invoice/' || n
  || '/","modified":"' || day || 'T10:00:00+02:00","paid":181.00,"payment_type":' || case when ${isUse('n')} then 8 else 1 end || '}'`;
const prepaymentText = `'{"client":"https://clinic.example/CLINIC/api/0.1/client/' || n % 9000 + 1 || '/","created":"' || day || 'T10:00:00+02:00","department":"https://clinic.example/CLINIC/api/0.1/department/'
  || n % 3 + 1 || '/","description":"","external_info":{"external_id":"CLINIC/prepayment/' || n || '/1"},"id":' || n || ',"modified":"' || day
  || 'T10:00:00+02:00","paid":181.00,"payment_type":1,"refunds":[],"status":"ready","unused_amount":' || case when n % 20 = 0 then '181.00' else '0.00' end || '}'`;

const mirrored = (kind: string, text: string, id: string, parent: string, from: string) => `
  insert into mirror_record (installation, kind, id, parent_id, version, modified, source_time, first_seen_at, content_hash, raw,
    needs_rows, rows_fresh_from, rows_source_time, number_key, id_needs_look)
  select CLINIC, '${kind}', ${id}, ${parent}, 1, day, day, day, 'past', (${text})::json,
    ${kind === 'invoice' ? 'status = 3, case when status = 3 then day end, case when status = 3 then day end, n::text' : 'false, null, null, null'}, false
  from ${from};`;

const rows = `(values
  (0, (3010 + n % 12)::text, 'D' || n % 5, 25.5, '2939', 80.00, 20.40), (1, (3030 + n % 7)::text, null, 25.5, '2939', 20.00, 5.10),
  (2, '3060', null, 11, '2938', 50.00, 5.50)) r (place, account, dimension, rate, vat_account, net, vat)`;

/** Records and documents of the same history, all posted and in the ERP, and their windows. */
const records = `
  create temp table own as select kind, id as n, day, 3 as status, '181.00' as total from doc;
  ${mirrored('invoice', invoiceText, 'n', 'null::bigint', `own where kind = 'invoice'`)}
  ${mirrored('row', rowText, 'n * 3 + place', 'n', `own cross join lateral ${rows} where kind = 'invoice'`)}
  ${mirrored('payment', paymentText, 'n', 'n', `own where kind = 'payment'`)}
  ${mirrored('prepayment', prepaymentText, 'n', 'null::bigint', `own where kind = 'prepayment'`)}
  insert into prepayment_balance (installation, prepayment_id, client_id, paid, unused, created_at, version, modified_at)
  select CLINIC, n, n % 9000 + 1, 181.00, case when n % 20 = 0 then 181.00 else 0.00 end, day, 1, day from own where kind = 'prepayment';
  insert into prepayment_use (installation, payment_id, invoice_id, amount, recorded_at, version, invoice_client_id, first_client_id, state)
  select CLINIC, n, n, 181.00, day, 1, n % 9000 + 1, n % 9000 + 1, 'matched' from own where kind = 'payment' and ${isUse('n')};
  insert into prepayment_match (installation, payment_id, prepayment_id, amount)
  select CLINIC, n, n / 4, 181.00 from own where kind = 'payment' and ${isUse('n')};
  insert into document (installation, kind, id, state, dirty, document_date, entry_id, entry_count, input_hash, written_entry_id, judged_at)
  select installation, kind, document_id, 'posted', false, document_date, id, 1, 'past', case kind when 'prepayment' then id end, created_at
  from entry where installation = CLINIC;
  insert into document_report (installation, kind, id, code, message, amount, since)
  select CLINIC, 'invoice', n, 'overpaid', 'The invoice is overpaid by 1.00.', 1.00, day from own where kind = 'invoice' and n % 100 = 1;
  insert into write_back (installation, kind, document_id, unit_id, value_is, value, state, read_back, read_back_at)
  select installation, kind, document_id, id, 'entry_id', id, 'done', 'shown', created_at from entry
  where installation = CLINIC and kind = 'prepayment';
  insert into erp_unit (installation, unit_id, kind, seq, unit_date, erp_key, company, state, batch, settled_at, attempts, enqueued_at)
  select installation, id, 'entry', seq, entry_date, id, 'COMPANY', 'acknowledged', seq / 500 + 1, created_at, 1, created_at
  from entry where installation = CLINIC;
  update erp_unit set state = 'refused', problem_code = 'erp_refused', problem_message = 'The client is blocked.', problem_since = enqueued_at,
    batch = null, settled_at = null where installation = CLINIC and seq % 1000 = 2;
  update erp_unit set state = 'pending', needs_approval = true, attempts = 0, batch = null, settled_at = null where installation = CLINIC and seq % 1000 = 3;
  insert into erp_cursor (installation, entry_seq, company) select CLINIC, max(seq), 'COMPANY' from entry where installation = CLINIC;
  insert into erp_delivered select CLINIC, count(*) from erp_unit where installation = CLINIC and state = 'acknowledged';
  insert into erp_settled_day select CLINIC, unit_date, state, count(*) from erp_unit where installation = CLINIC and state = 'acknowledged' group by 2, 3;
  insert into erp_batch (installation, number, format, file, sha256, units, manifest, created_at, written_at, acknowledged_at)
  select CLINIC, n, 'csv', n || '.csv', 'past', 500, '{}', day, day, day
  from (select batch as n, max(unit_date) as day, count(*) from erp_unit where installation = CLINIC and batch is not null group by batch) b;
  insert into sync_window (installation, kind, trigger, from_time, to_time, outcome, counts, workflow_id, run_id, opened_at, closed_at, idle_windows)
  select CLINIC, 'window', 'schedule', at - interval '4 hours', at, case when n % 50 = 0 then 'failed' else 'closed' end,
    '{"posted":0,"pulled":{}}', 'past', 'CLINIC ' || n, at, at, 20
  from (select n, timestamptz 'TODAY 05:55Z' - (WINDOWS - n) * interval '4 hours' as at from generate_series(1, WINDOWS) n) w;
  insert into window_unread (window_id, installation, invoice_left, prepayment_left, row_left, payment_left, covered_by, is_covered)
  select id, installation, '{}', '{}', '{}', '{}', array[id + 1], true from sync_window where installation = CLINIC and outcome = 'failed';
  insert into reconcile_verdict (installation, ok, failing, checked_at) values (CLINIC, true, '{}', 'TODAY 00:00Z');
  insert into installation_state (installation) values (CLINIC);
  insert into budget (installation, action, full_limit, window_seconds)
  select CLINIC, action, 60, 60 from unnest(array['invoice.list', 'invoicerow.list', 'invoicepayment.list']) action;
  insert into source_account (installation, number, description, department, archived)
  select CLINIC, n::text, 'Sales ' || n, null, false from generate_series(3010, 3060) n;
  drop table own;`;

/** Documents that people must decide about, not judged yet: late ones, ones whose totals are wrong, and drafts. */
const open = `
  create temp table own as
    select n, date '2023-01-01' + (n * 37 % 1000)::int as day, case n % 3 when 2 then 1 else 3 end as status,
      case n % 3 when 1 then '999.00' else '181.00' end as total
    from generate_series(10000001, 10000000 + OPEN) n;
  ${mirrored('invoice', invoiceText, 'n', 'null::bigint', 'own')}
  ${mirrored('row', rowText, 'n * 3 + place', 'n', `own cross join lateral ${rows}`)}
  insert into document (installation, kind, id) select CLINIC, 'invoice', n from own;
  drop table own;`;

interface Size {
  clinic: number;
  invoices: number;
}

const filled = (sql: string, { clinic, invoices }: Size) =>
  sql.replaceAll('CLINIC', String(clinic)).replaceAll('INVOICES', String(invoices));

const inHistory = (sql: string) =>
  `set search_path = vetledger; set session_replication_role = replica; ${sql} drop table doc;`;

/** SQL that makes the entries of a clinic. */
export function entriesSql(size: Size): string {
  return inHistory(filled(entries, size));
}

/** SQL that makes a whole clinic as of a day. `open`: documents that wait to be judged. */
export function clinicSql(size: Size & { open: number; windows: number; company: string; today: string }): string {
  return inHistory(filled(entries + records + open, size))
    .replaceAll('OPEN', String(size.open))
    .replaceAll('WINDOWS', String(size.windows))
    .replaceAll('COMPANY', size.company)
    .replaceAll('TODAY', size.today);
}

/** Tables with rows of a clinic, for `copySql`. */
const copied = [
  ...[
    'entry',
    'voucher',
    'entry_line',
    'entry_party_name',
    'account_day',
    'entry_mapping',
    'mirror_record',
    'prepayment_balance',
    'prepayment_use',
    'prepayment_match',
    'document',
    'document_report',
  ],
  ...[
    'write_back',
    'erp_unit',
    'erp_cursor',
    'erp_delivered',
    'erp_settled_day',
    'erp_batch',
    'sync_window',
    'reconcile_verdict',
    'installation_state',
  ],
  ...['budget', 'source_account'],
];

/** SQL that copies a clinic to others, as a statement for each table. */
export function copySql(from: number, others: readonly number[]): string[] {
  const ids = `array[${others.join(',')}]`;
  const renamed = ['id', 'entry_id', 'unit_id', 'erp_key', 'idempotency_key', 'written_entry_id', 'run_id'];
  return copied.map(
    (table) => `do $$
declare targets text; sources text;
begin
  select string_agg(quote_ident(attname), ', '), string_agg(case
      when attname = 'installation' then 'c.id'
      when attname = 'raw' then 'replace(t.raw::text, ''/${from}/'', ''/'' || c.id || ''/'')::json'
      when atttypid = 'text'::regtype and attname in (${renamed.map((name) => `'${name}'`).join(', ')})
        then format('c.id || substr(t.%I, ${String(from).length + 1})', attname)
      else format('t.%I', attname) end, ', ')
  into targets, sources
  from pg_attribute where attrelid = 'vetledger.${table}'::regclass and attnum > 0 and not attisdropped and attidentity = '';
  execute format('insert into vetledger.${table} (%s) select %s from vetledger.${table} t cross join unnest(${ids}) c(id) where %s',
    targets, sources, ${table === 'entry_line' ? `'t.entry_id like ''${from}/%'''` : `'t.installation = ${from}'`});
end $$`,
  );
}
