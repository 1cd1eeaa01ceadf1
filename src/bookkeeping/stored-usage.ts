import { z } from 'zod';
import { date, instant, storedJson } from '../db/columns.ts';
import { type Connection, execute, maybeRow } from '../db/rows.ts';
import { Money } from '../domain/money.ts';
import type { SourceUsage } from '../mapping/source-usage.ts';
import type { CalendarDate, InstallationId } from '../terms.ts';

/** What the source's records used from a day on, as it was read last (table `source_usage`): reading it takes seconds for a large clinic. */
export interface StoredUsage {
  since: CalendarDate;
  usage: SourceUsage;
  readAt: Date;
}

const amount = z.string().transform((text) => new Money(text));
const word = z.string().nullable();
const number = z.number().nullable();
const shape: z.ZodType<SourceUsage> = z.object({
  rows: z.array(
    z.object({
      ...{ account: word, department: number, dimensions: z.tuple([word, word, word]) },
      internal: z.object({ account: word, dimension1: word, dimension2: word }),
      vat: z.object({ name: word, rate: amount.nullable(), account: word }),
      ...{ count: z.number(), net: amount, vatAmount: amount, gross: amount, hasNet: z.boolean(), hasVat: z.boolean() },
      dates: z.tuple([z.string(), z.string()]).nullable(),
    }),
  ),
  money: z.array(
    z.object({
      ...{ kind: z.enum(['payment', 'prepayment']), type: number, department: number, opening: z.boolean() },
      ...{ count: z.number(), paid: amount },
    }),
  ),
  invoices: z.array(
    z.object({ department: number, collector: z.boolean(), client: z.boolean(), count: z.number(), gross: amount }),
  ),
});

export async function storeUsage(
  db: Connection,
  installation: InstallationId,
  { since, usage }: Omit<StoredUsage, 'readAt'>,
): Promise<void> {
  await execute(
    db,
    `insert into source_usage as u (installation, since, usage) values (?, ?::date, ?::json)
     on conflict (installation) do update set since = excluded.since, usage = excluded.usage, read_at = clock_timestamp()`,
    [installation, since, JSON.stringify(usage)],
  );
}

/** Null before the first daily turn. */
export function storedUsage(db: Connection, installation: InstallationId): Promise<StoredUsage | null> {
  return maybeRow(
    db,
    { since: date, usage: storedJson('source_usage.usage', shape), readAt: instant },
    'select since, usage, read_at as "readAt" from source_usage where installation = ?',
    [installation],
  );
}
