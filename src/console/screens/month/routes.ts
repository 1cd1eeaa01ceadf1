import { waitingForSecond } from '../../../actions/asking.ts';
import type { InstallationConfig } from '../../../config/load-config.ts';
import { isCalendarDate, localTimeOf } from '../../../domain/dates.ts';
import { type MonthState, monthState, monthToClose } from '../../../queries/month.ts';
import type { ReportName } from '../../../reports/index.ts';
import { closeTexts } from '../../../texts/commands/closing.ts';
import { labels } from '../../../texts/commands/labels.ts';
import { consoleTexts } from '../../../texts/console/console.ts';
import { monthTexts as texts } from '../../../texts/console/month.ts';
import { reportNames } from '../../../texts/console/reports.ts';
import { html, local, type Node } from '../../html.ts';
import { field } from '../../parts/fields.ts';
import { table } from '../../parts/table.ts';
import type { Answer, InstallationRequest, Route } from '../../route.ts';
import { closeLinks } from '../actions/close-links.ts';
import { reconcileForms } from '../actions/reconcile.ts';
import { binderLink, downloadBinder } from './binder.ts';
import { checkedItems, checklistView } from './checklist.ts';
import { reportPart } from './report-part.ts';

/** Can I close, and what does the close say? */
export const monthRoutes: readonly Route[] = [
  {
    ...{ method: 'GET', path: '/:installation/month', audit: 'nothing', answer: show },
    access: { who: 'read_books', in: 'installation' },
  },
  {
    ...{ method: 'GET', path: '/:installation/month/binder', audit: 'nothing', answer: downloadBinder, isHeavy: true },
    access: { who: 'read_books', in: 'installation' },
  },
];

/** The reports beside the checklist. */
const tabs = ['vat', 'receivables', 'prepayments', 'vouchers', 'clearing'] as const satisfies readonly ReportName[];
type Tab = (typeof tabs)[number];

async function show(request: InstallationRequest): Promise<Answer> {
  const { db, installation, query, now } = request;
  const asked = query.month ?? '';
  const month = isCalendarDate(`${asked}-01`) ? asked : await monthToClose(db, installation, now);
  const tab = tabs.find((each) => each === query.tab) ?? null;
  const content = tab === null ? await checklistPart(request, month) : await reportPart(request, month, tab);
  return {
    page: {
      title: () => texts.title({ month }),
      body: () => html`${chooser(month, tab)} ${tabLinks(installation.id, month, tab)} ${content()}`,
    },
  };
}

function chooser(month: string, tab: Tab | null): Node {
  return html`<form method="get" class="filters">
    ${tab === null ? null : html`<input type="hidden" name="tab" value=${tab} />`}
    ${field({ name: 'month', label: texts.month, type: 'month', value: month })}
    <button>${consoleTexts.filter}</button>
  </form>`;
}

function tabLinks(id: number, month: string, current: Tab | null): Node {
  const link = (tab: Tab | null, name: string) =>
    html`<a href=${local(`/${id}/month`, { month, tab })} aria-current=${tab === current ? 'page' : undefined}>${name}</a>`;
  return html`<nav aria-label=${texts.parts}>${link(null, texts.checklist)} ${tabs.map((tab) => link(tab, reportNames[tab]))}</nav>`;
}

async function checklistPart(
  { db, installation, now, rights }: InstallationRequest,
  month: string,
): Promise<() => Node> {
  const state = await monthState(db, installation, month, now);
  const waiting = await waitingForSecond(db, installation.id);
  return () => html`<p>${verdictOf(state)}</p>
    ${closeLinks(rights, installation.id, state, waiting)} ${binderLink(installation.id, state)}
    <p>${reconcileForms.reconcile_books.link(rights, installation.id)}</p>
    ${checklistView(state, { installation, now, rights })} ${filedView(state, installation)} ${closesView(state, installation)}`;
}

function verdictOf(state: MonthState): string {
  if (state.isClosed) return texts.closed;
  if (!state.isOver) return texts.notOver;
  const open = Object.values(checkedItems(state)).filter((ok) => !ok).length;
  return open === 0 ? texts.ready : texts.needsWork({ items: open });
}

function filedView({ filed, month }: MonthState, { id, timezone }: InstallationConfig): Node {
  return html`<h2>${texts.filed}</h2>
    ${table({
      empty: texts.notFiled,
      columns: [texts.month, texts.version, texts.filedAt, texts.by, texts.reason].map((title) => ({ title })),
      rows: filed.map(({ period, version, filedAt, by, reason }) => [
        html`<a href=${local(`/${id}/reports/vat`, { month })}>${period}</a>`,
        ...[version, localTimeOf(filedAt, timezone), by, reason],
      ]),
    })}`;
}

function closesView({ closes }: MonthState, { timezone }: InstallationConfig): Node {
  return html`<h2>${texts.closes}</h2>
    ${table({
      empty: texts.neverClosed,
      columns: [texts.at, texts.event, texts.by, texts.second, texts.reason].map((title) => ({ title })),
      rows: closes.map((each) => [
        localTimeOf(each.at, timezone),
        each.kind === 'close' ? closeTexts.closedThrough(each) : closeTexts.reopened(each),
        ...[each.by ?? closeTexts.noName, each.second ?? labels.none, each.reason ?? ''],
      ]),
    })}`;
}
