import { hasReadBooks } from '../../../erp/books/book-snapshot.ts';
import { companyKeyOf } from '../../../erp/company.ts';
import { deliveredSince } from '../../../erp/outbox/outbox-queries.ts';
import { type ListedUnit, listBatches, listUnits, unitTotals } from '../../../queries/delivered-units.ts';
import { deliveryStatuses } from '../../../queries/delivery-status.ts';
import { checkErpBooks } from '../../../reconcile/e7-erp.ts';
import type { Equation } from '../../../reconcile/reconcile-report.ts';
import type { InstallationId } from '../../../terms.ts';
import { screenNames } from '../../../texts/console/console.ts';
import { deliveryScreen as texts } from '../../../texts/console/delivery.ts';
import { html, type Node } from '../../html.ts';
import { csvFile, fileRows, pageOf, pageRows } from '../../parts/pages.ts';
import type { Answer, InstallationRequest, Route } from '../../route.ts';
import type { Rights } from '../../users/rights.ts';
import { deliveryForms } from '../actions/deliveries.ts';
import { pauseLink } from '../actions/pauses.ts';
import { readFilter, unitAfter } from './filter.ts';
import { deliveryView } from './view.ts';

/** The screen Delivery shows which entries and daily summaries the ERP has. */
export const deliveryRoutes: readonly Route[] = [
  {
    method: 'GET',
    path: '/:installation/delivery',
    access: { who: 'read_operations', in: 'installation' },
    audit: 'nothing',
    answer: show,
  },
];

const batchesAtMost = 50;

async function show(request: InstallationRequest): Promise<Answer> {
  const { db, installation, query, rights, now } = request;
  const { id } = installation;
  const withNames = rights.may('read_books', id);
  const filter = readFilter(query);
  if (query.csv !== undefined) {
    const units = await listUnits(db, id, filter, { after: null, limit: fileRows, withNames });
    return csvFile(`delivery-${id}.csv`, csvHeading, units.map(csvCells));
  }
  const title = () => screenNames.delivery;
  const status = (await deliveryStatuses(db, [installation])).get(id) ?? null;
  if (status === null) return { page: { title, body: () => html`<p class="empty">${texts.none}</p>` } };
  const after = unitAfter(query);
  const units = await listUnits(db, id, filter, { after, limit: pageRows + 1, withNames });
  const shown = {
    ...{ installation, query, status, withNames, filter, rights },
    lastDay: await deliveredSince(db, id, new Date(now.getTime() - 86_400_000)),
    totals: await unitTotals(db, id, filter),
    page: pageOf(units, (unit) => `${unit.date} ${unit.id}`),
    batches: await listBatches(db, id, { limit: batchesAtMost }),
    differences: await differencesOf({ db, installation }),
  };
  const pause = await pauseLink(request, 'delivery');
  return { page: { title, body: () => html`${actionsView(rights, id, pause())} ${deliveryView(shown)}` } };
}

function actionsView(rights: Rights, id: InstallationId, pause: Node | null): Node {
  const { approve_delivery: approve, undo_delivery: undo, nudge_delivery: now, cancel_delivery: end } = deliveryForms;
  return html`<p class="pages">${approve.link(rights, id)} ${undo.link(rights, id)} ${now.link(rights, id)} ${end.link(rights, id)} ${pause}</p>`;
}

/** E7 by the last reading of the ERP, without balances of accounts. Null before a reading. */
async function differencesOf({
  db,
  installation,
}: Pick<InstallationRequest, 'db' | 'installation'>): Promise<Equation | null> {
  const { id, decimals, erp } = installation;
  const company = companyKeyOf(erp);
  if (company === null || !(await hasReadBooks(db, id))) return null;
  const { equation } = await checkErpBooks(db, { id, decimals, company, ownedAccounts: [], balances: new Map() });
  return equation;
}

const csvHeading = [
  ...['unit', 'date', 'state', 'attempts', 'sent_at', 'settled_at', 'erp_number', 'erp_date', 'batch'],
  ...['problem', 'message'],
];

function csvCells({ problem, ...unit }: ListedUnit): (string | number | Date | null)[] {
  const { id, date, state, attempts, sentAt, settledAt, erpNumber, erpDate, batch } = unit;
  return [
    ...[id, date, state, attempts, sentAt, settledAt, erpNumber, erpDate, batch],
    ...[problem?.code ?? null, problem?.message ?? null],
  ];
}
