// Compares a Tryton company with vetledger's books, as an auditor would: it reads Tryton over its API and the books from
// `vetledger export`, and shares no code with src/. Exit code 1 where they differ.
//
//   node scripts/tryton/compare.ts --config FILE --url URL --database NAME --user LOGIN   (the password in TRYTON_PASSWORD)
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';

const { values } = parseArgs({
  options: {
    config: { type: 'string', default: '.vetledger/dev-tryton/dev/vetledger.yaml' },
    url: { type: 'string' },
    database: { type: 'string', default: 'vetledger' },
    user: { type: 'string', default: 'vetledger' },
    /** The account of receivables, whose lines are matched. */
    receivable: { type: 'string', default: '1700' },
  },
});
const password = process.env.TRYTON_PASSWORD;
if (values.url === undefined || password === undefined) {
  console.error('error: --url and the environment variable TRYTON_PASSWORD are needed');
  process.exit(2);
}

/** Reads a decimal text as a whole number of cents, so that no digit is lost. */
function cents(text: string): bigint {
  const parts = /^(-?)(\d*)(?:\.(\d*))?(?:E([+-]?\d+))?$/.exec(text === '' ? '0' : text);
  if (!parts || parts[4]) {
    if (/^-?0E/.test(text)) return 0n;
    throw new Error(`no amount: ${text}`);
  }
  const fraction = (parts[3] ?? '').padEnd(2, '0');
  if (/[^0]/.test(fraction.slice(2))) throw new Error(`finer than a cent: ${text}`);
  const value = BigInt(`${parts[2] || '0'}${fraction.slice(0, 2)}`);
  return parts[1] ? -value : value;
}
const euros = (value: bigint) => {
  const digits = String(value < 0n ? -value : value).padStart(3, '0');
  return `${value < 0n ? '-' : ''}${digits.slice(0, -2)}.${digits.slice(-2)}`;
};
function add<Key>(to: Map<Key, bigint>, key: Key, value: bigint): void {
  to.set(key, (to.get(key) ?? 0n) + value);
}

// Tryton

interface Answer {
  result?: unknown;
  error?: unknown;
}
async function rpc(
  method: string,
  params: unknown[],
  session: string | null,
  path = values.database,
): Promise<unknown> {
  const response = await fetch(`${values.url}/${path}/rpc/`, {
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      ...(session === null ? {} : { authorization: `Session ${session}` }),
    },
    body: JSON.stringify({ id: 1, method, params }),
  });
  const text = await response.text();
  if (!response.ok) throw new Error(`${method}: ${response.status} ${text.slice(0, 200)}`);
  const answer = JSON.parse(text) as Answer;
  if (answer.error) throw new Error(`${method}: ${JSON.stringify(answer.error)}`);
  return answer.result;
}
const decimal = (value: unknown): string =>
  value === null
    ? '0'
    : (value as { decimal?: string }).decimal !== undefined
      ? (value as { decimal: string }).decimal
      : String(value);

const login = (await rpc('common.db.login', [values.user, { password }], null)) as [number, string];
const session = Buffer.from(`${values.user}:${login[0]}:${login[1]}`).toString('base64');
const preferences = (await rpc('model.res.user.get_preferences', [true, {}], session)) as Record<string, unknown>;
const context = { ...preferences, language: 'en' };
const call = (method: string, ...params: unknown[]) => rpc(method, [...params, context], session);
async function readAll(model: string, domain: unknown[], fields: string[]): Promise<Record<string, unknown>[]> {
  const all: Record<string, unknown>[] = [];
  for (;;) {
    const page = (await call(
      `model.${model}.search_read`,
      domain,
      all.length,
      2000,
      [['id', 'ASC']],
      fields,
    )) as Record<string, unknown>[];
    all.push(...page);
    if (page.length < 2000) return all;
  }
}

const accounts = new Map((await readAll('account.account', [], ['code'])).map(({ id, code }) => [id, String(code)]));
const moves = await readAll('account.move', [], ['state', 'description', 'number', 'date']);
const lines = await readAll('account.move.line', [], ['account', 'debit', 'credit', 'move', 'reconciliation']);
const taxLines = await readAll('account.tax.line', [], ['amount', 'type', 'tax', 'move_line']);
const taxes = new Map((await readAll('account.tax', [], ['name'])).map(({ id, name }) => [id, String(name)]));
const codes = await readAll('account.tax.code', [], ['name', 'code']);
// The report covers the periods in its context: here, all of them.
const periods = (await readAll('account.period', [['type', '=', 'standard']], ['name'])).map(({ id }) => id);
const vatReport = new Map<string, bigint>();
const reported = await rpc(
  'model.account.tax.code.read',
  [codes.map((code) => code.id), ['code', 'amount'], { ...context, periods }],
  session,
);
for (const { code, amount } of reported as Record<string, unknown>[])
  add(vatReport, String(code), cents(decimal(amount)));

// Our books

async function ours(): Promise<Record<string, string>[]> {
  const program = fileURLToPath(new URL('../../bin/vetledger.js', import.meta.url));
  const child = spawn(process.execPath, [program, 'export', '--format', 'csv', '--config', values.config], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  let text = '';
  child.stdout.setEncoding('utf8').on('data', (chunk: string) => {
    text += chunk;
  });
  const [code] = (await once(child, 'close')) as [number];
  if (code !== 0) throw new Error(`vetledger export ended with ${code}`);
  const [head = [], ...records] = csvRecords(text);
  return records.map((cells) => Object.fromEntries(head.map((name, at) => [name, cells[at] ?? ''])));
}

function csvRecords(text: string): string[][] {
  const records: string[][] = [];
  let record: string[] = [];
  let cell = '';
  let isQuoted = false;
  for (let at = 0; at < text.length; at++) {
    const character = text[at];
    if (isQuoted) {
      if (character !== '"') cell += character;
      else if (text[at + 1] === '"') {
        cell += '"';
        at += 1;
      } else isQuoted = false;
    } else if (character === '"') isQuoted = true;
    else if (character === ',' || character === '\n') {
      record.push(cell);
      cell = '';
      if (character === '\n') {
        records.push(record);
        record = [];
      }
    } else if (character !== '\r') cell += character;
  }
  return records;
}

const books = await ours();
const signed = (line: Record<string, string>) => cents(line.debit ?? '') - cents(line.credit ?? '');

let differences = 0;
const differs = (text: string) => {
  differences += 1;
  if (differences <= 40) console.log(`DIFFERS: ${text}`);
};
function compare(what: string, left: Map<string, bigint>, right: Map<string, bigint>): void {
  for (const key of new Set([...left.keys(), ...right.keys()])) {
    const [a, b] = [left.get(key) ?? 0n, right.get(key) ?? 0n];
    if (a !== b) differs(`${what} ${key}: ours ${euros(a)}, Tryton ${euros(b)}`);
  }
}

// Tryton must have each delivered entry exactly once.
const unitIn = (description: unknown) => / · (\S+) \[[A-Z2-7]{20}\]$/.exec(String(description))?.[1] ?? null;
const posted = new Map<string, number>();
const unitOfMove = new Map<unknown, string>();
const postedMoves = new Set<unknown>();
for (const { id, state, description } of moves) {
  const unit = unitIn(description);
  if (state !== 'posted') {
    differs(`move ${id} is a ${state} (${description})`);
    continue;
  }
  postedMoves.add(id);
  if (unit === null) differs(`move ${id} is not of vetledger: ${description}`);
  else {
    posted.set(unit, (posted.get(unit) ?? 0) + 1);
    unitOfMove.set(id, unit);
  }
}
const units = new Set(books.map(({ entry }) => entry ?? ''));
for (const unit of units) if (posted.get(unit) !== 1) differs(`${unit} is in Tryton ${posted.get(unit) ?? 0} times`);
for (const unit of posted.keys()) if (!units.has(unit)) differs(`${unit} is in Tryton and not in our books`);

// The trial balance
const [ourBalance, theirBalance] = [new Map<string, bigint>(), new Map<string, bigint>()];
for (const line of books) add(ourBalance, line.account ?? '', signed(line));
for (const { account, debit, credit, move } of lines) {
  if (postedMoves.has(move))
    add(theirBalance, accounts.get(account) ?? '?', cents(decimal(debit)) - cents(decimal(credit)));
}
compare('account', ourBalance, theirBalance);

// The VAT report has a line for each tax, credits positive.
const taxOfGroup = new Map<string, string>();
const ourVat = new Map<string, bigint>();
const taxName = (group: string, rate: string) => {
  const known = taxOfGroup.get(group);
  if (known !== undefined) return known;
  const eu = group.startsWith('EU') ? 'EU ' : '';
  const name = `Sales ${eu}${rate.includes('.') ? rate.replace(/\.?0+$/, '') : rate} %`;
  taxOfGroup.set(group, name);
  return name;
};
for (const line of books) {
  const { vat_group: group = '', vat_rate: rate = '', vat_base: base = '', role } = line;
  if (group === '') continue;
  const tax = taxName(group, rate);
  if (role === 'vat') add(ourVat, `Tax ${tax}`, -signed(line));
  if (base !== '') add(ourVat, `Base ${tax}`, -cents(base));
}
const leaves = new Map([...vatReport].filter(([code]) => /^(Base|Tax) ./.test(code)));
const theirVat = new Map<string, bigint>();
for (const [code, value] of leaves) theirVat.set(code, value);
compare('VAT report', ourVat, theirVat);
const ofPosted = new Set(lines.filter(({ move }) => postedMoves.has(move)).map(({ id }) => id));
const tagged = new Map<string, bigint>();
for (const { amount, type, tax, move_line: line } of taxLines) {
  if (!ofPosted.has(line)) continue;
  add(tagged, `${type === 'base' ? 'Base' : 'Tax'} ${taxes.get(tax)}`, cents(decimal(amount)));
}
compare('tax lines', ourVat, tagged);

// Open items: the open amount of an invoice in our books must equal its unmatched amount in Tryton.
const invoiceOf = new Map<string, string>();
const ourOpen = new Map<string, bigint>();
for (const line of books) {
  if (line.account !== values.receivable) continue;
  const invoice = line.invoice ?? '';
  invoiceOf.set(line.entry ?? '', invoice);
  add(ourOpen, invoice, signed(line));
}
const theirOpen = new Map<string, bigint>();
let matched = 0;
for (const { account, debit, credit, move, reconciliation } of lines) {
  if (accounts.get(account) !== values.receivable || !postedMoves.has(move)) continue;
  const invoice = invoiceOf.get(unitOfMove.get(move) ?? '') ?? '?';
  if (reconciliation !== null) matched += 1;
  else add(theirOpen, invoice, cents(decimal(debit)) - cents(decimal(credit)));
  // If an invoice is settled but its line is not matched, the ERP still lists the line as an open item.
  if (reconciliation === null && ourOpen.get(invoice) === 0n)
    differs(`invoice ${invoice} is settled, and its line in move ${move} is not matched`);
}
compare('open items of invoice', ourOpen, theirOpen);

const count = [...ourOpen.values()].filter((value) => value !== 0n).length;
console.log(
  `${units.size} entries, ${ourBalance.size} accounts, ${ourVat.size} figures of the VAT report, ${count} open invoices, ${matched} matched lines; ${differences} differences`,
);
process.exit(differences === 0 ? 0 : 1);
