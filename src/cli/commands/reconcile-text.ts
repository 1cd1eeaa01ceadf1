import { Money, sum } from '../../domain/money.ts';
import { visibleIn } from '../../domain/text.ts';
import { shown } from '../../languages/language.ts';
import {
  type CountEquation,
  type Equation,
  type EquationName,
  equationNames,
  type InstallationReport,
  type Listed,
  type ReconcileReport,
} from '../../reconcile/reconcile-report.ts';
import type { LineRole } from '../../terms.ts';
import { checkWords, labels, sectionHeads } from '../../texts/commands/labels.ts';
import { reconcileTexts as texts, equationTitles as titles } from '../../texts/commands/reconcile.ts';
import { accountName } from '../../wording/cells.ts';
import { codeWord, count } from '../../wording/words.ts';
import { columns, heads } from '../render/text.ts';
import { outsideTable, verdictTitle } from '../render/verdict.ts';

/** Number of lines that are shown per list. The JSON contains all. */
const mostShown = 20;

/** The report as text: trial balance, states, equations with their differences, and the lists beside them. */
export function reconcileText(report: ReconcileReport): string {
  return `${visibleIn(report).installations.map(installationText).join('\n\n')}\n`;
}

function installationText(report: InstallationReport): string {
  const sections = [
    [`${labels.installation({ label: String(report.installation) })}: ${verdictTitle(report)}`],
    ...(report.empty ? [] : [[sectionHeads.trialBalance, ...trialBalanceTable(report), ...clearingNotes(report)]]),
    [sectionHeads.documents, ...statesTable(report)],
    [sectionHeads.equations, ...equationSections(report)],
    ...refetchedSections(report),
    ...outsideSections(report),
    ...listedSections(report),
  ];
  return sections.map((lines) => lines.join('\n')).join('\n\n');
}

/** The disputed documents, which were read again. */
function refetchedSections({ refetched }: InstallationReport): string[][] {
  if (refetched === undefined) return [];
  const { documents, changed, left } = refetched;
  const lines = [texts.readAgain({ documents, changed })];
  if (left > 0) lines.push(texts.notReadAgain({ left }));
  return [[texts.disputed, ...lines]];
}

/** The documents that the equations do not cover. */
function outsideSections(report: InstallationReport): string[][] {
  const { outside, left_as_posted: left, currency, not_in_erp: notInErp = {} } = report;
  const declined = outsideTable(left, currency).map((line) => `  ${line}`);
  const table = outsideTable(outside, currency).map((line) => `  ${line}`);
  const states = Object.entries(notInErp).map(([state, n]) => `  ${codeWord(state).replaceAll('_', ' ')}  ${n}`);
  return [
    ...(table.length === 0 ? [] : [[texts.outside, ...table]]),
    ...(declined.length === 0 ? [] : [[texts.declined, ...declined]]),
    ...(states.length === 0 ? [] : [[texts.notInErp, ...states]]),
  ];
}

function trialBalanceTable({ trial_balance: lines, currency }: InstallationReport): string[] {
  const [debit = '', ...others] = heads('debit', 'credit', 'balance');
  return indentedTable(
    [...heads('account', 'name', 'role'), `${debit} ${currency}`, ...others],
    lines.map((line) => [
      line.account,
      accountName(line.name ?? ''),
      line.role ?? '',
      line.debit,
      line.credit,
      line.balance,
    ]),
    3,
  );
}

/** Roles whose balances payouts and bank statements clear, which are not in our books. */
const clearedElsewhere: readonly LineRole[] = [
  ...(['cash', 'bank_clearing', 'card_clearing', 'mobile_clearing', 'cheque_clearing', 'other_clearing'] as const),
  ...(['insurance_receivable', 'financing_receivable'] as const),
];
const clearedHere: readonly LineRole[] = ['consolidation_clearing', 'credit_settlement'];

/** The balances that other books clear, and the balances that documents have cleared. */
function clearingNotes({ trial_balance: lines }: InstallationReport): string[] {
  const of = (roles: readonly LineRole[]) => lines.filter(({ role }) => roles.some((each) => each === role));
  const names = (found: InstallationReport['trial_balance']) =>
    [...new Set(found.map(({ account }) => account))].join(', ');
  const [elsewhere, here] = [of(clearedElsewhere), of(clearedHere)];
  const isZero = here.every(({ balance }) => !/[1-9]/.test(balance));
  return [
    ...(elsewhere.length === 0 ? [] : [texts.clearedElsewhere({ accounts: names(elsewhere) })]),
    ...(here.length === 0 ? [] : [texts.clearedHere({ accounts: names(here), isZero })]),
  ].map((line) => `  ${line}`);
}

function statesTable({ states }: InstallationReport): string[] {
  const kinds = Object.entries(states);
  const names = [...new Set(kinds.flatMap(([, counts]) => Object.keys(counts)))].sort();
  return indentedTable(
    [...heads('state'), ...kinds.map(([kind]) => codeWord(kind))],
    names.map((name) => [codeWord(name), ...kinds.map(([, counts]) => String(counts[name] ?? 0))]),
    1,
  );
}

function equationSections({ equations, currency }: InstallationReport): string[] {
  const { E7, E8, E10, E11 } = equations;
  const own = equationNames.flatMap((name) => equationLines(name, equations[name], currency));
  return [
    ...own,
    ...equationLines('E10', E10, currency),
    ...(E7 === undefined ? [] : equationLines('E7', E7, currency)),
    ...(E8 === undefined ? [] : equationLines('E8', E8, currency)),
    ...(E11 === undefined ? [] : equationLines('E11', E11, currency)),
  ];
}

function equationLines(
  name: EquationName | 'E7' | 'E8' | 'E10' | 'E11',
  equation: Equation,
  currency: string,
): string[] {
  const width = Math.max(checkWords.ok.length, checkWords.difference.length);
  if (equation.ok) return [`  ${name.padEnd(3)} ${checkWords.ok.padEnd(width)}  ${titleOf(name, equation)}`];
  const { difference } = equation;
  const shownDifference = typeof difference === 'number' ? count(difference, 'document') : `${difference} ${currency}`;
  const documents = equation.documents.map(noteLine);
  return [
    `  ${name.padEnd(3)} ${checkWords.difference.padEnd(width)}  ${titles[name]}: ${shownDifference}`,
    ...bullets(documents, equation.documents_omitted ?? 0, '        '),
  ];
}

/** The title of an equation without a difference. If the source gave no count, the title does not claim completeness. */
function titleOf(
  name: EquationName | 'E7' | 'E8' | 'E10' | 'E11',
  { not_counted: notCounted = [] }: CountEquation,
): string {
  if (name !== 'E6' || notCounted.length === 0) return titles[name];
  return texts.countUnknown({ lists: notCounted.join(', ') });
}

function listedSections({ listed, omitted, erp }: InstallationReport): string[][] {
  const lists: [title: string, lines: string[], omitted?: number | undefined][] = [
    [texts.paymentsWithoutInvoice, listed.payments_without_invoice.map(noteLine), omitted.payments_without_invoice],
    [texts.heldChanges, listed.held_changes.map(noteLine), omitted.held_changes],
    [texts.clearing, listed.consolidation_clearing.map(({ document, balance }) => `${document}: ${balance}`)],
    [texts.credit, listed.credit_settlement.map(({ documents, balance }) => `${documents.join(', ')}: ${balance}`)],
    [
      texts.unproven,
      listed.prepayment_clients.map(({ client, ledger, source, unproven }) =>
        texts.client({ client: String(client), books: ledger, source, unproven: unproven.join(', ') }),
      ),
    ],
    [
      texts.unusedPrepayments,
      // The latest month comes first, because its VAT return is due next.
      listed.unused_prepayments.toReversed().map(({ month_end, balance }) => `${month_end}  ${balance}`),
    ],
    [texts.prepaymentVat, (listed.prepayment_vat ?? []).map(noteLine)],
    [texts.vatDue, (listed.vat_due ?? []).map(noteLine)],
    [
      texts.vouchers,
      listed.vouchers.map((each) =>
        texts.voucher({
          ...{ role: each.role, sold: each.sold, redeemed: negated(each.redeemed), unused: each.balance },
          opening: /[1-9]/.test(each.opening) ? each.opening : null,
        }),
      ),
    ],
    [texts.otherValues, listed.write_backs.foreign.map(noteLine), omitted.write_backs_foreign],
    [texts.unconfirmed, listed.write_backs.unproven.map(noteLine), omitted.write_backs_unproven],
    [
      texts.inDebit,
      listed.liabilities_in_debit.map(({ account, roles, balance }) => `${account} (${roles.join(', ')}): ${balance}`),
    ],
    [texts.centsSettled, residueTable(listed.residues)],
    [texts.daysWithoutSummary, listed.unsummarised.map(({ date, entries }) => `${date}  ${count(entries, 'entry')}`)],
    [
      texts.reports,
      listed.reports.map(({ document, code, message }) => `${shown(document)}: ${code}: ${shown(message)}`),
      omitted.reports,
    ],
    [texts.undelivered, (erp?.undelivered ?? []).map(noteLine)],
    [texts.refused, (erp?.refused ?? []).map(noteLine)],
    [texts.cancelledOut, (erp?.cancelled_out ?? []).map(noteLine)],
    [texts.withinTolerance, (erp?.within_tolerance ?? []).map(noteLine)],
  ];
  return lists
    .filter(([, lines]) => lines.length > 0)
    .map(([title, lines, more]) => [`${title} (${lines.length + (more ?? 0)})`, ...bullets(lines, more ?? 0, '  ')]);
}

/** The sums per account. The JSON contains the fractions of cents per day. */
function residueTable(residues: Listed['residues']): string[] {
  const accounts = [...Map.groupBy(residues, ({ account }) => account)].sort(([a], [b]) => (a < b ? -1 : 1));
  const rows = accounts.map(([account, days]) => {
    const amount = sum(days.map(({ residue }) => new Money(residue)));
    return [account, amount.toFixed(4), labels.over({ days: count(days.length, 'day') })];
  });
  return columns(rows, [1]);
}

function noteLine({ document, message }: { document: string; message: string }): string {
  return `${shown(document)}: ${shown(message)}`;
}

function bullets(lines: string[], omitted: number, indent: string): string[] {
  const more = Math.max(0, lines.length - mostShown) + omitted;
  const head = lines.slice(0, mostShown).map((line) => `${indent}${line}`);
  return more > 0 ? [...head, `${indent}${labels.more({ count: more })}`] : head;
}

/** A table whose columns from `firstNumber` on are right-aligned. */
function indentedTable(header: string[], rows: string[][], firstNumber: number): string[] {
  const rightAligned = header.flatMap((_, column) => (column >= firstNumber ? [column] : []));
  return columns([header, ...rows], rightAligned).map((line) => `  ${line}`);
}

/** The amount with the opposite sign. In the JSON, credits are positive; the text shows redeemed amounts as positive. */
function negated(amount: string): string {
  if (amount.startsWith('-')) return amount.slice(1);
  return /[1-9]/.test(amount) ? `-${amount}` : amount;
}
