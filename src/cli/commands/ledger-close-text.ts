import { clip, visible } from '../../domain/text.ts';
import type { AccountBalance, ClosingChecklist, ListedDocuments } from '../../queries/closing.ts';
import type { CalendarDate, InstallationId } from '../../terms.ts';
import { vatReturnTexts } from '../../texts/reports/vat-returns.ts';
import { type headFields, headText, personsText } from '../render/ledger.ts';
import { columns, count, instant as instantText } from '../render/text.ts';

/** Number of documents that are shown per list. The JSON contains more. */
const shown = 10;
const longestName = 60;

/** The checklist as text. `checklist` is null if the books are already closed through that day. */
export function checklistText(
  installation: InstallationId,
  checklist: ClosingChecklist | null,
  through: CalendarDate,
): string {
  if (checklist === null) return `Installation ${installation}: already closed through ${through}.`;
  const until = checklist.closed_through ?? 'no day';
  const result = checklist.ok ? 'Nothing needs attention.' : 'Check the lines with LOOK before you close.';
  return [
    `Installation ${installation}, to be closed through ${through} (closed through ${until} until now)`,
    ...items(checklist),
    result,
  ].join('\n');
}

function items(checklist: ClosingChecklist): string[] {
  const { last_window: window, held, late, drafts, remarks, undelivered, differences, clearing } = checklist;
  const { unused_prepayments: unused, liabilities_in_debit: inDebit, owed_as_revenue: owed } = checklist;
  const asked = window.to === null ? 'none has closed' : `read the source up to ${instantText(window.to)}`;
  const after = window.ok ? '' : `, not beyond ${checklist.through}: run \`vetledger sync\``;
  return [
    ...item(window.ok, `last window: ${asked}${after}`),
    ...item(held.ok, `held documents: ${documentCount(held)}`, documentLines(held)),
    ...item(late.ok, `late documents (\`vetledger late\`): ${documentCount(late)}`, documentLines(late)),
    ...item(drafts.ok, `invoices that are not final: ${documentCount(drafts)}`, documentLines(drafts)),
    ...item(
      remarks.ok,
      `remarks: ${remarks.count === 0 ? 'none' : `${remarks.count} (\`vetledger problems --code CODE\` lists each)`}`,
      columns(
        remarks.by_code.map(({ code, count: n, amount }) => [String(n), code, amount ?? '']),
        [0, 2],
      ),
    ),
    ...(undelivered === null
      ? item(true, 'not in the ERP: nothing is delivered')
      : item(
          undelivered.ok,
          `not in the ERP: ${countsText(undelivered.count, 'entry', 'entries', undelivered.states)}`,
        )),
    ...item(
      differences.ok,
      `differences: ${differences.ok ? 'none' : '`vetledger reconcile` lists them'}`,
      differences.equations.flatMap(({ equation, difference, documents, each = [] }) => [
        `${equation}: ${difference}, ${count(documents, 'document')}`,
        ...each.map(({ document, message }) => `  ${document}: ${message}`),
      ]),
    ),
    ...item(clearing.ok, `clearing accounts: ${accountCount(clearing.accounts)}`, accountLines(clearing.accounts)),
    ...item(true, `unused prepayments: ${accountCount(unused.accounts)}`, accountLines(unused.accounts)),
    ...item(owed.ok, `revenue named as gift cards or prepayments: ${owedCount(owed)}`, owedLines(owed)),
    ...item(
      inDebit.ok,
      `liabilities in debit: ${inDebit.ok ? 'none' : accountCount(inDebit.accounts)}`,
      accountLines(inDebit.accounts),
    ),
    ...vatReturnItem(checklist.vat_returns),
  ];
}

function vatReturnItem({ ok, filed_through: through, changed, late }: ClosingChecklist['vat_returns']): string[] {
  if (through === null) return item(ok, vatReturnTexts.noneFiled);
  return item(ok, vatReturnTexts.filedThrough({ through }), [
    ...changed.map(vatReturnTexts.changed),
    ...(late.entries === 0 ? [] : [vatReturnTexts.late(late)]),
  ]);
}

type Owed = ClosingChecklist['owed_as_revenue'];

function owedCount({ found, names_known: known }: Owed): string {
  const rows = found.reduce((all, each) => all + each.rows, 0);
  const seen = rows === 0 ? 'none' : `${count(rows, 'row')} (see \`vetledger mapping check\`)`;
  return known ? seen : `${seen}; the names of the accounts are unknown`;
}

function owedLines({ found }: Owed): string[] {
  const lines = found.map(({ key, of, name, rows, net, posted_to: accounts }) => [
    visible(`${of} ${key}${name === null ? '' : ` "${clip(name, longestName)}"`}`),
    count(rows, 'row'),
    `net ${net}`,
    `posted to ${visible(accounts.join(', '))}`,
  ]);
  return columns(lines, []);
}

function item(ok: boolean, text: string, lines: string[] = []): string[] {
  return [`  ${ok ? 'ok  ' : 'LOOK'}  ${text}`, ...lines.map((line) => `          ${line}`)];
}

function documentCount({ count: n, by_code: codes }: ListedDocuments): string {
  return countsText(n, 'document', 'documents', codes);
}

function countsText(n: number, one: string, many: string, parts: Record<string, number>): string {
  if (n === 0) return 'none';
  const named = Object.entries(parts).map(([name, part]) => `${part} ${name}`);
  return `${count(n, one, many)} (${named.join(', ')})`;
}

function documentLines({ documents, count: n }: ListedDocuments): string[] {
  const lines = documents
    .slice(0, shown)
    .map(({ document, date, code, amount, client_id: client, age_days: age, in_force: inForce }) => [
      document,
      date ?? 'no date',
      code,
      amount ?? '',
      client === null ? '' : `client ${client}`,
      age === null ? '' : count(age, 'day'),
      inForce === null ? '' : `in the books as ${inForce}`,
    ]);
  const more = n - lines.length;
  return [...columns(lines, [3]), ...(more > 0 ? [`… and ${more} more`] : [])];
}

function accountCount(accounts: AccountBalance[]): string {
  return accounts.length === 0 ? 'none has a balance' : `${count(accounts.length, 'account')} with a balance`;
}

function accountLines(accounts: AccountBalance[]): string[] {
  return columns(
    accounts.map(({ account, role, balance }) => [account, role, balance]),
    [2],
  );
}

export function closedText(
  closed: ReturnType<typeof headFields> & {
    installation: InstallationId;
    closed_through: CalendarDate;
    by: string;
    second: string | null;
    checklist: ClosingChecklist | null;
  },
): string {
  const { installation, closed_through: through, entries, checklist } = closed;
  if (checklist === null)
    return `Installation ${installation}: was already closed through ${through} (\`vetledger ledger closes\` shows by whom); nothing is written.\n${headText(closed.head, closed.summary_head)}`;
  return `Installation ${installation}: closed through ${through}, after ${entries} entries; closed by ${personsText(closed)}.\n${headText(closed.head, closed.summary_head)}`;
}
