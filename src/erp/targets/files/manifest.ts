import { formatMoney, type Money, zero } from '../../../domain/money.ts';
import type { CalendarDate } from '../../../terms.ts';
import { type BatchFacts, batchCode, type WrittenEntry } from './format.ts';

/** Collects what the manifest reports about a batch's entries. */
export class Contents {
  units = 0;
  rows = 0;
  first: string | null = null;
  last: string | null = null;
  from: CalendarDate | null = null;
  through: CalendarDate | null = null;
  readonly #accounts = new Map<string, { debits: Money; credits: Money }>();

  add({ unitId, date }: { unitId: string; date: CalendarDate }, written: WrittenEntry): void {
    this.units += 1;
    this.rows += written.rows;
    this.first ??= unitId;
    this.last = unitId;
    if (this.from === null || date < this.from) this.from = date;
    if (this.through === null || date > this.through) this.through = date;
    for (const { account, amount } of written.posted) {
      const { debits, credits } = this.#accounts.get(account) ?? { debits: zero, credits: zero };
      this.#accounts.set(
        account,
        amount.isNegative() ? { debits, credits: credits.minus(amount) } : { debits: debits.plus(amount), credits },
      );
    }
  }

  /** Debit, credit and balance (debit positive) of the file's rows, by account. */
  accounts(decimals: number): Record<string, { debit: string; credit: string; balance: string }> {
    const sorted = [...this.#accounts].sort(([a], [b]) => (a < b ? -1 : a > b ? 1 : 0));
    return Object.fromEntries(
      sorted.map(([account, { debits, credits }]) => [
        account,
        {
          debit: formatMoney(debits, decimals),
          credit: formatMoney(credits, decimals),
          balance: formatMoney(debits.minus(credits), decimals),
        },
      ]),
    );
  }
}

export interface ManifestFacts extends BatchFacts {
  format: string;
  file: string;
  sha256: string;
  bytes: number;
  decimals: number;
}

/** The text of a batch's manifest (docs/accountants/files.md). */
export function manifestText(facts: ManifestFacts, contents: Contents): string {
  const manifest = {
    manifest: 1,
    batch: batchCode(facts),
    installation: facts.installation,
    number: facts.number,
    format: facts.format,
    file: facts.file,
    sha256: facts.sha256,
    bytes: facts.bytes,
    entries: contents.units,
    rows: contents.rows,
    first_entry: contents.first,
    last_entry: contents.last,
    from: contents.from,
    through: contents.through,
    currency: facts.currency,
    accounts: contents.accounts(facts.decimals),
    created: facts.createdAt.toISOString(),
  };
  return `${JSON.stringify(manifest, null, 2)}\n`;
}

export function manifestName(batch: Pick<BatchFacts, 'installation' | 'number'>): string {
  return `${batchCode(batch)}.json`;
}
