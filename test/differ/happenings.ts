// Events in a clinic and its ERP in addition to live events. Both sides of a world have the same events.

import type { Clinic } from '../../sandbox/src/index.ts';
import { poisoned, poisons } from '../simulator/poisons.ts';
import type { Happening } from './world.ts';

export interface Scene {
  clinic: Clinic;
  /** Ids in commands, by name: `forgotten`, `changed`, `gone`. */
  names: Map<string, string>;
  /** Records that the source shows wrongly: `<list>/<id>` and the fault. */
  poisoned: Map<string, string>;
  /**
   * The accountant closes the ERP's days up to and including one; null opens them. Undefined if the ERP cannot be
   * closed.
   */
  closeErp: ((through: string | null) => void) | undefined;
}

const row = { sum: '60.00', vat_percentage: '14', account_number: '3010', name: 'Vaccination' };
const department = 11;

export function happen(scene: Scene, happening: Happening): void {
  const { clinic, names } = scene;
  if (typeof happening === 'object') {
    poison(scene, happening);
    return;
  }
  const client = clinic.clients.all().find(({ customer_type: type }) => type === 0)!.id;
  const posted = clinic.invoices.all().filter(({ status, credit_note: credits }) => status === 3 && !credits);
  const last = posted.at(-1)!;
  switch (happening) {
    case 'a visit':
      clinic.createInvoice({ department, client, rows: [row] });
      return;
    case 'a forgotten visit':
      names.set(
        'forgotten',
        String(clinic.createInvoice({ department, client, rows: [row], invoice_date: '2026-02-26' }).id),
      );
      return;
    case 'a new price': {
      const february = posted.findLast(({ invoice_date: date }) => date !== null && date <= '2026-02-28') ?? last;
      names.set('changed', String(february.id));
      clinic.updateRow(clinic.invoiceRows.of(february.id)[0]!.id, {
        sum: '80.0000',
        sum_vat: '20.4000',
        sum_total: '100.4000',
      });
      return;
    }
    case 'a wrong total':
      names.set('wrong', String(last.id));
      names.set('right total', String(last.total_with_vat));
      clinic.updateInvoice(last.id, { total_with_vat: '9999.99' });
      return;
    case 'the total put right':
      clinic.updateInvoice(Number(names.get('wrong')), { total_with_vat: names.get('right total')! });
      return;
    case 'a void': {
      const open = posted.findLast(({ id }) => clinic.invoicePayments.of(id).length === 0);
      if (open) clinic.voidInvoice(open.id);
      return;
    }
    case 'a deleted invoice':
      names.set('gone', `invoice/${last.id}`);
      clinic.deleteRecord('invoice', last.id);
      return;
    case 'a deleted payment': {
      const payment = clinic.invoicePayments.all().at(-1)!;
      names.set('gone', `payment/${payment.id}`);
      clinic.deleteRecord('invoicepayment', payment.id);
      return;
    }
    case 'the ERP closes February':
      scene.closeErp?.('2026-02-28');
      return;
    case 'the ERP opens February':
      scene.closeErp?.(null);
      return;
  }
}

function poison({ clinic, poisoned }: Scene, happening: { poison: string } | { unpoison: true }): void {
  const tables = {
    ...{ invoice: clinic.invoices, invoicerow: clinic.invoiceRows },
    ...{ invoicepayment: clinic.invoicePayments, unallocatedpayment: clinic.prepayments },
  };
  // Each record is saved again, so that the next window requests it.
  const touch = (list: string, id: number) => {
    const table = tables[list as keyof typeof tables] as typeof clinic.invoices;
    const record = table.get(id);
    if (record) clinic.commit(() => clinic.update(table, record, {}));
  };
  if ('unpoison' in happening) {
    const healed = [...poisoned.keys()];
    poisoned.clear();
    for (const key of healed) touch(key.split('/')[0]!, Number(key.split('/')[1]));
    return;
  }
  const { list } = poisons[happening.poison]!;
  const record = tables[list].all().at(-1);
  if (!record) return;
  poisoned.set(`${list}/${record.id}`, happening.poison);
  touch(list, record.id);
}

/** Changes the text of an answer so that it shows the faulty records. */
export function withPoison(body: string, list: string, told: Scene['poisoned']): string {
  if (![...told.keys()].some((key) => key.startsWith(`${list}/`))) return body;
  const { results, ...rest } = JSON.parse(body) as { results?: Record<string, unknown>[] };
  if (!Array.isArray(results)) return body;
  const texts = results.map((record) => {
    const name = told.get(`${list}/${record.id}`);
    return name === undefined ? JSON.stringify(record) : poisoned(record, poisons[name]!);
  });
  return `${JSON.stringify(rest).slice(0, -1)},"results":[${texts.join(',')}]}`;
}
