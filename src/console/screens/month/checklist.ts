import type { InstallationConfig } from '../../../config/load-config.ts';
import { localTimeOf } from '../../../domain/dates.ts';
import { currentLanguage, shown } from '../../../languages/language.ts';
import type { AccountBalance, ListedDocuments } from '../../../queries/closing-items.ts';
import { type CountedItem, countedItems, type MonthState } from '../../../queries/month.ts';
import { checklistTexts } from '../../../texts/commands/closing.ts';
import { checkWords, labels } from '../../../texts/commands/labels.ts';
import { itemNames, monthTexts as texts } from '../../../texts/console/month.ts';
import { columnTitles } from '../../../texts/reports/columns.ts';
import { vatReturnTexts } from '../../../texts/reports/vat-returns.ts';
import { roleName } from '../../../wording/cells.ts';
import { checksInWords, codeSentence, inWords } from '../../../wording/words.ts';
import { type Content, html, local, type Node } from '../../html.ts';
import { documentLink } from '../../parts/document-link.ts';
import { withReports } from '../../parts/next-step.ts';
import { table } from '../../parts/table.ts';
import { ago } from '../../parts/times.ts';
import type { InstallationRequest } from '../../route.ts';

/** Whether each item of the checklist is right. The item that only the close counts is left out. */
export function checkedItems({
  items,
  reconciled,
}: MonthState): Record<Exclude<CountedItem | 'last_window', 'owed_as_revenue'>, boolean> {
  return {
    last_window: items.last_window.ok,
    ...{ held: items.held.ok, late: items.late.ok, drafts: items.drafts.ok, remarks: items.remarks.ok },
    undelivered: items.undelivered?.ok ?? true,
    differences: reconciled?.ok ?? false,
    ...{ clearing: items.clearing.ok, unused_prepayments: true },
    ...{ liabilities_in_debit: items.liabilities_in_debit.ok, vat_returns: items.vat_returns.ok },
  };
}

/** The items now and at the close that they are compared with, and the documents and balances of each. */
export function checklistView(
  state: MonthState,
  { installation, now, rights }: Pick<InstallationRequest, 'installation' | 'now' | 'rights'>,
): Node {
  const { id } = installation;
  const { items, compared, through } = state;
  const isRight: Partial<Record<CountedItem | 'last_window', boolean>> = checkedItems(state);
  const word = (ok: boolean | undefined): Content => {
    if (ok === undefined) return '';
    return ok ? checkWords.ok : html`<span class="needed">${checkWords.look}</span>`;
  };
  const links = linksOf(state, id);
  const line = (name: CountedItem | 'last_window'): Content[] => {
    const title = links[name] === undefined ? itemNames[name] : html`<a href=${links[name]}>${itemNames[name]}</a>`;
    const then = name === 'last_window' ? undefined : compared?.counts?.[name];
    return [
      word(isRight[name]),
      ...[title, countText(state, name), detailText(state, name, installation, now)],
      ...(compared === null ? [] : [then ?? '']),
    ];
  };
  const then = compared === null ? [] : [{ title: texts.atClose({ through: compared.close.through }), isNumber: true }];
  return html`${table({
    columns: [
      { title: texts.state },
      { title: texts.item },
      { title: texts.now, isNumber: true },
      { title: '' },
      ...then,
    ],
    rows: (['last_window', ...countedItems] as const).map(line),
  })}
  ${documentsView(id, itemNames.held, items.held)} ${documentsView(id, itemNames.late, items.late)}
  ${documentsView(id, itemNames.drafts, items.drafts)} ${remarksView(id, items.remarks)}
  ${accountsView(id, itemNames.clearing, items.clearing.accounts, through)}
  ${accountsView(id, itemNames.unused_prepayments, items.unused, through)}
  ${accountsView(id, itemNames.liabilities_in_debit, items.liabilities_in_debit.accounts, through)}
  ${returnLines(items.vat_returns).map((line) => html`<p>${withReports(rights, id, line, state.month)}</p>`)}`;
}

/** Where the documents of each item are. Lists of the page itself need no link. */
function linksOf({ month, through }: MonthState, id: number): Partial<Record<CountedItem | 'last_window', string>> {
  const report = (name: string, days: Record<string, string>) => local(`/${id}/reports/${name}`, days);
  return {
    ...{ held: `/${id}/decide`, late: `/${id}/decide`, remarks: `/${id}/decide`, undelivered: `/${id}/delivery` },
    clearing: report('clearing', { month }),
    unused_prepayments: report('prepayments', { as_of: through }),
    owed_as_revenue: `/${id}/mapping`,
    liabilities_in_debit: report('vouchers', { as_of: through }),
    vat_returns: report('vat', { month }),
  };
}

function countText({ counts, reconciled }: MonthState, name: CountedItem | 'last_window'): Content {
  if (name === 'last_window' || (name === 'differences' && reconciled === null)) return '';
  return counts[name] ?? '';
}

function detailText(
  { items, reconciled }: MonthState,
  name: CountedItem | 'last_window',
  { timezone }: InstallationConfig,
  now: Date,
): string {
  switch (name) {
    case 'last_window': {
      const { to } = items.last_window;
      return to === null ? texts.noTime : texts.readTo({ at: localTimeOf(to, timezone) });
    }
    case 'held':
    case 'late':
      return codesText(items[name].by_code);
    case 'undelivered':
      return items.undelivered === null ? texts.notDelivered : codesText(items.undelivered.states);
    case 'differences': {
      if (reconciled === null) return texts.notChecked;
      const at = texts.checked({ at: ago(reconciled.checked_at, now, currentLanguage()) });
      return [...(reconciled.ok ? [] : [checksInWords(reconciled.failing)]), at].join(', ');
    }
    case 'owed_as_revenue':
      return texts.checkedAtClose;
    case 'vat_returns': {
      const { filed_through: through } = items.vat_returns;
      return through === null ? vatReturnTexts.noneFiled : vatReturnTexts.filedThrough({ through });
    }
    default:
      return '';
  }
}

function codesText(parts: Record<string, number>): string {
  return Object.entries(parts)
    .map(([code, n]) => `${n} ${inWords(code)}`)
    .join(', ');
}

function documentsView(id: number, caption: string, { documents, count }: ListedDocuments): Node | null {
  if (count === 0) return null;
  return html`${table({
    caption,
    columns: [
      ...[columnTitles.document, columnTitles.date, texts.code].map((title) => ({ title })),
      ...[{ title: texts.amount, isNumber: true }, { title: texts.client }, { title: texts.age, isNumber: true }],
      { title: columnTitles.in_force },
    ],
    rows: documents.map((each) => [
      documentLink(id, each.document),
      each.date ?? labels.noDate,
      ...[inWords(each.code), each.amount, each.client_id, each.age_days, each.in_force],
    ]),
  })}
  ${count > documents.length ? html`<p>${checklistTexts.more({ count: count - documents.length })}</p>` : null}`;
}

function remarksView(id: number, { by_code: codes }: MonthState['items']['remarks']): Node | null {
  if (codes.length === 0) return null;
  return table({
    caption: itemNames.remarks,
    columns: [
      ...[{ title: texts.code }, { title: texts.count, isNumber: true }, { title: texts.amount, isNumber: true }],
      { title: texts.todo },
    ],
    rows: codes.map(({ code, count, amount, todo }) => [
      html`<a href=${local(`/${id}/decide`, { code })}>${codeSentence(code)}</a> <span class="id">${code}</span>`,
      ...[count, amount, shown(todo)],
    ]),
  });
}

function accountsView(id: number, caption: string, accounts: readonly AccountBalance[], through: string): Node | null {
  if (accounts.length === 0) return null;
  return table({
    caption,
    columns: [{ title: texts.account }, { title: texts.role }, { title: texts.balance, isNumber: true }],
    rows: accounts.map(({ account, role, balance }) => [
      html`<a href=${local(`/${id}/reports/account`, { account, as_of: through })}>${account}</a>`,
      ...[roleName(role), balance],
    ]),
  });
}

function returnLines({ changed, late }: MonthState['items']['vat_returns']): string[] {
  return [...changed.map(vatReturnTexts.changed), ...(late.entries === 0 ? [] : [vatReturnTexts.late(late)])];
}
