import { type Money, sum } from '../domain/money.ts';
import type { AccountNumber } from '../records/types.ts';
import { type Role, roles } from '../terms.ts';
import { roleMeanings } from '../texts/mapping/meanings.ts';
import { proposalTexts as texts } from '../texts/mapping/proposal.ts';
import { type OwedRole, owedAccounts } from './owed.ts';
import { defaultPaymentRole, paymentTypeName } from './payment-types.ts';
import { revenueLines, vatLines } from './propose-rows.ts';
import { commented, countOf, groupBy, money } from './propose-text.ts';
import { vatGroupLines } from './propose-vat-groups.ts';
import type { SourceUsage } from './source-usage.ts';

export interface ProposalInput {
  installation: number;
  /** Path of the JSON schema in the file's first line. */
  schemaPath: string;
  /** The practice software's list of account numbers. Null if it could not be read. */
  accounts: AccountNumber[] | null;
  uses: SourceUsage;
}

export interface Proposal {
  yaml: string;
  /** Paths of the marked places. Documents that require them are held until the accountant fills them in. */
  toChoose: string[];
}

/**
 * Proposes a mapping file for everything that the source uses. Accounts that the source names are kept; places that the
 * accountant must fill in are empty and marked. The same input gives the same text.
 */
export function propose({ installation, schemaPath, accounts, uses }: ProposalInput): Proposal {
  const toChoose: string[] = [];
  const owed = owedAccounts(uses.rows, accounts ?? []);
  const final = uses.invoices.reduce((total, { count }) => total + count, 0);
  const listed = accounts === null ? texts.noAccountList : texts.accounts({ count: accounts.length });
  const lines = [
    `# yaml-language-server: $schema=${schemaPath}`,
    '#',
    `# ${texts.title({ installation, accounts: listed, invoices: final })}`,
    ...(final === 0 ? [`# ${texts.noInvoice}`] : []),
    `# ${texts.fillIn}`,
    `#   ${texts.check}`,
    '',
    `# version: "2026-1"      # ${texts.version}`,
    '# approved_by: "…"',
    `# chart: charts/yours.csv   # ${texts.chart}`,
    '',
    ...roleLines(uses, owed, toChoose),
    '',
    ...revenueLines(uses.rows, accounts ?? [], owed, toChoose),
    '',
    ...vatLines(uses.rows, toChoose),
    '',
    `# country: FI            # ${texts.country}`,
    ...vatGroupLines(uses.rows, toChoose),
    '',
    ...paymentTypeLines(uses, toChoose),
    '',
    'policies:',
    `  locked_period: hold               # ${texts.lockedPeriod}`,
    `  follow_source_lock: false         # ${texts.followSourceLock}`,
    '',
    ...partyLines(uses, toChoose),
  ];
  return { yaml: `${lines.join('\n')}\n`, toChoose };
}

interface Tally {
  count: number;
  gross: Money;
}

function roleLines(uses: SourceUsage, owed: ReadonlyMap<string, OwedRole>, toChoose: string[]): string[] {
  const used = roleTallies(uses, owed);
  return [
    'roles:',
    ...roles.map((role) => {
      const tally = used.get(role);
      if (!tally && used.size > 0)
        return commented(`  # ${role}:`, 29, texts.roleNotUsed({ meaning: roleMeanings[role] }));
      toChoose.push(`roles.${role}`);
      const of = tally ? `${countOf(tally.count, 'record')}, ${money(tally.gross)}` : texts.notUsed;
      return commented(`  ${role}:`, 29, texts.role({ meaning: roleMeanings[role], uses: of }));
    }),
  ];
}

function roleTallies(
  { rows, invoices, money: moneyUses }: SourceUsage,
  owed: ReadonlyMap<string, OwedRole>,
): Map<Role, Tally> {
  const tallies = new Map<Role, Tally>();
  const add = (role: Role | null, count: number, gross: Money) => {
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
    // A payment posts to the receivable even while its invoice is a draft.
    else if (kind === 'payment' && invoices.length === 0) add('receivable', count, paid);
    if (kind === 'prepayment') add('prepayment_liability', count, paid);
    if (type !== null) add(defaultPaymentRole(type), count, paid);
  }
  for (const { account, hasNet, count, gross } of rows)
    if (hasNet && account !== null) add(owed.get(account) ?? null, count, gross);
  return tallies;
}

function paymentTypeLines({ money: moneyUses }: SourceUsage, toChoose: string[]): string[] {
  const types = groupBy(moneyUses, ({ type }) => type);
  const lines = [
    `# ${texts.paymentTypes}`,
    '# payment_types:',
    '#   0: {departments: {12: {account: "1921"}}}',
    '#   7: {role: other_clearing}',
  ];
  for (const [type, uses] of [...types].sort(([a], [b]) => a - b)) {
    const role = defaultPaymentRole(type);
    const by = Map.groupBy(uses, ({ department }) => department);
    const departments = [...by]
      .sort(([a], [b]) => (a ?? 0) - (b ?? 0))
      .map(([department, its]) => {
        const count = its.reduce((total, use) => total + use.count, 0);
        const where = department === null ? texts.noDepartment : texts.department({ id: department });
        return `${where}: ${countOf(count, 'record')}, ${money(sum(its.map(({ paid }) => paid)))}`;
      });
    if (!role) toChoose.push(`payment_types.${type}`);
    const goes = role ?? texts.choosePaymentRole;
    lines.push(`# ${texts.paymentRole({ type: paymentTypeName(type), role: goes, uses: departments.join('; ') })}`);
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
    lines.push(`cash_customer:          # ${texts.cashCustomer({ invoices: count, gross })}`);
  } else lines.push(`# cash_customer: "CASH"   # ${texts.cashCustomerUnused}`);
  const third = moneyUses.some(({ type }) => type === 10 || type === 15);
  lines.push(
    '',
    `# ${third ? texts.counterparties : texts.counterpartiesUnused}`,
    '# counterparties:',
    '#   insurance_receivable: "INSURANCE"',
    '#   financing_receivable: "FINANCING"',
  );
  return lines;
}
