// Compares a company of Odoo with vetledger's books, as an auditor would: it reads Odoo by JSON-RPC and the books from `vetledger
// export`, and shares no code with src/. Exit code 1 where they differ.
//
//   node scripts/odoo/compare.ts --config FILE --mapping FILE --url URL --database NAME --user LOGIN [--company NAME|ID]
//   (the password or API key in ODOO_PASSWORD)
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { parse as parseCsv } from 'csv-parse/sync';
import { parse as parseYaml } from 'yaml';

const { values } = parseArgs({
  options: {
    config: { type: 'string', default: 'vetledger.yaml' },
    mapping: { type: 'string', default: 'mappings/odoo-demo.yaml' },
    url: { type: 'string' },
    database: { type: 'string' },
    user: { type: 'string', default: 'vetledger' },
    company: { type: 'string' },
  },
});
const password = process.env.ODOO_PASSWORD;
if (values.url === undefined || values.database === undefined || password === undefined) {
  console.error('error: --url, --database and the environment variable ODOO_PASSWORD are needed');
  process.exit(2);
}

/** Reads a decimal text as a whole number of cents, so that no digit is lost. */
function cents(text: string): bigint {
  const parts = /^(-?)(\d*)(?:\.(\d*))?$/.exec(text === '' ? '0' : text);
  if (!parts) throw new Error(`no amount: ${text}`);
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

// Odoo

type Named = [id: number, name: string] | false;
interface Answer {
  result?: unknown;
  error?: { message: string; data?: { message: string } };
}
async function rpc(service: string, method: string, args: unknown[]): Promise<unknown> {
  const response = await fetch(`${values.url}/jsonrpc`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'call', params: { service, method, args } }),
  });
  const { result, error } = (await response.json()) as Answer;
  if (error) throw new Error(`${method}: ${error.data?.message ?? error.message}`);
  return result;
}
const uid = await rpc('common', 'login', [values.database, values.user, password]);
if (uid === false) throw new Error(`Odoo does not let ${values.user} in`);
const call = (model: string, method: string, args: unknown[], named: object) =>
  rpc('object', 'execute_kw', [values.database, uid, password, model, method, args, named]);
let context: object = { lang: 'en_US' };
async function readAll<Row>(model: string, domain: unknown[], fields: string[]): Promise<(Row & { id: number })[]> {
  const all: (Row & { id: number })[] = [];
  for (;;) {
    const last = all.at(-1)?.id ?? 0;
    const page = (await call(model, 'search_read', [[['id', '>', last], ...domain], fields], {
      ...{ order: 'id', limit: 1000, context },
    })) as (Row & { id: number })[];
    all.push(...page);
    if (page.length < 1000) return all;
  }
}
const idOf = (value: Named) => (value === false ? null : value[0]);
/** Odoo rounds its sums, and JSON has the shortest text of each number, so converting it to text is exact. */
const amountOf = (value: number) => cents(String(value));

const [me] = await readAll<{ company_ids: number[] }>('res.users', [['id', '=', uid]], ['company_ids']);
const companies = (await readAll<{ name: string }>('res.company', [], ['name'])).filter(({ id, name }) =>
  values.company === undefined ? me?.company_ids.includes(id) : [String(id), name].includes(values.company),
);
const [company] = companies;
if (company === undefined || companies.length > 1) throw new Error(`--company names ${companies.length} companies`);
context = { lang: 'en_US', allowed_company_ids: [company.id], active_test: false };
const ours = [['company_id', '=', company.id]];

const moves = await readAll<{ state: string; ref: string | false; date: string }>('account.move', ours, [
  ...['state', 'ref', 'date'],
]);
const fieldsOfLines = (await call('account.move.line', 'fields_get', [], { attributes: ['type'] })) as object;
/** Up to Odoo 18, tags and lines have signs. */
const hasSigns = 'tax_tag_invert' in fieldsOfLines;
const lines = await readAll<{
  move_id: Named;
  account_id: Named;
  balance: number;
  amount_residual: number;
  full_reconcile_id: Named;
  tax_line_id: Named;
  tax_base_amount: number;
  tax_tag_ids: number[];
  tax_tag_invert?: boolean;
}>(
  'account.move.line',
  [...ours, ['account_id', '!=', false]],
  [
    ...['move_id', 'account_id', 'balance', 'amount_residual', 'full_reconcile_id'],
    ...['tax_line_id', 'tax_base_amount', 'tax_tag_ids', ...(hasSigns ? ['tax_tag_invert'] : [])],
  ],
);
const accounts = new Map(
  (
    await readAll<{ code: string | false }>(
      'account.account',
      [['id', 'in', [...new Set(lines.map((line) => idOf(line.account_id)))]]],
      ['code'],
    )
  ).map(({ id, code }) => [id, code || `[${id}]`]),
);
const taxes = await readAll<{ name: string; type_tax_use: string }>('account.tax', ours, ['name', 'type_tax_use']);
const parts = await readAll<{ tax_id: Named; repartition_type: string; tag_ids: number[] }>(
  'account.tax.repartition.line',
  [
    ['tax_id', 'in', taxes.map(({ id }) => id)],
    ['document_type', '=', 'invoice'],
  ],
  ['tax_id', 'repartition_type', 'tag_ids'],
);
const negates = hasSigns ? 'tax_negate' : 'balance_negate';
const tags = new Map(
  (
    await readAll<{ name: string } & Record<string, boolean>>(
      'account.account.tag',
      [['applicability', '=', 'taxes']],
      ['name', negates],
    )
  ).map(({ id, name, [negates]: isNegated }) => [
    id,
    { figure: hasSigns ? name.replace(/^[+-]/, '') : name, isNegated: isNegated === true },
  ]),
);

function tagOf(id: number): { figure: string; isNegated: boolean } {
  const tag = tags.get(id);
  if (tag === undefined) throw new Error(`Odoo has no tag ${id}`);
  return tag;
}

// Our books

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
const books = parseCsv(text, { columns: true, bom: true }) as Record<string, string>[];
const signed = (line: Record<string, string>) => cents(line.debit ?? '') - cents(line.credit ?? '');

interface Mapping {
  roles: Record<string, string>;
  vat_groups?: { group?: string | string[]; rate?: Value | Value[]; code?: string }[];
  erp?: { vat_codes?: 'same' | Record<string, string | Record<string, string>> };
}
type Value = number | string;
const mapping = parseYaml(readFileSync(values.mapping, 'utf8')) as Mapping;
const receivable = String(mapping.roles.receivable);
const listed = <Item>(value: Item | Item[] | undefined) => (value === undefined ? [] : ([value].flat() as Item[]));

/** The tax in Odoo for a VAT group and rate, according to the mapping; null if lines have no tax. */
function taxOf(group: string, rate: string): string | null {
  const shortest = rate.includes('.') ? rate.replace(/\.?0+$/, '') : rate;
  const fitting = (mapping.vat_groups ?? []).filter(({ rate: rates = 0 }) =>
    listed<Value>(rates).some((each) => String(each) === shortest),
  );
  const line =
    fitting.find((each) => listed(each.group).includes(group)) ?? fitting.find((each) => each.group === undefined);
  const codes = mapping.erp?.vat_codes ?? 'same';
  const entry = codes === 'same' ? 'same' : (codes[group] ?? codes['*']);
  const found = line?.code ?? (typeof entry === 'object' ? (entry[shortest] ?? entry['*']) : entry);
  if (found === undefined) throw new Error(`the mapping has no tax for ${group} at ${rate} %`);
  return found === 'none' ? null : found === 'same' ? group : found;
}

// Differences

let differences = 0;
const differs = (what: string) => {
  differences += 1;
  if (differences <= 40) console.log(`DIFFERS: ${what}`);
};
function compare(what: string, left: Map<string, bigint>, right: Map<string, bigint>): void {
  for (const key of new Set([...left.keys(), ...right.keys()])) {
    const [a, b] = [left.get(key) ?? 0n, right.get(key) ?? 0n];
    if (a !== b) differs(`${what} ${key}: ours ${euros(a)}, Odoo ${euros(b)}`);
  }
}

// Each entry must be in Odoo once, on its day, with its amounts.
const unitIn = (ref: string | false) => / · (\S+) \[[A-Z2-7]{20}\]$/.exec(ref || '')?.[1] ?? null;
const unitOfMove = new Map<number, string>();
const postedMoves = new Set<number>();
const times = new Map<string, number>();
const dayOf = new Map(books.map(({ entry = '', date = '' }) => [entry, date]));
for (const { id, state, ref, date } of moves) {
  const unit = unitIn(ref);
  if (state === 'cancel') continue;
  if (state !== 'posted') {
    differs(`move ${id} is a ${state} (${ref || 'no reference'})`);
    continue;
  }
  postedMoves.add(id);
  if (unit === null) {
    differs(`move ${id} is not of vetledger: ${ref || 'no reference'}`);
    continue;
  }
  unitOfMove.set(id, unit);
  times.set(unit, (times.get(unit) ?? 0) + 1);
  const day = dayOf.get(unit);
  if (day === undefined) differs(`${unit} is in Odoo and not in our books`);
  else if (day !== date) differs(`${unit} is of ${day}, and in Odoo of ${date}`);
}
for (const unit of dayOf.keys()) if (times.get(unit) !== 1) differs(`${unit} is in Odoo ${times.get(unit) ?? 0} times`);

const posted = lines.filter(({ move_id: move }) => postedMoves.has(idOf(move) ?? 0));
const accountOf = (line: (typeof lines)[number]) => accounts.get(idOf(line.account_id) ?? 0) ?? '?';
const unitOf = (line: (typeof lines)[number]) => unitOfMove.get(idOf(line.move_id) ?? 0) ?? '?';
const [ourEntries, theirEntries] = [new Map<string, bigint>(), new Map<string, bigint>()];
const [ourBalances, theirBalances] = [new Map<string, bigint>(), new Map<string, bigint>()];
for (const line of books) {
  add(ourEntries, `${line.entry} on ${line.account}`, signed(line));
  add(ourBalances, line.account ?? '', signed(line));
}
for (const line of posted) {
  add(theirEntries, `${unitOf(line)} on ${accountOf(line)}`, amountOf(line.balance));
  add(theirBalances, accountOf(line), amountOf(line.balance));
}
compare('entry', ourEntries, theirEntries);
compare('account', ourBalances, theirBalances);

// VAT by tax; a sale counts as positive.
const [ourAmounts, theirAmounts] = [new Map<string, bigint>(), new Map<string, bigint>()];
const ourBases = new Map<string, bigint>();
for (const line of books) {
  const { vat_group: group = '', vat_rate: rate = '', vat_base: base = '', role } = line;
  const tax = group === '' ? null : taxOf(group, rate);
  if (tax === null) continue;
  if (role === 'vat') add(ourAmounts, tax, -signed(line));
  if (base !== '') add(ourBases, tax, -cents(base));
}
const nameOf = new Map(taxes.map(({ id, name }) => [id, name]));
const saidBases = new Map<string, bigint>();
for (const line of posted) {
  const tax = idOf(line.tax_line_id);
  if (tax === null) continue;
  const name = nameOf.get(tax) ?? `[${tax}]`;
  const base = amountOf(line.tax_base_amount);
  add(theirAmounts, name, -amountOf(line.balance));
  // Odoo stores the base of credit notes as positive too; the line's amount gives the sign.
  add(saidBases, name, amountOf(line.balance) < 0n ? base : -base);
}
compare('amount of tax', ourAmounts, theirAmounts);

// Amounts by tag. The figures of Odoo's tax report must equal the figures that our books and the taxes' tags imply.
const [ourFigures, theirFigures] = [new Map<string, bigint>(), new Map<string, bigint>()];
const [untaggedOurs, untaggedTheirs] = [new Map<string, bigint>(), new Map<string, bigint>()];
for (const name of new Set([...ourAmounts.keys(), ...ourBases.keys()])) {
  const [tax, ...others] = taxes.filter((each) => each.name === name && each.type_tax_use === 'sale');
  if (tax === undefined || others.length > 0) {
    differs(`Odoo has ${others.length + (tax ? 1 : 0)} taxes on sales named ${name}`);
    continue;
  }
  for (const { repartition_type: type, tag_ids: ids } of parts.filter((part) => idOf(part.tax_id) === tax.id)) {
    const value = (type === 'base' ? ourBases : ourAmounts).get(name) ?? 0n;
    for (const id of ids) {
      const { figure, isNegated } = tagOf(id);
      // With signs, an invoice counts as positive on a positive tag. Without signs, a credit counts as positive if the
      // report negates the tag.
      add(ourFigures, figure, isNegated === hasSigns ? -value : value);
    }
    if (type === 'base' && ids.length === 0) {
      untaggedOurs.set(name, value);
      untaggedTheirs.set(name, saidBases.get(name) ?? 0n);
    }
  }
}
for (const line of posted) {
  for (const id of line.tax_tag_ids) {
    const { figure, isNegated } = tagOf(id);
    const balance = amountOf(line.balance);
    add(theirFigures, figure, (line.tax_tag_invert ?? false) === isNegated ? balance : -balance);
  }
}
compare('figure of the tax report', ourFigures, theirFigures);
compare('base of tax without a tag', untaggedOurs, untaggedTheirs);

// Open items: the open amount of an invoice in our books must equal its unmatched amount in Odoo.
const invoiceOf = new Map<string, string>();
const ourOpen = new Map<string, bigint>();
for (const line of books) {
  if (line.account !== receivable) continue;
  invoiceOf.set(line.entry ?? '', line.invoice ?? '');
  add(ourOpen, line.invoice ?? '', signed(line));
}
const theirOpen = new Map<string, bigint>();
const matches = new Map<number, bigint>();
let matched = 0;
for (const line of posted) {
  if (accountOf(line) !== receivable) continue;
  const invoice = invoiceOf.get(unitOf(line)) ?? '?';
  const match = idOf(line.full_reconcile_id);
  if (match !== null) {
    matched += 1;
    add(matches, match, amountOf(line.balance));
    if (line.amount_residual !== 0) differs(`line ${line.id} is matched, and ${line.amount_residual} of it is open`);
    continue;
  }
  add(theirOpen, invoice, amountOf(line.amount_residual));
  // If an invoice is settled but its line is not matched, the ERP still lists the line as an open item.
  if (ourOpen.get(invoice) === 0n)
    differs(`invoice ${invoice} is settled, and its line in move ${idOf(line.move_id)} is not matched`);
}
for (const [match, balance] of matches) if (balance !== 0n) differs(`match ${match} leaves ${euros(balance)}`);
compare('open items of invoice', ourOpen, theirOpen);

const open = [...ourOpen.values()].filter((value) => value !== 0n).length;
console.log(
  `${dayOf.size} entries, ${ourBalances.size} accounts, ${ourAmounts.size} taxes, ${ourFigures.size} figures of the tax report, ${untaggedOurs.size} bases without a tag, ${open} open invoices, ${matched} matched lines; ${differences} differences`,
);
process.exit(differences === 0 ? 0 : 1);
