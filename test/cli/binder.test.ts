import { spawnSync } from 'node:child_process';
import { generateKeyPairSync } from 'node:crypto';
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { Money } from '../../src/domain/money.ts';
import { appendEntries } from '../../src/ledger/journal/append-entries.ts';
import { type DraftLine, draft, party } from '../ledger/drafts.ts';
import { hasHledger, run } from '../oracles/programs.ts';
import { useDatabase } from '../support/database.ts';
import { demoConfig, fromEnvironment } from '../support/demo-config.ts';
import { refusingPractice } from '../support/refusing-practice.ts';
import { vetledger } from './support.ts';

const { db, url } = useDatabase();
const id = 61;
const { privateKey, publicKey } = generateKeyPairSync('ed25519');
const hasPdftotext = isThere('pdftotext (of poppler-utils)', 'pdftotext', '-v');
const hasPython = isThere('python3', 'python3', '--version');
const hasOpenssl = isThere('openssl', 'openssl', 'version');
const hasSha256sum = isThere('sha256sum', 'sha256sum', '--version');
let folder = '';

function isThere(name: string, program: string, argument: string): boolean {
  const found = spawnSync(program, [argument]).error === undefined;
  if (!found) console.warn(`${name} is missing, so its tests of the binder are skipped`);
  return found;
}

const command = (line: string, ...more: string[]) =>
  vetledger([...line.replaceAll('@', `${folder}/`).split(' '), ...more, '--config', `${folder}/vetledger.yaml`], {
    PRACTICE_TOKEN: 'token',
    DATABASE_URL: url,
    VETLEDGER_SEAL_KEY: String(privateKey.export({ type: 'pkcs8', format: 'pem' })),
    VETLEDGER_LOG: 'silent',
  });

const vat = (group: string, rate: string, base: string) => ({
  vat: { group, rate: new Money(rate), base: new Money(base) },
});
const of = (invoiceId: number, client: number) => ({
  ...{ invoiceId, party: party(client), documentNumber: `KU-${invoiceId}`, dueDate: '2026-02-10' },
});

/** Entries whose figures are easy to add up by hand. */
const posted: [kind: 'invoice' | 'payment' | 'prepayment', document: number, date: string, lines: DraftLine[]][] = [
  [
    ...(['invoice', 1, '2026-01-15'] as const),
    [
      ['1700', 'receivable', '114.00', of(1, 5)],
      ['3000', 'revenue', '-100.00'],
      ['2932', 'vat', '-14.00', vat('VAT 14 %', '14', '100.00')],
    ],
  ],
  [
    ...(['invoice', 2, '2026-02-03'] as const),
    [
      ['1700', 'receivable', '125.50', of(2, 5)],
      ['3000', 'revenue', '-100.00'],
      ['2931', 'vat', '-25.50', vat('VAT 25.5 %', '25.5', '100.00')],
    ],
  ],
  [
    ...(['payment', 11, '2026-02-05'] as const),
    [
      ['1920', 'card_clearing', '60.00'],
      ['1700', 'receivable', '-60.00', of(2, 5)],
    ],
  ],
  [
    ...(['prepayment', 21, '2026-02-10'] as const),
    [
      ['1921', 'mobile_clearing', '200.00'],
      ['2400', 'prepayment_liability', '-200.00', { party: party(7) }],
    ],
  ],
  [
    ...(['payment', 12, '2026-02-12'] as const),
    [
      ['2400', 'prepayment_liability', '50.00', { party: party(7) }],
      ['1700', 'receivable', '-50.00', of(2, 5)],
    ],
  ],
  [
    ...(['invoice', 3, '2026-02-20'] as const),
    [
      ['1700', 'receivable', '40.00', { ...of(3, 6), party: { ...party(6), name: '=Ääkkönen & Groß €' } }],
      ['2411', 'gift_card_liability', '-40.00'],
    ],
  ],
];

async function post(entries: typeof posted): Promise<void> {
  const drafts = entries.map(([kind, document, date, lines]) => draft({ kind, id: document, date, lines }));
  await db.transaction((trx) => appendEntries(trx, id, drafts, { decimals: 2, windowId: null }));
}

const sale = (document: number, date: string): (typeof posted)[number] => [
  ...(['invoice', document, date] as const),
  [
    ['1700', 'receivable', '10.00', of(document, 5)],
    ['3000', 'revenue', '-10.00'],
  ],
];

/** RFC 4180, read by another program than ours: each line as its cells by the heading. */
function table(file: string): Record<string, string>[] {
  const text = readFileSync(join(folder, file), 'utf8');
  const rows = text
    .split('\r\n')
    .slice(0, -1)
    .map((line) =>
      [...line.matchAll(/(?:^|,)(?:"((?:[^"]|"")*)"|([^,"]*))/g)].map(
        ([, a, b]) => a?.replaceAll('""', '"') ?? b ?? '',
      ),
    );
  const [head = [], ...lines] = rows;
  return lines.map((cells) => Object.fromEntries(head.map((name, at) => [name, cells[at] ?? ''])));
}

const amounts = (file: string, key: string, ...names: string[]) =>
  table(file).map((line) => [line[key], ...names.map((name) => line[name])].join(' '));

const filesOf = (binder: string) =>
  Object.fromEntries(readdirSync(join(folder, binder)).map((name) => [name, readFileSync(join(folder, binder, name))]));

beforeAll(async () => {
  const base_url = await refusingPractice();
  folder = mkdtempSync(join(tmpdir(), 'vetledger-binder-'));
  const clinic = { id, base_url, name: '"Klinik Größe"', start_date: '2026-01-01' };
  const settings = {
    database_url: fromEnvironment('DATABASE_URL'),
    seal_key: fromEnvironment('VETLEDGER_SEAL_KEY'),
  };
  writeFileSync(join(folder, 'vetledger.yaml'), demoConfig([clinic], settings));
  writeFileSync(join(folder, 'public.pem'), publicKey.export({ type: 'spki', format: 'pem' }));
  await post(posted);
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

test('a month that was never closed has no binder', async () => {
  const refused = await command('export --binder 2026-02 --out @binder --json');
  expect(refused.code).toBe(1);
  expect(refused.json().error).toMatchObject({
    code: 'month_not_closed',
    message: expect.stringContaining('nothing is closed'),
    todo: expect.stringContaining('vetledger ledger close --through 2026-02-28 --installation 61'),
  });
  expect(readdirSync(folder)).not.toContain('binder');
});

test.each([
  ['--format csv --binder 2026-02', 'With --binder, give only'],
  ['--binder 2026-13', 'It must be a month like 2026-01.'],
  ['', 'Give --format FORMAT or --binder MONTH.'],
])('export %s is refused', async (options, message) => {
  const refused = await command(`export ${options}`.trim());
  expect([refused.code, refused.stderr]).toEqual([2, expect.stringContaining(message)]);
});

describe('the binder of a closed month', () => {
  beforeAll(async () => {
    await db.raw(
      `insert into document (installation, kind, id, state, dirty, document_date, problem_code, problem_message, problem_since, outside_amount)
       select ?, 'invoice', id, 'held', false, '2026-02-14', 'rows_disagree', 'held', now(), id from generate_series(1001, 1120) id`,
      [id],
    );
    const closed = await command('ledger close --through 2026-02-28 --yes', '--by', 'M. Virtanen');
    expect(closed.code, closed.stderr).toBe(0);
    const made = await command('export --binder 2026-02 --out @binder --json');
    expect(made.code, made.stderr).toBe(0);
    const [binder] = made.json().binders;
    expect(binder).toMatchObject({
      ...{ installation: id, month: '2026-02', entries: 6, reopened: null },
      ...{ closed: { by: 'M. Virtanen', second: null, through: '2026-02-28' }, seal: { n: 1 } },
    });
    expect(binder.files.map(({ name }: { name: string }) => name).sort()).toEqual(
      readdirSync(join(folder, 'binder'))
        .filter((name) => name !== 'checksums.txt')
        .concat('checksums.txt')
        .sort(),
    );
  });

  test('has the figures of the month, as added up by hand', () => {
    expect(amounts('binder/trial-balance.csv', 'account', 'opening', 'debit', 'credit', 'closing')).toEqual([
      '1700 114.00 165.50 110.00 169.50',
      '1920 0.00 60.00 0.00 60.00',
      '1921 0.00 200.00 0.00 200.00',
      '2400 0.00 50.00 200.00 -150.00',
      '2411 0.00 0.00 40.00 -40.00',
      '2931 0.00 0.00 25.50 -25.50',
      '2932 -14.00 0.00 0.00 -14.00',
      '3000 -100.00 0.00 100.00 -200.00',
    ]);
    expect(amounts('binder/vat.csv', 'document', 'period', 'kind', 'group', 'base', 'tax')).toEqual([
      'invoice 2 2026-02 domestic VAT 25.5 % 100.00 25.50',
    ]);
    expect(table('binder/vat-late.csv')).toEqual([]);
    expect(amounts('binder/receivables.csv', 'document', 'customer', 'open', 'days_1_30')).toEqual([
      'invoice 1 client:5 114.00 114.00',
      'invoice 2 client:5 15.50 15.50',
      'invoice 3 client:6 40.00 40.00',
    ]);
    expect(amounts('binder/prepayments.csv', 'document', 'customer', 'received', 'used', 'in_books')).toEqual([
      'prepayment 21 client:7 200.00 0.00 200.00',
      'payment 12 client:7 0.00 50.00 -50.00',
    ]);
    expect(amounts('binder/vouchers.csv', 'document', 'account', 'sold', 'redeemed', 'unused')).toEqual([
      'invoice 3 2411 40.00 0.00 40.00',
    ]);
    expect(amounts('binder/decisions.csv', 'by', 'action', 'request')).toEqual([
      'M. Virtanen books closed through: 2026-02-28',
    ]);
    expect(amounts('binder/closes.csv', 'by', 'action', 'through', 'link')).toEqual([
      'M. Virtanen closed 2026-02-28 7',
    ]);
    expect(table('binder/checklist.csv')[0]).toMatchObject({
      state: 'LOOK',
      detail: expect.stringMatching(/^last window/),
    });
  });

  test('names each held document, also of a long list', () => {
    const listed = Array.from({ length: 120 }, (_, index) => `invoice ${1001 + index} held ${1001 + index}.00`);
    expect(amounts('binder/open-documents.csv', 'document', 'list', 'amount')).toEqual(listed);
  });

  test('a name cannot be a formula', () => {
    expect(table('binder/receivables.csv').at(-1)?.name).toBe("'=Ääkkönen & Groß €");
  });

  test.skipIf(!hasHledger)('has the figures of the exported month by hledger', async () => {
    const exported = await command('export --format hledger --from 2026-02-01 --to 2026-02-28 --out @feb.journal');
    expect(exported.code).toBe(0);
    const balance = run('hledger', [
      '-f',
      join(folder, 'feb.journal'),
      'balance',
      '--flat',
      '--layout=bare',
      '-O',
      'csv',
    ]);
    const byHledger = balance.stdout
      .trim()
      .split('\n')
      .slice(1)
      .map((line) => line.replaceAll('"', '').split(','));
    const byBinder = table('binder/trial-balance.csv')
      .map(({ account = '', debit = '', credit = '' }) => [account, new Money(debit).minus(credit).toFixed(2)])
      .filter(([, amount]) => amount !== '0.00');
    expect(byBinder).toEqual(
      byHledger
        .filter(([account]) => account !== 'total' && account !== 'Total:')
        .map(([account = '', , amount = '']) => [
          account.split(':')[0],
          new Money(amount.replace(/[^-.\d]/g, '')).toFixed(2),
        ]),
    );
  });

  test.skipIf(!hasPdftotext)('the PDF has the close on its first page, and the tables with their totals', () => {
    const read = (...pages: string[]) =>
      run('pdftotext', ['-layout', ...pages, join(folder, 'binder/binder.pdf'), '-']).stdout;
    const first = read('-f', '1', '-l', '1');
    const [, , head] = readFileSync(join(folder, 'binder/chain.txt'), 'utf8').trimEnd().split('\n').at(-1)!.split('\t');
    expect(first).toContain('Closing binder 2026-02');
    expect(first).toContain('Klinik Größe');
    expect(first).toContain('Sales books since 2026-01-01, not the company’s accounts');
    expect(first).toMatch(/through 2026-02-28, on .* by M\. Virtanen; link 7 of the chain, after 6 entries/);
    expect(first).toContain(head);
    expect(first).toContain('number 1 of ');
    const journal = /([0-9a-f]{64}) {2}journal\.csv/.exec(
      readFileSync(join(folder, 'binder/checksums.txt'), 'utf8'),
    )?.[1];
    expect(first).toContain(journal);
    const all = read();
    expect(all).toMatch(/1700 +receivables +asset +114\.00 +165\.50 +110\.00 +169\.50/);
    expect(all).toMatch(/=Ääkkönen & Groß € +40\.00/);
    expect(all).toMatch(/total +0\.00 +475\.50 +475\.50 +0\.00/);
    expect(all).toMatch(/page 2 of \d/);
  });

  test.skipIf(!hasSha256sum)('sha256sum finds its files unchanged', () => {
    const checked = spawnSync('sha256sum', ['--strict', '-c', 'checksums.txt'], {
      cwd: join(folder, 'binder'),
      encoding: 'utf8',
    });
    expect([checked.status, checked.stdout.match(/: OK$/gm)?.length]).toEqual([
      0,
      readdirSync(join(folder, 'binder')).length - 1,
    ]);
  });

  test.skipIf(!hasPython)('the program in README.txt checks the chain, and finds a changed amount', () => {
    const [, program = ''] = readFileSync(join(folder, 'binder/README.txt'), 'utf8').split('-----\n');
    writeFileSync(join(folder, 'verify.py'), program);
    const checked = run('python3', [join(folder, 'verify.py'), join(folder, 'binder/chain.txt')]);
    expect(checked.stdout).toMatch(
      /^6 links are unchanged; the last is 7 [0-9a-f]{64}\ngaps that other months fill: 1\n$/,
    );
    const chain = readFileSync(join(folder, 'binder/chain.txt'), 'utf8');
    const changed = join(folder, 'changed.txt');
    writeFileSync(changed, chain.replace('"125.5"', '"115.5"'));
    expect(run('python3', [join(folder, 'verify.py'), changed])).toMatchObject({
      code: 1,
      stderr: 'link 2 was changed\n',
    });
    const details = spawnSync(
      'python3',
      [
        '-c',
        'import hashlib,sys; print(hashlib.sha256(open(sys.argv[1],"rb").read()).hexdigest())',
        join(folder, 'binder/close.json'),
      ],
      { encoding: 'utf8' },
    );
    expect(chain.trimEnd().split('\n').at(-1)?.endsWith(details.stdout.trim())).toBe(true);
  });

  test.skipIf(!hasOpenssl)('openssl checks the seal, whose text has the head', () => {
    const inBinder = (name: string) => join(folder, 'binder', name);
    const verify = (file: string) =>
      run('openssl', [
        ...['pkeyutl', '-verify', '-pubin', '-inkey', join(folder, 'public.pem'), '-rawin'],
        ...['-in', file, '-sigfile', inBinder('seal.sig')],
      ]).code;
    expect(verify(inBinder('seal.txt'))).toBe(0);
    expect(verify(inBinder('close.json'))).toBe(1);
    const [, , head] = readFileSync(inBinder('chain.txt'), 'utf8').trimEnd().split('\n').at(-1)!.split('\t');
    expect(readFileSync(inBinder('seal.txt'), 'utf8')).toContain(`seq 7 entries 6 head ${head} `);
  });

  test('has the words of another language where the English one has codes, and the same figures', async () => {
    const made = await command('export --binder 2026-02 --out @binder-de --language de');
    expect(made.code, made.stderr).toBe(0);
    expect(amounts('binder-de/trial-balance.csv', 'account', 'name', 'type', 'closing').slice(0, 2)).toEqual([
      '1700 Forderungen Aktiva 169.50',
      '1920 Kartenzahlungen Aktiva 60.00',
    ]);
    expect(amounts('binder-de/vat.csv', 'document', 'kind', 'group', 'tax')).toEqual([
      'Rechnung 2 Inland VAT 25.5 % 25.50',
    ]);
    expect(amounts('binder-de/prepayments.csv', 'document', 'in_books')).toEqual([
      'Anzahlung 21 200.00',
      'Zahlung 12 -50.00',
    ]);
    expect(table('binder-de/checklist.csv')[0]?.state).toBe('PRÜFEN');
    expect(table('binder-de/open-documents.csv')[0]).toMatchObject({
      document: 'Rechnung 1001',
      code: 'rows_disagree',
    });
    // Heads of columns and the journal are for programs, and README.txt is in English.
    for (const file of ['journal.csv', 'chain.txt', 'close.json', 'README.txt'])
      expect(filesOf('binder-de')[file]).toEqual(filesOf('binder')[file]);
    const head = (binder: string) => String(filesOf(binder)['vat.csv']).split('\r\n')[0];
    expect(head('binder-de')).toBe(head('binder'));
  });

  test('is the same to the byte after later entries, and is replaced only when asked', async () => {
    const named = { ...of(14, 7), party: { ...party(7), name: 'a new name' } };
    const [, , , lines] = sale(14, '2026-03-02');
    const renamed: typeof lines = [['1700', 'receivable', '10.00', named], ...lines.slice(1)];
    await post([sale(4, '2026-03-02'), ['invoice', 14, '2026-03-02', renamed]]);
    expect((await command('export --binder 2026-02 --out @again')).code).toBe(0);
    expect(filesOf('again')).toEqual(filesOf('binder'));
    const refused = await command('export --binder 2026-02 --out @again');
    expect([refused.code, refused.stderr]).toEqual([2, expect.stringContaining('--yes is required')]);
    expect((await command('export --binder 2026-02 --out @again --yes')).code).toBe(0);
    mkdirSync(join(folder, 'other'));
    const taken = await command('export --binder 2026-02 --out @other --yes');
    expect([taken.code, taken.stderr]).toEqual([2, expect.stringContaining('is no closing binder')]);
    expect(readdirSync(folder).filter((name) => /tmp|old/.test(name))).toEqual([]);
  });

  test('names a reopening, keeps its figures, and has new ones after the next close', async () => {
    const reopened = await command(
      'ledger reopen --from 2026-02-15 --yes',
      '--by',
      'A. Laine',
      '--reason',
      'a forgotten visit',
    );
    expect(reopened.code, reopened.stderr).toBe(0);
    await post([sale(5, '2026-02-25')]);
    const made = await command('export --binder 2026-02 --out @reopened --json');
    expect(made.json().binders[0].reopened).toMatchObject({
      by: 'A. Laine',
      through: '2026-02-14',
      reason: 'a forgotten visit',
    });
    const [before, now] = [filesOf('binder'), filesOf('reopened')];
    const changed = Object.keys(now).filter((name) => !now[name]?.equals(before[name]!));
    expect(changed.sort()).toEqual(['README.txt', 'binder.pdf', 'checksums.txt', 'closes.csv']);
    expect(String(now['README.txt'])).toMatch(/^2026-02 WAS OPENED AGAIN ON /m);
    expect((await command('ledger close --through 2026-02-28 --yes', '--by', 'M. Virtanen')).code).toBe(0);
    await command('export --binder 2026-02 --out @closed');
    expect(amounts('closed/trial-balance.csv', 'account', 'debit', 'credit')).toContain('3000 0.00 110.00');
    expect(amounts('closed/closes.csv', 'by', 'action', 'through')).toEqual([
      'M. Virtanen closed 2026-02-28',
      'A. Laine opened again 2026-02-14',
      'M. Virtanen closed 2026-02-28',
    ]);
  });
});
