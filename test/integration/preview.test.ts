import { readFileSync } from 'node:fs';
import { beforeAll, describe, expect, test } from 'vitest';
import { previewRemap, type RemappedDocument } from '../../src/bookkeeping/preview.ts';
import { repost } from '../../src/bookkeeping/repost.ts';
import { takeLease } from '../../src/db/lease.ts';
import { execute } from '../../src/db/rows.ts';
import { type DocumentSelection, everything } from '../../src/documents/in-force.ts';
import { verifyChain } from '../../src/ledger/verify.ts';
import { storeStartDate } from '../../src/mirror/installation-state.ts';
import { reconcile } from '../../src/reconcile/index.ts';
import { systemClock } from '../../src/runtime/system-clock.ts';
import { planEntryIds } from '../../src/writeback/entry-ids.ts';
import { openWriteBacks, recordOutcomes } from '../../src/writeback/outbox.ts';
import { vetledger } from '../cli/support.ts';
import type { MirroredClinic } from '../support/mirrored-clinic.ts';
import { query } from '../support/sql.ts';
import { all, demo, followed, otherCard, plain, practice, redate, usePreviews, without } from './previews.ts';

const { db, owner, clinicOf, lastSeq, entriesAfter, fingerprint, documentsOf, previewThenPost, happenings } =
  usePreviews();

async function reconciles(clinic: MirroredClinic, startDate: string | null = null) {
  const { id, currency, decimals, timezone, dialect } = clinic.installation;
  const input = {
    id,
    currency,
    decimals,
    timezone,
    dialect,
    startDate,
    today: '2026-04-10',
    refundLowersUnused: true,
    sourceCounts: {},
  };
  return (await reconcile(db, [{ ...clinic.installation, ...input }])).installations[0]!;
}

describe('preview equals what is posted afterwards, and writes nothing', () => {
  type Happening = keyof typeof happenings;

  test.each(Object.keys(happenings) as Happening[])('%s', async (name) => {
    const clinic = await clinicOf({ seed: 12, invoices: 40, mapping: without('mobile_clearing') });
    await clinic.pull();
    await clinic.post();
    await happenings[name](clinic);
    await clinic.pull();
    await previewThenPost(clinic, '2026-02-15');
    expect(await previewThenPost(clinic, '2026-02-15')).toBe(0);
  });

  test('documents that the source’s lock held, and that it would free now', async () => {
    const clinic = await clinicOf({ seed: 12, invoices: 60, mapping: followed(demo) });
    await clinic.pull();
    const open = await previewThenPost(clinic, '2026-02-15');
    expect(await previewThenPost(clinic, '2026-02-15')).toBe(0);
    expect(await previewThenPost(clinic, '2026-02-01')).toBeGreaterThan(20);
    expect(open).toBeGreaterThan(20);
  });

  test('over more documents than a batch holds', async () => {
    const clinic = await clinicOf({ seed: 4, invoices: 300 });
    await clinic.pull();
    expect(await previewThenPost(clinic)).toBeGreaterThan(550);
  });
});

interface Options {
  selection?: DocumentSelection;
  signal?: AbortSignal;
  waitSeconds?: number;
}

function reposting(clinic: MirroredClinic, options: Options = {}) {
  const { selection = everything, signal = new AbortController().signal, waitSeconds = 0 } = options;
  return repost(db, clinic.installation, practice, {
    selection,
    signal,
    clock: systemClock,
    waitSeconds,
    onWait: () => undefined,
  });
}

const outcomes = (remapped: RemappedDocument[]) => {
  const counted: Record<string, number> = {};
  for (const { remap } of remapped) counted[remap.outcome] = (counted[remap.outcome] ?? 0) + 1;
  return counted;
};

/** Previews the corrections, posts them, and compares both. */
async function previewThenRepost(clinic: MirroredClinic, selection = everything): Promise<RemappedDocument[]> {
  const before = await fingerprint(clinic);
  const seq = await lastSeq(clinic);
  const previewed = await all(previewRemap(db, clinic.installation, practice, selection));
  expect(await fingerprint(clinic)).toEqual(before);
  const posted = await all(reposting(clinic, { selection }));
  const predicted = previewed
    .filter(({ remap }) => remap.outcome === 'corrected')
    .flatMap(({ remap, entryIds }) => remap.decision.entries.map((entry, index) => plain(entryIds[index]!, entry)));
  expect(await entriesAfter(clinic, seq)).toEqual(predicted);
  expect(outcomes(posted)).toEqual(outcomes(previewed));
  return posted;
}

describe('repost after a changed mapping', () => {
  async function posted(options: { seed: number; invoices: number }): Promise<MirroredClinic> {
    const clinic = await clinicOf(options);
    await clinic.pull();
    await clinic.post();
    return clinic;
  }

  /** The balance of an account, computed in SQL. */
  async function balance(clinic: MirroredClinic, account: string): Promise<string> {
    const [row] = await query<{ sum: string }>(
      db,
      `select coalesce(sum(case l.side when 'debit' then l.amount else -l.amount end), 0)::numeric(20, 2)::text as sum
       from entry e join entry_line l on l.entry_id = e.id where e.installation = ? and l.account = ?`,
      [clinic.id, account],
    );
    return row!.sum;
  }

  test('moves the card account’s whole balance, once, and the books reconcile', async () => {
    const clinic = await posted({ seed: 12, invoices: 100 });
    const card = await balance(clinic, '1920');
    expect(card).not.toBe('0.00');
    await clinic.configure(otherCard);
    expect(await previewThenPost(clinic)).toBe(0);
    const { corrected, same, ...others } = outcomes(await previewThenRepost(clinic)) as Record<string, number>;
    expect(corrected).toBeGreaterThan(30);
    expect(same).toBeGreaterThan(100);
    expect(others).toEqual({});
    expect(await balance(clinic, '1920')).toBe('0.00');
    expect(await balance(clinic, '1925')).toBe(card);

    const seq = await lastSeq(clinic);
    expect(outcomes(await previewThenRepost(clinic))).toEqual({ same: corrected! + same! });
    await clinic.post();
    expect(await lastSeq(clinic)).toBe(seq);
    expect(await verifyChain(db, clinic.id)).toBeNull();
    expect(await clinic.wrongBooks()).toEqual([]);
    const report = await reconciles(clinic);
    expect(Object.values(report.equations).map(({ ok }) => ok)).not.toContain(false);
  });

  test('remarks follow the mapping: a repost makes the new ones, a window takes away those that it does not make', async () => {
    const clinic = await posted({ seed: 12, invoices: 40 });
    const remarked = () =>
      query<{ id: number }>(
        db,
        `select id::int from document_report where installation = ? and kind = 'invoice' and code = 'vat_rate_expired' order by id`,
        [clinic.id],
      );
    const before = await remarked();
    const usual = readFileSync(clinic.installation.mappingPath, 'utf8');
    await clinic.configure(
      usual.replace(
        '{group: "VAT 13.5 %", rate: 13.5, kind: domestic}',
        '{group: "VAT 13.5 %", rate: 13.5, kind: domestic, to: 2020-12-31}',
      ),
    );
    expect(Object.keys(outcomes(await all(reposting(clinic))))).toEqual(['same']);
    const taxed = await query<{ id: number }>(
      db,
      `select distinct e.document_id::int as id from entry e join entry_line l on l.entry_id = e.id
         join document d on d.installation = e.installation and d.kind = e.kind and d.entry_id = e.id
       where e.installation = ? and e.kind = 'invoice' and l.vat_group = 'VAT 13.5 %' order by 1`,
      [clinic.id],
    );
    expect(before).toEqual([]);
    expect(taxed.length).toBeGreaterThan(3);
    expect(await remarked()).toEqual(taxed);
    await clinic.post();
    expect(await remarked()).toEqual(taxed);
    await clinic.configure(usual);
    await clinic.post();
    expect(await remarked()).toEqual([]);
    expect(await clinic.wrongBooks()).toEqual([]);
  });

  test('documents whose correction PostgreSQL refuses stay as they are, by name; every other one is corrected', async () => {
    const clinic = await posted({ seed: 12, invoices: 150 });
    await clinic.configure(otherCard);
    const previewed = await all(previewRemap(db, clinic.installation, practice, everything));
    const toCorrect = previewed.filter(({ remap }) => remap.outcome === 'corrected').map(({ document }) => document);
    const culprits = [toCorrect[3]!, toCorrect[40]!, toCorrect[41]!];
    await execute(
      owner,
      `create function refuse() returns trigger language plpgsql as $$
       begin
         if new.installation = ${clinic.id} and new.kind || new.document_id in (${culprits.map(({ kind, id }) => `'${kind}${id}'`)})
         then raise exception 'a secret value' using errcode = '22003'; end if;
         return new;
       end $$;
       create trigger refuse before insert on entry for each row execute function refuse()`,
    );
    const refused = await all(reposting(clinic));
    await execute(owner, 'drop trigger refuse on entry; drop function refuse');
    expect(refused.map(({ document }) => `${document.kind}/${document.id}`)).toEqual(
      previewed.map(({ document }) => `${document.kind}/${document.id}`),
    );
    expect(outcomes(refused)).toMatchObject({ corrected: toCorrect.length - culprits.length, held: culprits.length });
    const problems = await query(
      db,
      `select kind, id::int, state, problem_code as code, problem_message as message from document
       where installation = ? and problem_code is not null order by kind <> 'prepayment', kind, id`,
      [clinic.id],
    );
    expect(problems).toEqual(
      culprits.map(({ kind, id }) => ({
        ...{ kind, id, state: 'posted', code: 'internal_error' },
        message: `${kind} ${id}: correcting it failed unexpectedly (PostgreSQL error 22003)`,
      })),
    );
    const held = refused.filter(({ remap }) => remap.outcome === 'held');
    expect(held.map(({ document, remap }) => [document.before.inForce?.id, remap.decision.problem?.code])).toEqual(
      culprits.map(({ entryId }) => [entryId, 'internal_error']),
    );

    expect(outcomes(await all(reposting(clinic)))).toMatchObject({ corrected: culprits.length });
    expect(
      await query(db, 'select from document where installation = ? and problem_code is not null', [clinic.id]),
    ).toEqual([]);
    expect(await clinic.wrongBooks()).toEqual([]);
  });

  test('the next window writes the new entry id of a reposted prepayment to the source', async () => {
    const clinic = await posted({ seed: 12, invoices: 60 });
    const claimant = { lane: 'live' as const, token: 1 };
    const selection = { kind: 'prepayment', values: ['entry_id'] } as const;
    const due = async () => {
      const ids = await planEntryIds(db, clinic.id, { after: 0, limit: 1_000, claimant });
      return openWriteBacks(db, clinic.id, selection, ids);
    };
    const accepted = { state: 'done', isAccepted: true, isInDoubt: false, standing: null, isAttempt: true } as const;
    const outcomes = (await due()).map((one) => ({ ...one, ...accepted, error: null, waitSeconds: 0 }));
    await recordOutcomes(db, clinic.id, 'prepayment', outcomes);
    expect(await due()).toEqual([]);
    await clinic.configure(demo.replace('prepayment_liability: "2400"', 'prepayment_liability: "2401"'));
    const reposted = (await previewThenRepost(clinic)).filter(({ remap }) => remap.outcome === 'corrected');
    const prepayments = reposted.filter(({ document }) => document.kind === 'prepayment');
    expect(prepayments.length).toBeGreaterThan(3);
    expect((await due()).map(({ id, value }) => [id, value])).toEqual(
      prepayments.map(({ document }) => [document.id, `${clinic.id}/prepayment/${document.id}/3`]).toSorted(),
    );
  });

  test('only the documents or dates that were asked for', async () => {
    const clinic = await posted({ seed: 12, invoices: 60 });
    await clinic.configure(demo.replace('receivable: "1700"', 'receivable: "1701"'));
    const invoices = clinic.clinic.invoices.all().filter(({ status }) => status === 3);
    const [one] = invoices;
    const named = { documents: [{ kind: 'invoice' as const, id: one!.id }], from: null, to: null };
    expect(outcomes(await previewThenRepost(clinic, named))).toEqual({ corrected: 1 });
    const month = { documents: null, from: '2026-02-01', to: '2026-02-28' };
    const february = await previewThenRepost(clinic, month);
    expect(february.length).toBeGreaterThan(10);
    const dates = february.map(({ document }) => document.before.documentDate!);
    expect(dates.filter((date) => date < '2026-02-01' || date > '2026-02-28')).toEqual([]);
  });

  test('a closed period holds corrections, and a policy that permits it posts them automatically', async () => {
    const clinic = await posted({ seed: 12, invoices: 60 });
    await db.raw(`insert into ledger_close (installation, through) values (?, '2026-02-20')`, [clinic.id]);
    await clinic.configure(otherCard);
    const { corrected, change_held } = outcomes(await previewThenRepost(clinic)) as Record<string, number>;
    expect(corrected).toBeGreaterThan(0);
    expect(change_held).toBeGreaterThan(0);
    const held = [...(await documentsOf(clinic)).values()].filter(({ problem_code }) => problem_code === 'change_held');
    expect(held).toHaveLength(change_held!);
    // The documents stay held when they are judged again.
    await db.raw('update document set dirty = true where installation = ?', [clinic.id]);
    expect(await previewThenPost(clinic)).toBe(0);

    await clinic.configure(redate(otherCard));
    expect(await previewThenPost(clinic)).toBe(2 * change_held!);
    const documents = [...(await documentsOf(clinic)).values()];
    expect(documents.filter(({ problem_code }) => problem_code === 'change_held')).toEqual([]);
    expect(await balance(clinic, '1920')).toBe('0.00');
    const late = await query(
      db,
      `select from entry where installation = ? and reason = 'mapping_changed' and entry_date <= '2026-02-20'`,
      [clinic.id],
    );
    expect(late).toEqual([]);
  });

  test('never beside a window: it waits, gives up in time, and goes on where a lost lease stopped it', async () => {
    const clinic = await posted({ seed: 12, invoices: 60 });
    await clinic.configure(demo.replace('receivable: "1700"', 'receivable: "1701"'));
    await takeLease(db, { installation: clinic.id, lane: 'live' }, 'a window');
    await expect(all(reposting(clinic))).rejects.toMatchObject({ code: 'window_busy', exitCode: 4 });
    const seq = await lastSeq(clinic);
    await db.raw(`update lease set expires_at = now() where installation = ?`, [clinic.id]);

    const first = reposting(clinic);
    // The first batch has the prepayments.
    await first.next();
    await first.next();
    const afterFirst = await lastSeq(clinic);
    expect(afterFirst).toBeGreaterThan(seq);
    await db.raw(`update lease set expires_at = now() where installation = ?`, [clinic.id]);
    const taken = await takeLease(db, { installation: clinic.id, lane: 'live' }, 'another window');
    await expect(first.next()).rejects.toMatchObject({ code: 'repost_superseded' });
    expect(await lastSeq(clinic)).toBe(afterFirst);
    const [lease] = await query<{ token: number; alive: boolean }>(
      db,
      'select token, expires_at > clock_timestamp() as alive from lease where installation = ?',
      [clinic.id],
    );
    expect(lease).toEqual({ token: taken?.token, alive: true });

    await db.raw(`update lease set expires_at = now() where installation = ?`, [clinic.id]);
    await all(reposting(clinic));
    expect(await balance(clinic, '1700')).toBe('0.00');
    const doubled = await query(
      db,
      `select document_id from entry e where installation = ? and reverses is null
         and not exists (select from entry r where r.reverses = e.id) group by kind, document_id having count(*) > 1`,
      [clinic.id],
    );
    expect(doubled).toEqual([]);
  });

  test('Ctrl-C ends it between batches, and the lease is free', async () => {
    const clinic = await posted({ seed: 12, invoices: 60 });
    await clinic.configure(demo.replace('receivable: "1700"', 'receivable: "1701"'));
    const interrupt = new AbortController();
    const run = reposting(clinic, { signal: interrupt.signal });
    await run.next();
    await run.next();
    interrupt.abort(new Error('interrupted'));
    await expect(run.next()).rejects.toThrow('interrupted');
    expect(outcomes(await all(reposting(clinic))).same).toBeGreaterThan(40);
  });
});

describe('the commands', () => {
  let clinic: MirroredClinic;
  const command = (line: string) => vetledger([...line.split(' '), '--config', clinic.config], clinic.env);

  beforeAll(async () => {
    clinic = await clinicOf({ seed: 12, invoices: 60, mapping: without('mobile_clearing') });
    await clinic.pull();
  });

  test('preview: entries, what would be held and why, totals; as text and as JSON', async () => {
    const { code, json } = await command('preview --json');
    expect(code).toBe(0);
    const [previewed] = json().installations;
    const { documents, counts, accounts } = previewed;
    expect(previewed).not.toHaveProperty('changes');
    const entries = documents.flatMap((one: { entries: unknown[] }) => one.entries);
    expect(entries).toHaveLength(counts.entries);
    expect(counts.problems.role_unmapped).toBe(counts.held);
    expect(counts.held_in_all).toBe(counts.held);
    const cents = (text: string) => BigInt(text.replace('.', ''));
    const total = (side: 'debit' | 'credit') =>
      accounts.reduce((sum: bigint, one: Record<string, string>) => sum + cents(one[side]!), 0n);
    expect(total('debit')).toBe(total('credit'));

    // The short form has only the summary by account, month and VAT period, which comes before the details.
    const short = (await command('preview')).stdout;
    expect(short).toMatch(/month +VAT period +account +name +debit +credit\n +2026-01 +2026-01 +1700 /);
    expect(short).not.toContain(documents[0].entries[0].id);
    const inPeriods = previewed.periods
      .filter((one: Record<string, string>) => one.account === '1700')
      .reduce((sum: bigint, one: Record<string, string>) => sum + cents(one.debit!), 0n);
    expect(inPeriods).toBe(cents(accounts.find((one: Record<string, string>) => one.account === '1700').debit));
    const { stdout } = await command('preview --details');
    expect(stdout.startsWith(short.trimEnd())).toBe(true);
    const [first] = documents;
    expect(stdout).toContain(`${first.entries[0].id}  ${first.entries[0].date}  ${first.entries[0].description}`);
    expect(stdout).toMatch(/^ {4}Dr {2}1700 {2}receivables +receivable +\d+\.\d\d/m);
    const held = documents.find((one: { problem: object | null }) => one.problem !== null);
    const payment = clinic.clinic.invoicePayments.all().find((one) => `payment ${one.id}` === held.document)!;
    const { invoice_prefix, invoice_number } = clinic.clinic.invoice(payment.invoice);
    expect(held.number).toBe(`${invoice_prefix}-${invoice_number}`);
    expect(stdout).toContain(`${held.id} on ${held.number}  would be held: role_unmapped`);
    expect(stdout).toMatch(/would be held: role_unmapped\n.*mobile_clearing.*\n {4}what to do: /);
    expect(stdout).toMatch(/\d+ documents wait: \d+ entries would be posted/);
  });

  test('preview when nothing waits', async () => {
    await clinic.post();
    expect((await command('preview')).stdout).toMatch(/Nothing waits: .* \d+ documents in all would have a problem/);
  });

  test('preview --mapping: what waits by it, what it would change, and the amounts it moves', async () => {
    const file = clinic.file('other.yaml', otherCard);
    const { counts, accounts, changes } = (await command(`preview --mapping ${file} --json`)).json().installations[0];
    expect(counts.states.posted).toBeGreaterThan(0);
    expect(counts.held_in_all).toBe(0);
    expect(accounts.map(({ account }: { account: string }) => account)).toContain('1921');
    expect(changes.counts.corrected).toBe(changes.documents.length);
    const [from, to] = changes.accounts;
    expect(changes.accounts).toHaveLength(2);
    expect(from).toMatchObject({ account: '1920', instead: '0.00' });
    expect(to).toMatchObject({ account: '1925', in_force: '0.00', change: from.in_force });
    const { stdout } = await command(`preview --details --mapping ${file}`);
    expect(stdout).toMatch(/in force: \S+ {2}[\s\S]* 1920 [\s\S]*\S+ reverses it on [\s\S]* 1925 /);
    expect(stdout).toMatch(
      /Change per account \(debits positive\):\n +account +name +in force +instead +change\n +1920 /,
    );
    expect((await command('preview --mapping nowhere.yaml')).code).toBe(2);
  });

  test('repost --dry-run shows what repost then posts; a second one posts nothing', async () => {
    await clinic.configure(otherCard);
    const dry = (await command('repost --dry-run --json')).json();
    expect(dry.dry_run).toBe(true);
    const seq = await lastSeq(clinic);
    // Without a terminal, `repost` cannot ask, so it changes nothing.
    const unasked = await command('repost --all');
    expect(unasked).toMatchObject({ code: 2, stdout: '' });
    expect(unasked.stderr).toMatch(/documents? would be corrected by \d+ entries[\s\S]*--yes is required/);
    expect((await command('repost --yes')).stderr).toContain('--document, --from and --to, or --all');
    expect((await command('repost --from 2026-02-01 --to 2026-01-31 --yes')).stderr).toContain(
      'is after --to 2026-01-31',
    );
    expect(await lastSeq(clinic)).toBe(seq);
    const real = (await command('repost --all --yes --json')).json();
    expect(real.installations).toEqual(dry.installations);
    const ids = real.installations[0].documents.flatMap((one: { entries: { id: string }[] }) =>
      one.entries.map(({ id }) => id),
    );
    expect((await entriesAfter(clinic, seq)).map(({ id }) => id)).toEqual(ids);
    const again = await command('repost --all');
    expect(again).toMatchObject({
      code: 0,
      stdout: expect.stringMatching(
        /0 documents would be corrected by 0 entries; \d+ would stay the same\.[\s\S]*There is nothing to post again/,
      ),
    });
  });

  test('repost prints its summary, each document only with --details, and each cause of what it keeps', async () => {
    const file = clinic.file('no-card.yaml', otherCard.replace(/card_clearing: .*/, ''));
    const kept = (await command(`preview --mapping ${file}`)).stdout;
    expect(kept).toMatch(
      /\d+ documents? unchanged, because this mapping cannot post them:\n +\d+ {2}the mapping has no account for roles\.card_clearing\n/,
    );
    const short = (await command('repost --dry-run')).stdout;
    expect(short).toMatch(/^Dry run: nothing is posted\.\n\nInstallation .*\n\n\d+ documents? would be corrected/);
    expect(short).not.toContain('in force: ');
    const long = (await command('repost --dry-run --details')).stdout;
    expect(long).toContain(short.split('\n\n').at(-1)!.trim());
  });

  test('repost with nothing to post takes no mapping into use: a faulty file is only compared', async () => {
    clinic.file('mapping.yaml', otherCard.replace(/card_clearing: .*/, ''));
    const inForce = () => query(db, 'select number, mapping_hash from mapping_version order by installation, number');
    const [before, seq] = [await inForce(), await lastSeq(clinic)];
    const ran = await command('repost --all --json');
    expect(ran.code).toBe(0);
    const [{ counts }] = ran.json().installations;
    expect([ran.json().dry_run, counts.corrected, counts.held > 0]).toEqual([false, 0, true]);
    expect([await inForce(), await lastSeq(clinic)]).toEqual([before, seq]);
    await clinic.configure(otherCard);
  });

  test('a start date that was moved once something is posted is refused, as a window refuses it', async () => {
    await storeStartDate(db, clinic.id, '2026-01-01');
    for (const line of ['preview', 'repost --dry-run', 'repost --all']) {
      const ran = await command(line);
      expect(ran).toMatchObject({ code: 2, stdout: '' });
      expect(ran.stderr).toMatch(/start_date .* begun with 2026-01-01\.\nwhat to do: Set start_date back/);
    }
    await storeStartDate(db, clinic.id, null);
  });

  test.each(['preview', 'repost --dry-run', 'repost'])('%s ends at Ctrl-C with exit code 130', async (line) => {
    const interrupt = new AbortController();
    const args = [...line.split(' '), '--config', clinic.config];
    const running = vetledger(args, clinic.env, interrupt.signal);
    interrupt.abort(new Error('interrupted'));
    expect(await running).toMatchObject({ code: 130, stdout: '', stderr: expect.stringContaining('interrupted') });
  });

  test.each([
    ['two selections', 'repost --all --from 2026-01-01', 2, 'only one of'],
    ['no document', 'repost --document receipt 7', 2, 'invoice 123'],
    ['one that is not known', 'repost --document invoice 1', 1, 'There is no invoice 1'],
    ['an installation that is not known', 'repost --document 9/invoice/1', 2, 'Installation 9'],
  ])('repost with %s', async (_, line, code, message) => {
    const ran = await command(line);
    expect(ran.code).toBe(code);
    expect(ran.stderr).toContain(message);
  });
});
