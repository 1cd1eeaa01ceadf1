import { visible } from '../../../domain/text.ts';
import type { JsonObject } from '../../../records/json.ts';
import type { RequestOptions } from '../../port.ts';
import { asId, asText, readAs } from '../api/form.ts';
import type { OdooCalls } from './calls.ts';
import { asAmount, asFlag, asIds, asReference } from './wire.ts';

/** What a tax does on invoices, or on credit notes: the tags of its base, and the line and the tags of its amount. */
export interface TaxSide {
  baseTags: number[];
  /** Null where the tax has no line for its amount, or several. */
  amountLineId: number | null;
  amountTags: number[];
}

/** A tax on sales. */
export interface OdooTax {
  id: number;
  name: string;
  isActive: boolean;
  /** Why no line can name it; null where one can. */
  fault: string | null;
  invoice: TaxSide;
  refund: TaxSide;
  /** Credit notes use the same tags: their amounts count the other way by their side alone. */
  isOneSided: boolean;
}

/** The taxes on sales of a company, by name and by what its lines carry. */
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

  /** Taxes whose bases have these tags, and on which side; those of invoices before those of credit notes. */
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

/** Reads all taxes on sales, archived ones too. Throws ErpError. */
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

/** A tax on payment would be posted again, by Odoo, when its invoice is matched. */
function faultOf({ amount_type: type, tax_exigibility: due }: JsonObject): string | null {
  if (type === 'group') return 'is a group of taxes: map one of the taxes in it';
  if (due === 'on_payment')
    return 'is due on payment, and Odoo would post it once more as soon as a line is matched: map a tax that is due on invoice';
  return null;
}

function sideOf(parts: readonly JsonObject[], document: 'invoice' | 'refund'): TaxSide {
  const own = parts.filter(({ document_type: type }) => type === document);
  const base = own.find(({ repartition_type: type }) => type === 'base');
  const amounts = own.filter(({ repartition_type: type }) => type === 'tax');
  const [amount] = amounts;
  // The amount in several parts cannot be posted as one line.
  const isWhole = amounts.length === 1 && asAmount(amount?.factor_percent, factorDecimals).equals(wholeFactor);
  return {
    baseTags: base === undefined ? [] : asIds(base.tag_ids),
    amountLineId: isWhole && amount !== undefined ? asId(amount.id) : null,
    amountTags: isWhole && amount !== undefined ? asIds(amount.tag_ids) : [],
  };
}

/** Why no line can name the tax of this name; null where one can. `found`: all taxes that have the name. */
export function taxFault(
  found: readonly OdooTax[],
  { code, part }: { code: string; part: 'base' | 'tax' },
): string | null {
  const [tax] = found;
  const named = `tax ${visible(code)}`;
  if (tax === undefined) return `Odoo has no ${named} on sales in this company`;
  if (found.length > 1) return `Odoo has ${found.length} taxes on sales with the name ${visible(code)}: rename one`;
  if (!tax.isActive) return `Odoo’s ${named} is archived`;
  if (tax.fault !== null) return `Odoo’s ${named} ${tax.fault}`;
  // Its amount line tells the base, too, where no tag does.
  const needsAmount = part === 'tax' || tax.invoice.baseTags.length === 0 || tax.refund.baseTags.length === 0;
  if (!needsAmount || (tax.invoice.amountLineId !== null && tax.refund.amountLineId !== null)) return null;
  return `Odoo’s ${named} has no line for its whole amount in its distribution: map a tax that has one, of 100 %`;
}
