// Random actions of a life: everything that staff do to invoices and their rows, including unusual changes.
import type { RowInput } from '../../sandbox/src/inputs.ts';
import { dec, fixed, rowAmount } from '../../sandbox/src/money.ts';
import { type Invoice, invoiceStatus, NotFound, ValidationProblem } from '../../sandbox/src/records.ts';
import type { Rng } from '../../sandbox/src/rng.ts';
import { addDays } from '../../sandbox/src/zone.ts';
import { moneyActions } from './actions-money.ts';
import type { WatchedClinic } from './clinic.ts';
import { type Action, pick } from './picks.ts';

const rates = ['0.00', '10.00', '14.00', '25.50'];

/**
 * A row with up to 4 decimals. Its three amounts agree within a minor unit, as in the source, or are slightly wrong.
 */
export function randomRow(clinic: WatchedClinic, rng: Rng): RowInput {
  const unit = dec(10).pow(-clinic.decimals);
  const sum = rng.weighted([
    ['0.00', 5],
    ['-0.0', 1],
    [rowAmount(dec(rng.int(-2_000_000, 4_000_000)).div(10_000)), 40],
    [rowAmount(dec(rng.int(1, 30_000)).div(100)), 40],
    [rowAmount(dec(rng.int(-50, 50)).div(10_000)), 5],
    ['33.3333', 5],
  ] as const);
  const rate = rng.pick(rates);
  const isOdd = rng.chance(0.06);
  const group = rng.chance(0.08)
    ? {
        name: rng.pick(['VAT 25.5 %', 'Odd VAT', ' ']),
        percentage: rate,
        account_number: rng.pick(['2931', '2940', '']),
      }
    : undefined;
  const nearly = unit.times(rng.int(-9, 9)).div(10);
  const sum_vat = rowAmount(
    dec(sum)
      .times(rate)
      .div(100)
      .plus(rng.chance(0.1) ? nearly : 0),
  );
  return {
    sum,
    vat_percentage: rate,
    sum_vat,
    ...(rng.chance(0.1) ? { sum_total: rowAmount(dec(sum).plus(sum_vat).plus(nearly)) } : {}),
    ...(isOdd && rng.chance(0.3) ? { sum_total: rowAmount(dec(sum).plus(sum_vat).plus(unit.times(3))) } : {}),
    account_number: isOdd ? rng.pick(['', '  ', ' 3000 ', '9999', '2411']) : rng.pick(['3000', '3010', '3020', '3100']),
    reporting_dimension_1: rng.pick([null, null, 'SURG', 'LAB']),
    reporting_dimension_2: rng.chance(0.1) ? 'D2' : null,
    reporting_dimension_3: rng.chance(0.05) ? 'D3' : null,
    ...(rng.chance(0.1)
      ? { invoice_row_extra: { account_number: '8000', reporting_dimension_1: rng.pick([null, 'X']) } }
      : {}),
    ...(group ? { vat_group: group } : {}),
  };
}

/** A gift card, which is a liability; sometimes with a fraction of the minor unit. */
function giftCard(clinic: WatchedClinic, rng: Rng): RowInput {
  const whole = dec(rng.int(1, 20)).times(5);
  const sum = rowAmount(rng.chance(0.2) ? whole.plus('0.0033') : whole.times(rng.chance(0.1) ? -1 : 1));
  const { vat_group: _, sum_total: _total, ...row } = randomRow(clinic, rng);
  return { ...row, sum, vat_percentage: '0', sum_vat: rowAmount(dec(0)), account_number: '2411' };
}

const rowsOf = (clinic: WatchedClinic, rng: Rng): RowInput[] =>
  Array.from(
    {
      length: rng.weighted([
        [0, 1],
        [1, 8],
        [2, 8],
        [3, 6],
        [6, 2],
      ] as const),
    },
    () => (rng.chance(0.08) ? giftCard(clinic, rng) : randomRow(clinic, rng)),
  );

const dateNear = (clinic: WatchedClinic, rng: Rng): string =>
  addDays(
    clinic.today(),
    rng.weighted([
      [0, 6],
      [-rng.int(1, 45), 4],
      [rng.int(1, 9), 1],
    ]),
  );

const nameOf = (invoice: Invoice): string => `invoice ${invoice.id}`;

function create(
  clinic: WatchedClinic,
  rng: Rng,
  more: { status?: number; credit_note?: boolean; rows?: RowInput[] },
): string {
  const counter = rng.chance(0.12);
  const invoice = clinic.createInvoice({
    department: rng.pick([11, 12, 13]),
    client: counter ? null : pick(rng, clinic.clients.all())!.id,
    countersale: counter,
    invoice_date: dateNear(clinic, rng),
    rows: more.rows ?? rowsOf(clinic, rng),
    ...rng.weighted([
      [{}, 7],
      [{ payer: { payer_vat_number: 'DE123', payer_country_code: 'DE' } }, 1],
      [{ payer: { payer_register_number: 'R0' } }, 2],
    ]),
    ...more,
  });
  return `${nameOf(invoice)} of ${invoice.total_with_vat} with status ${invoice.status}`;
}

/** Applies `change` to one of the newest matching invoices. */
function toInvoice(
  fits: (invoice: Invoice, clinic: WatchedClinic) => boolean,
  change: (clinic: WatchedClinic, invoice: Invoice, rng: Rng) => string,
): Action {
  return (clinic, rng) => {
    const invoice = pick(rng, clinic.invoices.all(), (each) => fits(each, clinic));
    return invoice ? `${nameOf(invoice)}: ${change(clinic, invoice, rng)}` : null;
  };
}

const isFinal = (invoice: Invoice): boolean => invoice.status === invoiceStatus.final;
const any = (): boolean => true;

function credit(clinic: WatchedClinic, invoice: Invoice, rng: Rng): string {
  const rows = clinic.invoiceRows.of(invoice.id).map((row) => row.id);
  const partial =
    rows.length > 0 && rng.chance(0.4) ? { rows: rows.filter((_, at) => at === 0 || rng.chance(0.4)) } : {};
  const note = clinic.credit(invoice.id, { ...partial, useOriginalDate: rng.chance(0.3) });
  return `credit note ${note.id} of ${note.total_with_vat}`;
}

function editRow(clinic: WatchedClinic, invoice: Invoice, rng: Rng): string {
  const row = rng.pick(clinic.invoiceRows.of(invoice.id))!;
  const fresh = randomRow(clinic, rng);
  const changes = rng.weighted([
    [{ account_number: fresh.account_number! }, 4],
    [{ reporting_dimension_1: rng.pick([null, 'SURG', 'LAB']) }, 2],
    [{ name: `Renamed ${rng.int(1, 99)}` }, 2],
    [
      {
        sum: fresh.sum,
        sum_vat: fresh.sum_vat!,
        sum_total: fresh.sum_total ?? rowAmount(dec(fresh.sum).plus(fresh.sum_vat!)),
      },
      4,
    ],
  ]);
  clinic.updateRow(row.id, changes);
  return `row ${row.id} becomes ${JSON.stringify(changes)}`;
}

function editHeader(clinic: WatchedClinic, invoice: Invoice, rng: Rng): string {
  const unit = dec(10).pow(-clinic.decimals);
  const changes: Partial<Invoice> = rng.weighted([
    [{ invoice_date: dateNear(clinic, rng) }, 6],
    [{ department: rng.pick([11, 12, 13]) }, 2],
    [{ invoice_due_date: addDays(invoice.invoice_date, rng.int(1, 60)) }, 2],
    [{ additional_reference: `ref ${rng.int(1, 99)}` }, 3],
    [{ payer_name: 'Renamed Payer', payer_organization_name: '' }, 2],
    [{ payer_register_number: `R${rng.int(1, 9)}` }, 3],
    [{ client: null, countersale: true }, 1],
    [{ total: fixed(dec(invoice.total).plus(unit), clinic.decimals) }, 2],
    [{ credit_note: !invoice.credit_note }, 1],
    [{ status: rng.pick([0, 1, 2, 4]) }, 2],
  ]);
  clinic.updateInvoice(invoice.id, changes);
  return `becomes ${JSON.stringify(changes)}`;
}

function consolidate(clinic: WatchedClinic, rng: Rng): string | null {
  const first = pick(rng, clinic.invoices.all(), (invoice) => isFinal(invoice) && invoice.client !== null);
  if (!first) return null;
  const others = clinic.invoices
    .all()
    .filter((invoice) => isFinal(invoice) && invoice.client === first.client && invoice !== first);
  const members = [first, ...others.slice(-rng.int(0, 3))];
  const collector = clinic.consolidate(members.map((member) => member.id));
  if (rng.chance(0.2)) clinic.addRow(collector.id, randomRow(clinic, rng));
  return `${members.map((member) => member.id).join(', ')} collected into invoice ${collector.id}`;
}

function damage(clinic: WatchedClinic, rng: Rng): string | null {
  const [healed] = clinic.damage.keys();
  if (healed !== undefined && rng.chance(0.5)) {
    const [kind, id] = healed.split('/') as ['invoice', string];
    clinic.setDamage(kind, Number(id), null);
    return `${healed} is whole again`;
  }
  const [kind, field, value, table] = rng.pick([
    ['invoice', 'total_with_vat', undefined, clinic.invoices],
    ['invoice', 'total_vat', 'n/a', clinic.invoices],
    ['invoice', 'due_sum', undefined, clinic.invoices],
    ['invoice', 'status', 5, clinic.invoices],
    ['invoice', 'created', undefined, clinic.invoices],
    ['invoice', 'invoice_date', '2026-02-30', clinic.invoices],
    ['invoice', 'invoice_due_date', '2026-13-01', clinic.invoices],
    ['row', 'sum', 'x', clinic.invoiceRows],
    ['payment', 'paid', null, clinic.invoicePayments],
    ['payment', 'date_added', '', clinic.invoicePayments],
    ['payment', 'payment_type', 'card', clinic.invoicePayments],
    ['prepayment', 'paid', '1.2.3', clinic.prepayments],
    ['prepayment', 'status', 'Strange', clinic.prepayments],
    // Implausible amounts (P6).
    ['prepayment', 'paid', '10000000.01', clinic.prepayments],
    ['row', 'sum', 20_000_000, clinic.invoiceRows],
    ['invoice', 'client', 'banana/2001', clinic.invoices],
    ['prepayment', 'client', 'banana/2001', clinic.prepayments],
  ] as const);
  const record: { id: number } | undefined = pick<{ id: number }>(rng, table.all());
  if (!record) return null;
  clinic.setDamage(kind, record.id, { field, value });
  return `${kind} ${record.id} shows ${field} as ${JSON.stringify(value)}`;
}

const hasRows = (invoice: Invoice, clinic: WatchedClinic): boolean => clinic.invoiceRows.of(invoice.id).length > 0;

const invoiceActions: [number, Action][] = [
  [26, (clinic, rng) => create(clinic, rng, {})],
  [6, (clinic, rng) => create(clinic, rng, { status: rng.pick([0, 0, 1, 2, 4]) })],
  [2, (clinic, rng) => create(clinic, rng, { credit_note: true })],
  [1, (clinic, rng) => create(clinic, rng, { rows: [{ sum: '0.00' }, { sum: '0.00', vat_percentage: '14.00' }] })],
  [1, (clinic, rng) => create(clinic, rng, { rows: [{ sum: '25.25', vat_percentage: '14.00', sum_vat: '3.535' }] })],
  [
    6,
    toInvoice(
      (invoice) => !isFinal(invoice),
      (clinic, { id }) => `finalised as ${clinic.finalise(id).invoice_number}`,
    ),
  ],
  [6, toInvoice(isFinal, credit)],
  [3, toInvoice((invoice) => invoice.credit_note && isFinal(invoice), credit)],
  [4, toInvoice(any, (clinic, { id }) => `status is ${clinic.voidInvoice(id).status}`)],
  [
    1,
    toInvoice(
      (invoice) => invoice.status === 99,
      (clinic, { id }) => `status is ${clinic.updateInvoice(id, { status: 3 }).status} again`,
    ),
  ],
  [8, toInvoice(hasRows, editRow)],
  [4, toInvoice(any, (clinic, { id }, rng) => `row ${clinic.addRow(id, randomRow(clinic, rng)).id} added`)],
  [
    2,
    toInvoice(hasRows, (clinic, { id }) => {
      const row = clinic.invoiceRows.of(id)[0]!;
      clinic.deleteRecord('invoicerow', row.id);
      return `row ${row.id} removed`;
    }),
  ],
  [
    1,
    toInvoice(hasRows, (clinic, { id }) => {
      const {
        id: old,
        created: _created,
        modified: _modified,
        invoice: _invoice,
        ...row
      } = clinic.invoiceRows.of(id)[0]!;
      clinic.deleteRecord('invoicerow', old);
      return `row ${old} entered anew as ${clinic.addRow(id, row).id}`;
    }),
  ],
  [8, toInvoice(any, editHeader)],
  [
    4,
    toInvoice(
      any,
      (clinic, { id }, rng) => `payer is ${clinic.changePayer(id, pick(rng, clinic.clients.all())!.id).client}`,
    ),
  ],
  [
    2,
    toInvoice(any, (clinic, { id }) => {
      for (const payment of clinic.invoicePayments.of(id)) clinic.giveBack(payment);
      clinic.deleteRecord('invoice', id);
      return 'gone from the source';
    }),
  ],
  [4, consolidate],
  [4, damage],
];

/** Takes one random action. An action that the clinic refuses changes nothing. */
export function act(clinic: WatchedClinic, rng: Rng): string {
  const actions = [...invoiceActions, ...moneyActions];
  const action = rng.weighted(actions.map(([weight, each]) => [each, weight] as const));
  try {
    return action(clinic, rng) ?? 'nothing to do it to';
  } catch (error) {
    if (error instanceof ValidationProblem || error instanceof NotFound) return `refused: ${error.message}`;
    throw error;
  }
}
