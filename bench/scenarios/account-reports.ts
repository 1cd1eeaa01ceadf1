// (l) Reports of accounts and a closing binder over a long history and a tenth of it: time and memory of the command.
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { loadavg, tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import pg from 'pg';
import { openDatabase } from '../../src/db/pool.ts';
import { startEphemeralPostgres } from '../../src/embedded/index.ts';
import { closePeriods } from '../../src/ledger/close.ts';
import { migrateAsOwner } from '../../src/runtime/database.ts';
import { demoConfig, fromEnvironment } from '../../test/support/demo-config.ts';
import { machine, writeSection } from '../measure.ts';
import { count, fixed, median, table } from '../parts/figures.ts';
import { processWith, run, usageOf } from '../parts/processes.ts';

const installation = 4711;
const aimSeconds = 2;
const binderAim = { seconds: 30, peakMb: 250 };
const program = fileURLToPath(new URL('../../bin/vetledger.js', import.meta.url));

/** Three years of entries: an invoice has six lines; 0.8 payments and 0.2 prepayments have two each. */
const history = `
  set search_path = vetledger;
  set session_replication_role = replica;
  create temp table doc as
    select kind, id, date '2023-01-01' + (id * 1095 / of)::int as day, row_number() over (order by id::numeric / of, kind) as seq
    from (select 'invoice' as kind, id, INVOICES as of from generate_series(1, INVOICES) id
      union all select 'payment', id, INVOICES * 8 / 10 from generate_series(1, INVOICES * 8 / 10) id
      union all select 'prepayment', id, INVOICES * 2 / 10 from generate_series(1, INVOICES * 2 / 10) id) d;
  insert into entry (id, installation, kind, document_id, n, seq, entry_date, document_date, reason, description, idempotency_key,
    input_hash, previous_hash, hash, vat_period, is_late, created_at)
  select ${installation} || '/' || kind || '/' || id || '/1', ${installation}, kind, id, 1, seq, day, day, 'posted', kind || ' ' || id,
    kind || id, 'past', 'past', 'past', to_char(day, 'YYYY-MM'), false, day + interval '1 day' + seq * interval '1 ms' from doc;
  insert into voucher (entry_id, installation, journal, fiscal_year, number)
  select id, installation, case kind when 'invoice' then 'S' when 'payment' then 'P' else 'A' end, 2023, seq from entry;
  insert into entry_line (entry_id, line, account, role, side, amount, rule, mapped_by, party_code, department_id, dimension_1,
    document_number, invoice_id, due_date, party_named, vat_group, vat_rate, vat_base, has_vat)
  select e.id, l.line, l.account, l.role, l.side, l.amount, 'R1', 'roles', 'client:' || e.document_id % 9000, e.document_id % 3,
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
    ('prepayment', 1, '1910', 'card_clearing', 'debit', 50.00, null, null),
    ('prepayment', 2, '2450', 'prepayment_liability', 'credit', 50.00, null, null)
  ) l (kind, line, account, role, side, amount, dimension, vat) where l.kind = e.kind;
  insert into entry_party_name (entry_id, party_code, name)
  select entry_id, party_code, 'Client ' || party_code from entry_line where party_named;
  insert into account_day (installation, entry_date, place, account, role, department_id, dimension_1, debit, credit)
  select e.installation, e.entry_date, gen_random_uuid(), l.account, l.role, l.department_id, l.dimension_1,
    coalesce(sum(l.amount) filter (where l.side = 'debit'), 0), coalesce(sum(l.amount) filter (where l.side = 'credit'), 0)
  from entry e join entry_line l on l.entry_id = e.id group by 1, 2, 4, 5, 6, 7;
  analyze`;

const closed = '2025-11-30';
const binder = ['export', '--binder', '2025-11'];

const commands = [
  ['trial-balance', '--as-of', '2025-12-31'],
  ['trial-balance', '--as-of', '2024-06-30', '--by', 'dimension_1'],
  ['trial-balance', '--as-of', '2025-12-31', '--recorded-by', '2025-12-01'],
  ['income', '--month', '2025-11'],
  ['balance-sheet', '--as-of', '2025-12-31'],
  ['account', '3060', '--month', '2025-11'],
  ['trial-balance', '--as-of', '2025-12-31', '--documents'],
  ['journal', '--from', '2023-01-01', '--to', '2025-12-31'],
].map((report) => ['report', ...report]);

/** Reports that print every line of all years; their time grows with them, and only their memory has a bound. */
const isOfLines = (name: string) => name.includes('--documents') || name.startsWith('report journal');

interface Run {
  seconds: number;
  /** Processor seconds of the command and of PostgreSQL. They do not depend on other load of the machine. */
  cpuSeconds: number;
  peakMb: number;
}

export async function accountReports(quick: boolean): Promise<void> {
  const measured = new Map<string, Run[]>();
  for (const invoices of quick ? [200, 2_000] : [20_000, 200_000]) {
    const postgres = await startEphemeralPostgres();
    const folder = mkdtempSync(join(tmpdir(), 'vetledger-bench-'));
    try {
      await makeClinic(postgres, invoices);
      const config = join(folder, 'vetledger.yaml');
      const source = { id: installation, base_url: 'http://127.0.0.1:9/' };
      writeFileSync(config, demoConfig([source], { data_dir: folder, database_url: fromEnvironment('DATABASE_URL') }));
      const server = processWith(`port=${new URL(postgres.url).port}`);
      const turn = async (args: string[]): Promise<Run> => {
        const before = usageOf(server);
        const ended = await run({
          ...{ command: program, args: [...args, '--config', config], timeoutMs: 600_000 },
          env: { PRACTICE_TOKEN: 'none', DATABASE_URL: postgres.url },
        });
        return { ...ended, cpuSeconds: ended.cpuSeconds + usageOf(server) - before };
      };
      for (const command of [...commands, binder]) {
        const name = command.join(' ');
        const more = command === binder ? ['--out', join(folder, 'binder'), '--yes'] : ['--csv'];
        const runs: Run[] = [];
        for (let turns = isOfLines(name) ? 1 : 3; turns > 0; turns -= 1) runs.push(await turn([...command, ...more]));
        const of = (field: keyof Run) => median(runs.map((each) => each[field]));
        const own = { seconds: of('seconds'), cpuSeconds: of('cpuSeconds'), peakMb: of('peakMb') };
        measured.set(name, [...(measured.get(name) ?? []), own]);
        console.error(invoices, name, fixed(own.seconds), fixed(own.cpuSeconds), count(own.peakMb));
      }
    } finally {
      await postgres.release();
      rmSync(folder, { recursive: true, force: true });
    }
  }
  const rows = [...measured].map(([name, [short, long]]) => [
    name,
    ...[short, long].flatMap((each) => [
      ...[fixed(each?.seconds ?? null), fixed(each?.cpuSeconds ?? null), count(each?.peakMb ?? 0)],
    ]),
    fixed((long?.cpuSeconds ?? 0) / (short?.cpuSeconds ?? 1)),
  ]);
  writeSection(
    '(l) Reports of accounts',
    [
      ...machine(),
      '',
      'Seconds of `vetledger report … --csv` and `vetledger export --binder` from start to end, processor seconds of the command and of PostgreSQL,',
      'and peak of the command’s resident memory, over three years of 20,000 and of 200,000 invoices; each has six lines, 0.8 payments and 0.2',
      `prepayments. One in five is unpaid, and no prepayment is used. Aim for 200,000: ${aimSeconds} processor seconds (not for reports that print every line),`,
      `and the same memory; the binder: ${binderAim.seconds} processor seconds and ${binderAim.peakMb} MB. The machine’s load over the last 15 minutes was ${fixed(loadavg()[2] ?? 0)}.`,
      '',
      table(['command', '20,000: s', 'processor s', 'peak MB', '200,000: s', 'processor s', 'peak MB', 'ratio'], rows),
    ].join('\n'),
  );
  const missed = [...measured].filter(([name, [, long]]) => long && !isReached(name, long)).map(([name]) => name);
  if (missed.length > 0) throw new Error(`aim missed: ${missed.join(', ')}`);
}

function isReached(name: string, { cpuSeconds, peakMb }: Run): boolean {
  if (name === binder.join(' ')) return cpuSeconds <= binderAim.seconds && peakMb <= binderAim.peakMb;
  return isOfLines(name) || cpuSeconds <= aimSeconds;
}

/** Makes the entries of a clinic, and closes its books through the month of the binder. */
async function makeClinic(postgres: { url: string; ownerUrl: string }, invoices: number): Promise<void> {
  await migrateAsOwner({ url: postgres.url, ownerUrl: postgres.ownerUrl });
  const client = new pg.Client({ connectionString: postgres.ownerUrl });
  await client.connect();
  await client.query(history.replaceAll('INVOICES', String(invoices)));
  await client.end();
  const db = openDatabase(postgres.url, { max: 1 });
  await closePeriods(db, [{ id: installation, today: '2026-01-01' }], closed);
  await db.destroy();
}
