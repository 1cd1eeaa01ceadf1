import { clip, visible } from '../domain/text.ts';
import { shown } from '../languages/language.ts';
import type { ClosingChecklist } from '../queries/closing.ts';
import type { AccountBalance, ListedDocuments } from '../queries/closing-items.ts';
import { checklistTexts as texts } from '../texts/commands/closing.ts';
import { labels } from '../texts/commands/labels.ts';
import { vatReturnTexts } from '../texts/reports/vat-returns.ts';
import { filedReturnLines } from './filed-returns.ts';
import { codeWord, count, timeIn } from './words.ts';

const longestName = 60;

/** An item of the checklist in words, with its details as cells. */
export interface ChecklistItem {
  ok: boolean;
  text: string;
  lines: string[][];
  /** The columns of `lines` that are right-aligned. */
  right: readonly number[];
  /** The documents of the item; null if it has none. */
  listed: ListedDocuments | null;
}

/** The items of a checklist, in the order in which they are shown. Times are local times of `timezone`. */
export function checklistItems(checklist: ClosingChecklist, timezone: string): ChecklistItem[] {
  const { last_window: window, held, late, drafts, remarks, undelivered, differences, clearing } = checklist;
  const { unused_prepayments: unused, liabilities_in_debit: inDebit, owed_as_revenue: owed } = checklist;
  const read = window.to === null ? texts.noWindow : texts.lastWindow({ at: timeIn(timezone)(window.to) });
  return [
    item(window.ok, window.ok ? read : texts.notBeyond({ window: read, through: checklist.through })),
    item(held.ok, texts.held({ documents: documentCount(held) }), { listed: held }),
    item(late.ok, texts.late({ documents: documentCount(late) }), { listed: late }),
    item(drafts.ok, texts.drafts({ documents: documentCount(drafts) }), { listed: drafts }),
    item(remarks.ok, remarks.count === 0 ? texts.noRemarks : texts.remarks(remarks), {
      ...{ lines: remarks.by_code.map(({ code, count: n, amount }) => [String(n), code, amount ?? '']), right: [0, 2] },
    }),
    undelivered === null
      ? item(true, texts.notDelivered)
      : item(
          undelivered.ok,
          texts.undelivered({ entries: countsText(undelivered.count, 'entry', undelivered.states) }),
        ),
    item(differences.ok, differences.ok ? texts.noDifferences : texts.differences, {
      lines: differences.equations.flatMap(({ equation, difference, documents, each = [] }) => [
        [difference === null ? equation : `${equation}: ${difference}, ${count(documents ?? 0, 'document')}`],
        ...each.map(({ document, message }) => [`  ${shown(document)}: ${shown(message)}`]),
      ]),
    }),
    item(clearing.ok, texts.clearing({ accounts: accountCount(clearing.accounts) }), accountLines(clearing.accounts)),
    item(true, texts.unused({ accounts: accountCount(unused.accounts) }), accountLines(unused.accounts)),
    item(owed.ok, texts.owed({ rows: owedCount(owed) }), { lines: owedLines(owed) }),
    item(
      inDebit.ok,
      texts.inDebit({ accounts: inDebit.ok ? texts.none : accountCount(inDebit.accounts) }),
      accountLines(inDebit.accounts),
    ),
    vatReturnItem(checklist.vat_returns),
  ];
}

function vatReturnItem(found: ClosingChecklist['vat_returns']): ChecklistItem {
  const { ok, filed_through: through } = found;
  if (through === null) return item(ok, vatReturnTexts.noneFiled);
  const lines = filedReturnLines(found).map((line) => [line]);
  return item(ok, vatReturnTexts.filedThrough({ through }), { lines });
}

type Owed = ClosingChecklist['owed_as_revenue'];

function owedCount({ found, names_known: known }: Owed): string {
  const rows = found.reduce((all, each) => all + each.rows, 0);
  const seen = rows === 0 ? texts.none : texts.owedRows({ rows: count(rows, 'row') });
  return known ? seen : texts.namesUnknown({ rows: seen });
}

function owedLines({ found }: Owed): string[][] {
  return found.map(({ key, of, name, rows, net, posted_to: accounts }) => [
    visible(`${of} ${key}${name === null ? '' : ` "${clip(name, longestName)}"`}`),
    count(rows, 'row'),
    labels.net({ amount: net }),
    texts.postedTo({ accounts: visible(accounts.join(', ')) }),
  ]);
}

function item(ok: boolean, text: string, more: Partial<ChecklistItem> = {}): ChecklistItem {
  return { ok, text, lines: [], right: [], listed: null, ...more };
}

function documentCount({ count: n, by_code: codes }: ListedDocuments): string {
  return countsText(n, 'document', codes);
}

function countsText(n: number, of: 'document' | 'entry', parts: Record<string, number>): string {
  if (n === 0) return texts.none;
  const named = Object.entries(parts).map(([name, part]) => `${part} ${codeWord(name)}`);
  return `${count(n, of)} (${named.join(', ')})`;
}

function accountCount(accounts: AccountBalance[]): string {
  return accounts.length === 0 ? texts.noBalance : texts.withBalance({ accounts: count(accounts.length, 'account') });
}

function accountLines(accounts: AccountBalance[]): Pick<ChecklistItem, 'lines' | 'right'> {
  return { lines: accounts.map(({ account, role, balance }) => [account, role, balance]), right: [2] };
}
