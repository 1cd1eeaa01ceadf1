import { type Money, sum } from '../domain/money.ts';
import type { AccountNumber } from '../records/types.ts';
import { type Role, roles } from '../terms.ts';
import { defaultPaymentRoles } from './look-ups.ts';
import { paymentTypeName } from './payment-types.ts';
import { roleMeanings } from './role-meanings.ts';
import type { RowUse, SourceUsage } from './source-usage.ts';

export interface ProposalInput {
  installation: number;
  /** As the first line of the file names it. */
  schemaPath: string;
  /** Null where the list could not be read. */
  accounts: AccountNumber[] | null;
  uses: SourceUsage;
}

export interface Proposal {
  yaml: string;
  /** What only the accountant can fill in, by its path in the file; documents that need it are held until then. */
  toChoose: string[];
}

const mark = 'TO CHOOSE';

/**
 * A mapping file that maps all the source uses: what it names itself is passed through, and each place that only the
 * accountant can fill is left empty and marked. Pure: the same input gives the same text.
 */
export function propose({ installation, schemaPath, accounts, uses }: ProposalInput): Proposal {
  const toChoose: string[] = [];
  const final = uses.invoices.reduce((total, { count }) => total + count, 0);
  const seen = final === 0 ? 'The mirror holds no final invoice yet: run `vetledger sync`, then this again.' : '';
  const listed = accounts === null ? 'the account number list could not be read' : `${accounts.length} account numbers`;
  const lines = [
    `# yaml-language-server: $schema=${schemaPath}`,
    '#',
    `# Proposed by \`vetledger mapping init\` for installation ${installation}: ${listed}, ${final} final invoices.`,
    ...(seen ? [`# ${seen}`] : []),
    `# Fill in each place marked ${mark}; until then the documents that need it are held, and nothing else. Then:`,
    '#   vetledger mapping check FILE',
    '',
    ...roleLines(uses, toChoose),
    '',
    ...revenueLines(uses.rows, accounts ?? [], toChoose),
    '',
    ...vatLines(uses.rows, toChoose),
    '',
    ...paymentTypeLines(uses, toChoose),
    '',
    'policies:',
    '  locked_period: hold               # or redate: post on the first open day, with the document’s date kept on the entry',
    '  follow_source_lock: false         # true: the practice software’s period lock closes our books, too',
    '',
    ...partyLines(uses, toChoose),
  ];
  return { yaml: `${lines.join('\n')}\n`, toChoose };
}

interface Tally {
  count: number;
  gross: Money;
}

function roleLines(uses: SourceUsage, toChoose: string[]): string[] {
  const used = roleTallies(uses);
  return [
    'roles:',
    ...roles.map((role) => {
      const tally = used.get(role);
      if (!tally && used.size > 0) return commented(`  # ${role}:`, 29, `${roleMeanings[role]}; not used so far`);
      toChoose.push(`roles.${role}`);
      const of = tally ? `${countOf(tally.count, 'record')}, ${money(tally.gross)}` : 'not used so far';
      return commented(`  ${role}:`, 29, `${mark}: ${roleMeanings[role]} · ${of}`);
    }),
  ];
}

function roleTallies({ invoices, money: moneyUses }: SourceUsage): Map<Role, Tally> {
  const tallies = new Map<Role, Tally>();
  const add = (role: Role | undefined, count: number, gross: Money) => {
    if (!role) return;
    const before = tallies.get(role);
    tallies.set(role, { count: (before?.count ?? 0) + count, gross: before ? before.gross.plus(gross) : gross });
  };
  for (const { collector, count, gross } of invoices) {
    add('receivable', count, gross);
    if (collector) add('consolidation_clearing', count, gross);
  }
  for (const { kind, type, opening, count, paid } of moneyUses) {
    if (opening) add('opening_receivable', count, paid);
    // A payment's invoice may be a draft still: the receivable is needed all the same.
    else if (kind === 'payment' && invoices.length === 0) add('receivable', count, paid);
    if (kind === 'prepayment') add('prepayment_liability', count, paid);
    if (type !== null) add(defaultPaymentRoles[type], count, paid);
  }
  return tallies;
}

function revenueLines(rows: RowUse[], accounts: AccountNumber[], toChoose: string[]): string[] {
  const used = groupBy(
    rows.filter(({ account }) => account !== null),
    ({ account }) => account!,
  );
  const listed = groupBy(accounts, ({ number }) => number);
  const numbers = [...new Set([...used.keys(), ...listed.keys()])].sort();
  const lines = [
    '# Revenue by the account number of the row: `same` posts to that number itself; write another one instead.',
    numbers.length === 0 ? 'revenue: same' : 'revenue:',
    ...numbers.map((number) => {
      const its = listed.get(number) ?? [];
      const names = describeAccounts(its);
      const uses = used.get(number);
      const of = uses ? rowTally(uses) : 'not used so far';
      return commented(`  ${quoted(number)}: same`, 19, `${names || 'not in the account number list'} · ${of}`);
    }),
  ];
  const nameless = rows.filter(({ account, hasNet }) => account === null && hasNet);
  if (nameless.length > 0) {
    toChoose.push('revenue_rules.0.account');
    lines.push(
      '',
      '# Rows that name no account number; better still, give their items one in the practice software.',
      'revenue_rules:',
      '  - when: {account: null}',
      `    account:            # ${mark} · ${rowTally(nameless)}`,
    );
  }
  const dimensions = dimensionLines(rows);
  return dimensions.length > 0 ? [...lines, ...dimensions] : lines;
}

/** Each description once, the departments it is for behind it. */
function describeAccounts(accounts: AccountNumber[]): string {
  return accounts
    .map(({ description, departmentId, archived }) => {
      const notes = [
        ...(departmentId === null ? [] : [`department ${departmentId}`]),
        ...(archived ? ['archived'] : []),
      ];
      const name = oneLine(description ?? '') || 'no description';
      return notes.length > 0 ? `${name} (${notes.join(', ')})` : name;
    })
    .join(' / ');
}

function dimensionLines(rows: RowUse[]): string[] {
  const lines = [0, 1, 2].flatMap((index) => {
    const used = groupBy(
      rows.filter(({ dimensions }) => dimensions[index] !== null),
      ({ dimensions }) => dimensions[index]!,
    );
    if (used.size === 0) return [];
    const values = [...used].sort(([a], [b]) => (a < b ? -1 : 1));
    const shown = values.map(([value, uses]) => `${oneLine(value)} (${rowTally(uses)})`);
    return [`#   dimension_${index + 1}: ${shown.join('; ')}`];
  });
  if (lines.length === 0) return [];
  return [
    '',
    '# Dimensions that rows carry; they are kept as tags, and a rule under `revenue_rules` can ask for them:',
    ...lines,
  ];
}

function vatLines(rows: RowUse[], toChoose: string[]): string[] {
  const lines = [
    '# VAT by the name and rate of the group: `same` posts to the VAT group’s own account; write another one instead.',
    'vat:',
  ];
  const groups = groupBy(rows, ({ vat: { name } }) => name ?? '*');
  const names = [...groups.keys()].sort();
  for (const name of names) {
    const its = groups.get(name)!;
    const byRate = groupBy(its, ({ vat: { rate } }) => rate?.toFixed() ?? 'none');
    const taxed = [...byRate]
      .filter(([, uses]) => uses.some(({ hasVat }) => hasVat))
      .sort(([a], [b]) => (a < b ? -1 : 1));
    const untaxed = [...byRate].filter(([, uses]) => uses.every(({ hasVat }) => !hasVat));
    const called = name === '*' ? 'rows that name no VAT group' : oneLine(name);
    for (const [rate, uses] of untaxed) {
      const at = rate === 'none' ? 'no rate' : `${rate} %`;
      lines.push(`  # ${called} at ${at}: needs no VAT account · ${rowTally(uses)}`);
    }
    if (taxed.length === 0) continue;
    lines.push(name === '*' ? '  "*":                   # rows that name no VAT group' : `  ${quoted(name)}:`);
    for (const [rate, uses] of taxed) {
      const key = rate === 'none' ? '*' : rate;
      const own = [...new Set(uses.flatMap(({ vat: { account } }) => account ?? []))].sort();
      const tax = `${rowTally(uses)}, VAT ${money(sum(uses.map(({ vatAmount }) => vatAmount)))}`;
      if (own.length === 1 && uses.every(({ vat: { account }, hasVat }) => account !== null || !hasVat)) {
        lines.push(commented(`    ${quoted(key)}: same`, 19, `own account ${own[0]} · ${tax}`));
      } else {
        toChoose.push(`vat.${name}.${key}`);
        const why = own.length > 1 ? `the source names ${own.join(' and ')}` : 'not every row names a VAT account';
        lines.push(commented(`    ${quoted(key)}:`, 19, `${mark}: ${why} · ${tax}`));
      }
    }
  }
  if (lines.every((line) => line.startsWith('#') || line.startsWith('  #') || line === 'vat:')) {
    lines[1] = 'vat: same';
  }
  return lines;
}

function paymentTypeLines({ money: moneyUses }: SourceUsage, toChoose: string[]): string[] {
  const types = groupBy(
    moneyUses.filter(({ type }) => type !== null),
    ({ type }) => type!,
  );
  const lines = [
    '# Payment types in use, each with its role. Another role or account, for all or by department, goes here:',
    '# payment_types:',
    '#   0: {departments: {12: {account: "1921"}}}',
    '#   7: {role: other_clearing}',
  ];
  for (const [type, uses] of [...types].sort(([a], [b]) => a - b)) {
    const role = defaultPaymentRoles[type];
    const by = groupBy(uses, ({ department }) => department);
    const departments = [...by]
      .sort(([a], [b]) => (a ?? 0) - (b ?? 0))
      .map(([department, its]) => {
        const count = its.reduce((total, use) => total + use.count, 0);
        const where = department === null ? 'no department' : `department ${department}`;
        return `${where}: ${countOf(count, 'record')}, ${money(sum(its.map(({ paid }) => paid)))}`;
      });
    if (!role) toChoose.push(`payment_types.${type}`);
    const goes = role ? `→ ${role}` : `→ ${mark}: say under payment_types to which role it belongs`;
    lines.push(`# ${paymentTypeName(type)} ${goes} · ${departments.join('; ')}`);
  }
  return lines;
}

function partyLines({ invoices, money: moneyUses }: SourceUsage, toChoose: string[]): string[] {
  const clientless = invoices.filter(({ client }) => !client);
  const lines: string[] = [];
  if (clientless.length > 0) {
    toChoose.push('cash_customer');
    const count = clientless.reduce((total, use) => total + use.count, 0);
    const gross = money(sum(clientless.map((use) => use.gross)));
    lines.push(
      `cash_customer:          # ${mark}: the party of counter sales without a client · ${count} invoices, ${gross}`,
    );
  } else lines.push('# cash_customer: "CASH"   # the party of counter sales without a client; not used so far');
  const third = moneyUses.some(({ type }) => type === 10 || type === 15);
  lines.push(
    '',
    `# The party of insurance and financing payments, instead of the payer${third ? '' : '; not used so far'}:`,
    '# counterparties:',
    '#   insurance_receivable: "INSURANCE"',
    '#   financing_receivable: "FINANCING"',
  );
  return lines;
}

function rowTally(uses: RowUse[]): string {
  const count = uses.reduce((total, use) => total + use.count, 0);
  return `${countOf(count, 'row')}, net ${money(sum(uses.map(({ net }) => net)))}`;
}

function countOf(n: number, one: string): string {
  return `${n} ${n === 1 ? one : `${one}s`}`;
}

/** Code with a comment behind it, which a blank must part from the code. */
function commented(code: string, width: number, comment: string): string {
  return `${code.padEnd(width)} # ${comment}`;
}

/** Exact: not rounded to the minor unit. */
function money(amount: Money): string {
  return amount.toFixed(Math.max(2, amount.decimalPlaces()));
}

function groupBy<Item, Key>(items: Item[], keyOf: (item: Item) => Key): Map<Key, Item[]> {
  const groups = new Map<Key, Item[]>();
  for (const item of items) {
    const key = keyOf(item);
    const group = groups.get(key);
    if (group) group.push(item);
    else groups.set(key, [item]);
  }
  return groups;
}

/** A key of YAML that reads back as the same text, whatever the source calls its things. */
function quoted(text: string): string {
  return JSON.stringify(text);
}

/** Fit for a comment: a line break in a name must not end it. */
function oneLine(text: string): string {
  return text.replace(/[\p{Cc}\u2028\u2029\s]+/gu, ' ').trim();
}
