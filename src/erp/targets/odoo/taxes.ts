import { visible } from '../../../domain/text.ts';
import type { JsonObject } from '../../../records/json.ts';
import { erpRecordFindings } from '../../../texts/findings/erp-records.ts';
import type { RequestOptions } from '../../port.ts';
import { asId, asText, readAs } from '../api/form.ts';
import type { OdooCalls } from './calls.ts';
import { asAmount, asFlag, asIds, asReference } from './wire.ts';

/**
 * How a tax appears on invoices, or on credit notes: the tags of the base, and the distribution line and tags of the
 * amount.
 */
export interface TaxSide {
  baseTags: number[];
  /** Id of the distribution line for the whole amount; null if the tax has none, or several. */
  amountLineId: number | null;
  amountTags: number[];
}

export interface OdooTax {
  id: number;
  name: string;
  isActive: boolean;
  /** The reason why no line can use the tax; null if lines can. */
  fault: string | null;
  invoice: TaxSide;
  refund: TaxSide;
  /** Invoices and credit notes use the same tags, so only debit or credit distinguishes them. */
  isOneSided: boolean;
}

/** A company's taxes on sales, by name, by id and by tags. */
export class TaxBook {
  readonly #byId: ReadonlyMap<number, OdooTax>;
  readonly #byName: ReadonlyMap<string, OdooTax[]>;

  constructor(taxes: readonly OdooTax[]) {
    this.#byId = new Map(taxes.map((tax) => [tax.id, tax]));
    this.#byName = Map.groupBy(taxes, ({ name }) => name);
  }

  named(name: string): readonly OdooTax[] {
    return this.#byName.get(name) ?? [];
  }

  withId(id: number): OdooTax | null {
    return this.#byId.get(id) ?? null;
  }

  /** Taxes whose base has exactly these tags, on invoices or on credit notes. Those of invoices come first. */
  withBaseTags(tags: readonly number[]): { tax: OdooTax; side: 'invoice' | 'refund' }[] {
    const wanted = setOf(tags);
    const all = [...this.#byId.values()];
    return (['invoice', 'refund'] as const).flatMap((side) =>
      all.flatMap((tax) =>
        setOf(tax[side].baseTags) === wanted && !(side === 'refund' && tax.isOneSided) ? [{ tax, side }] : [],
      ),
    );
  }
}

function setOf(ids: readonly number[]): string {
  return [...new Set(ids)].toSorted((one, other) => one - other).join(',');
}

const wholeFactor = 100;
const factorDecimals = 4;

/** Reads all taxes on sales, including archived ones. Throws ErpError. */
export async function readTaxes(calls: OdooCalls, request: RequestOptions): Promise<TaxBook> {
  const { chain } = await calls.company(request);
  const domain = [
    ['company_id', 'in', chain],
    ['type_tax_use', '=', 'sale'],
  ];
  const fields = ['name', 'active', 'amount_type', 'tax_exigibility'];
  const taxes = await calls.all('account.tax', { domain, fields }, request);
  const parts = await calls.all(
    'account.tax.repartition.line',
    {
      domain: [['tax_id', 'in', taxes.map(({ id }) => id)]],
      fields: ['tax_id', 'document_type', 'repartition_type', 'factor_percent', 'tag_ids'],
    },
    request,
  );
  return readAs(null, () => {
    const ofTax = Map.groupBy(parts, ({ tax_id: tax }) => asReference(tax)?.id ?? 0);
    return new TaxBook(taxes.map((tax) => taxOf(tax, ofTax.get(asId(tax.id)) ?? [])));
  });
}

function taxOf(tax: JsonObject, parts: readonly JsonObject[]): OdooTax {
  const [invoice, refund] = [sideOf(parts, 'invoice'), sideOf(parts, 'refund')];
  return {
    id: asId(tax.id),
    name: asText(tax.name),
    isActive: asFlag(tax.active),
    fault: faultOf(tax),
    invoice,
    refund,
    isOneSided:
      setOf(invoice.baseTags) === setOf(refund.baseTags) && setOf(invoice.amountTags) === setOf(refund.amountTags),
  };
}

/**
 * The reason why no line can use a tax. Odoo would post a tax that is due on payment again when the invoice is matched.
 */
function faultOf({ amount_type: type, tax_exigibility: due }: JsonObject): string | null {
  if (type === 'group') return erpRecordFindings.isGroup;
  if (due === 'on_payment') return erpRecordFindings.isDueOnPayment;
  return null;
}

function sideOf(parts: readonly JsonObject[], document: 'invoice' | 'refund'): TaxSide {
  const own = parts.filter(({ document_type: type }) => type === document);
  const base = own.find(({ repartition_type: type }) => type === 'base');
  const amounts = own.filter(({ repartition_type: type }) => type === 'tax');
  const [amount] = amounts;
  // An amount that Odoo distributes over several lines cannot be sent as one line.
  const isWhole = amounts.length === 1 && asAmount(amount?.factor_percent, factorDecimals).equals(wholeFactor);
  return {
    baseTags: base === undefined ? [] : asIds(base.tag_ids),
    amountLineId: isWhole && amount !== undefined ? asId(amount.id) : null,
    amountTags: isWhole && amount !== undefined ? asIds(amount.tag_ids) : [],
  };
}

/** The reason why no line can use the tax of this name; null if lines can. `found`: all taxes with the name. */
export function taxFault(
  found: readonly OdooTax[],
  { code, part }: { code: string; part: 'base' | 'tax' },
): string | null {
  const [tax] = found;
  const named = { tax: visible(code) };
  if (tax === undefined) return erpRecordFindings.taxMissing(named);
  if (found.length > 1) return erpRecordFindings.taxAmbiguous({ ...named, n: found.length });
  if (!tax.isActive) return erpRecordFindings.taxArchived(named);
  if (tax.fault !== null) return erpRecordFindings.taxFault({ ...named, reason: tax.fault });
  // Without tags, the tax line reports the base too.
  const needsAmount = part === 'tax' || tax.invoice.baseTags.length === 0 || tax.refund.baseTags.length === 0;
  if (!needsAmount || (tax.invoice.amountLineId !== null && tax.refund.amountLineId !== null)) return null;
  return erpRecordFindings.taxFault({ ...named, reason: erpRecordFindings.noWholeAmount });
}
