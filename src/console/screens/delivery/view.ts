import { isFileTarget } from '../../../config/erp.ts';
import type { InstallationConfig } from '../../../config/load-config.ts';
import { formatExact, Money } from '../../../domain/money.ts';
import { entryPage } from '../../../erp/targets/entry-page.ts';
import { shown } from '../../../languages/language.ts';
import type { ListedBatch, ListedUnit, UnitFilter, UnitTotal } from '../../../queries/delivered-units.ts';
import type { DeliveryStatus } from '../../../queries/delivery-status.ts';
import type { Equation } from '../../../reconcile/reconcile-report.ts';
import { consoleTexts } from '../../../texts/console/console.ts';
import { unitStateNames as states, deliveryScreen as texts } from '../../../texts/console/delivery.ts';
import { columnTitles as columns } from '../../../texts/reports/columns.ts';
import { deliveryFields } from '../../../wording/delivery.ts';
import { count, type TimeText, timeIn } from '../../../wording/words.ts';
import { type Content, html, local, type Node } from '../../html.ts';
import { documentLink } from '../../parts/document-link.ts';
import { facts } from '../../parts/facts.ts';
import { choice, field } from '../../parts/fields.ts';
import { nextStep } from '../../parts/next-step.ts';
import { pageLinks } from '../../parts/pages.ts';
import { table } from '../../parts/table.ts';
import type { Rights } from '../../users/rights.ts';
import { deliveryForms } from '../actions/deliveries.ts';
import { listedStates } from './filter.ts';

interface Shown {
  installation: InstallationConfig;
  query: Readonly<Record<string, string>>;
  status: DeliveryStatus;
  /** Whether the page may name clients, as messages of the ERP do. */
  withNames: boolean;
  filter: UnitFilter;
  rights: Rights;
  lastDay: number;
  totals: readonly UnitTotal[];
  page: { rows: readonly ListedUnit[]; next: string | null };
  batches: readonly ListedBatch[];
  differences: Equation | null;
}

export function deliveryView(of: Shown): Node {
  const { installation, query, status, page, batches } = of;
  const at = timeIn(installation.timezone);
  const path = `/${installation.id}/delivery`;
  const pace = texts.lastDay({ entries: count(of.lastDay, 'entry') });
  return html`${facts([...deliveryFields(status, at), [texts.pace, pace]])}
    ${differencesView(of)}
    ${batches.length === 0 ? null : html`<section><h2>${texts.batches}</h2>${batchesView(of, path, at)}</section>`}
    <section>
      <h2>${texts.units}</h2>
      ${filterForm(of)} ${totalsView(of, path)} ${retryAll(of)}
      <p class="dim">${texts.amountNote}</p>
      ${unitsView(of, at)} ${pageLinks(path, query, page.next)}
    </section>`;
}

/** What the last reading of the ERP found. Files cannot be read back. */
function differencesView(of: Shown): Content {
  if (of.differences === null && isFileTarget(of.installation.erp)) return null;
  return html`<section><h2>${texts.differences}</h2>${differenceTable(of)}</section>`;
}

function differenceTable({ differences, withNames, rights, installation: { id } }: Shown): Content {
  if (differences === null) return html`<p class="empty">${nextStep(rights, id, texts.notRead)}</p>`;
  const note = html`<p class="dim">${nextStep(rights, id, texts.balancesNote)}</p>`;
  if (differences.ok) return html`<p>${texts.equal}</p>${note}`;
  return html`${table({
    columns: [
      { title: columns.document },
      { title: columns.amount, isNumber: true },
      ...(withNames ? [{ title: columns.text }] : []),
    ],
    rows: differences.documents.map(({ document, difference, message }) => [
      html`<span class="needed">${withNames ? documentLink(id, document) : shown(document)}</span>`,
      difference,
      ...(withNames ? [shown(message)] : []),
    ]),
    total: [consoleTexts.total, String(differences.difference)],
  })}
  ${note}`;
}

function filterForm({ query, filter }: Shown): Node {
  const options = listedStates.map((value) => ({ value, text: states[value] }));
  return html`<form method="get" class="filters">
    ${filter.batch == null ? null : html`<input type="hidden" name="batch" value=${filter.batch} />`}
    ${choice({ name: 'state', label: texts.state, value: query.state ?? '', options: [{ value: '', text: consoleTexts.all }, ...options] })}
    ${field({ name: 'from', label: texts.from, type: 'date', value: query.from ?? '' })}
    ${field({ name: 'through', label: texts.through, type: 'date', value: query.through ?? '' })}
    ${field({ name: 'q', label: consoleTexts.search, type: 'search', value: query.q ?? '' })}
    <button>${consoleTexts.filter}</button>
  </form>`;
}

/** A link that sends the refused entries of the filter again. */
function retryAll({ totals, query, rights, installation: { id } }: Shown): Content {
  if (!totals.some(({ state }) => state === 'refused')) return null;
  const { from = '', through = '', q = '', batch = '' } = query;
  return html`<p>${deliveryForms.retry_delivery.link(rights, id, { from, through, q, batch }, texts.retryRefused)}</p>`;
}

function totalsView({ totals, query, installation: { decimals } }: Shown, path: string): Node {
  const { after, csv, ...kept } = query;
  const number = (title: string) => ({ title, isNumber: true });
  const money = (amount: string | null) => (amount === null ? '' : formatExact(new Money(amount), decimals));
  return table({
    columns: [
      ...[{ title: texts.state }, number(columns.entries), number(columns.amount)],
      ...[{ title: columns.from }, { title: columns.to }],
    ],
    rows: totals.map(({ state, units, from, through, amount }) => [
      html`<a href=${local(path, { ...kept, state })} class=${state === 'refused' ? 'needed' : undefined}>${states[state]}</a>`,
      ...[units, money(amount), from, through],
    ]),
    total: [consoleTexts.total, totals.reduce((all, { units }) => all + units, 0)],
  });
}

function unitsView({ page, withNames, rights, installation: { id, erp } }: Shown, at: TimeText): Node {
  const titles = [
    ...[texts.unit, columns.date, texts.state, texts.attempts, texts.sent, texts.settled],
    ...[texts.erpNumber, texts.erpDate, texts.batch, columns.error],
  ];
  return table({
    columns: titles.map((title) => ({ title, isNumber: title === texts.attempts })),
    rows: page.rows.map((unit) => [
      withNames ? unitLink(id, unit.id) : unit.id,
      ...[unit.date, states[unit.state], unit.attempts],
      ...[unit.sentAt && at(unit.sentAt), unit.settledAt && at(unit.settledAt)],
      ...[numberView(erp, unit), unit.erpDate, unit.batch],
      html`${problemView(rights, id, unit)} ${retryLink(rights, id, unit)}`,
    ]),
  });
}

/** The unit with a link to its document. A daily summary has none. */
function unitLink(id: number, unit: string): Content {
  const [, kind = '', document = ''] = unit.split('/');
  const link = documentLink(id, `${kind} ${document}`);
  return typeof link === 'string' ? unit : html`<span title=${unit}>${link}</span>`;
}

/** The number in the ERP, with a link to the entry's page there. */
function numberView(erp: InstallationConfig['erp'], { erpNumber }: ListedUnit): Content {
  const page = erpNumber === null ? null : entryPage(erp, erpNumber);
  return page === null ? erpNumber : html`<a href=${page} rel="noreferrer">${erpNumber}</a>`;
}

function problemView(rights: Rights, id: number, { problem }: ListedUnit): Content {
  if (problem === null) return '';
  const { code, message, todo } = problem;
  return html`<span class="needed">${code}</span>${message === null ? null : html`: ${shown(message)}`}<br />${nextStep(rights, id, todo)}`;
}

/** A link that sends one entry again, if it was refused or excluded. */
function retryLink(rights: Rights, id: number, { id: unit, state }: ListedUnit): Content {
  if (state !== 'refused' && state !== 'excluded') return null;
  return deliveryForms.retry_delivery.link(rights, id, { units: unit }, texts.retry);
}

function batchesView({ batches, rights, installation: { id } }: Shown, path: string, at: TimeText): Node {
  const titles = [texts.batch, texts.file, columns.entries, texts.written, texts.withdrawn, texts.acknowledged];
  return table({
    columns: titles.map((title) => ({ title, isNumber: title === columns.entries })),
    rows: batches.map(({ number, file, units, writtenAt, withdrawnAt, acknowledgedAt }) => [
      html`<a href=${local(path, { batch: number })}>${number}</a>`,
      ...[file, units],
      ...[writtenAt, withdrawnAt].map((time) => time && at(time)),
      acknowledgedAt !== null || withdrawnAt !== null
        ? acknowledgedAt && at(acknowledgedAt)
        : deliveryForms.acknowledge_batch.link(rights, id, { batch: String(number) }, texts.acknowledge),
    ]),
  });
}
