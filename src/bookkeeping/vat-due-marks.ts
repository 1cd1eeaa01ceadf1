import type { InstallationConfig } from '../config/load-config.ts';
import type { Connection } from '../db/rows.ts';
import { markDirty, markKnown } from '../documents/mark.ts';
import { postgresText } from '../domain/text.ts';
import { dueSteps, movesOf } from '../posting/vat-due.ts';
import type { CalendarDate } from '../terms.ts';
import { storeMembers } from './collector-members.ts';
import type { VatDueBatch } from './vat-due-batch.ts';
import { dueInForce } from './vat-due-read.ts';

/** Stores the members of consolidated invoices, and marks what must move other VAT after the decisions of a batch. */
export async function followMoves(
  trx: Connection,
  installation: InstallationConfig,
  { due, today }: { due: VatDueBatch | null; today: CalendarDate | null },
): Promise<void> {
  if (due === null) return;
  await storeMembers(trx, installation.id, due.decidedCollectors);
  await markMoved(trx, installation, due, today);
}

/**
 * After the decisions of a batch were written, marks payments and latest days that must now move other VAT of these
 * invoices, so that they are posted again (ACCOUNTING R13). `today` is null if no day counts as over.
 */
async function markMoved(
  trx: Connection,
  { id, decimals }: InstallationConfig,
  batch: VatDueBatch,
  today: CalendarDate | null,
): Promise<void> {
  const { books, touched } = batch;
  if (touched.length === 0) return;
  const wanted = new Map<string, string[]>();
  for (const invoice of touched) {
    for (const step of dueSteps(books, invoice, decimals)) {
      const { kind, id: by } = step.by;
      const isWaiting = kind === 'vat_due' && (today === null || (step.invoice.latest ?? '') >= today);
      if (isWaiting || step.isOpening) continue;
      const moves = movesOf(step, decimals).map((move) => textOf({ ...move, invoiceId: invoice }));
      if (moves.length > 0) add(wanted, `${kind}/${by}`, moves);
    }
  }
  const payments = new Set(touched.flatMap((invoice) => (books.payments.get(invoice) ?? []).map((each) => each.id)));
  for (const key of wanted.keys()) if (key.startsWith('payment/')) payments.add(Number(key.slice('payment/'.length)));
  const standing = new Map<string, string[]>();
  const concerned = new Set(touched);
  for (const line of await dueInForce(trx, id, { payments: [...payments], latest: touched })) {
    if (concerned.has(line.invoiceId)) add(standing, `${line.kind}/${line.id}`, [textOf(line)]);
  }
  const differing = [...new Set([...wanted.keys(), ...standing.keys()])].filter(
    (key) => sorted(wanted.get(key)) !== sorted(standing.get(key)),
  );
  const idsOf = (kind: 'payment' | 'vat_due') =>
    differing
      .flatMap((key) => (key.startsWith(`${kind}/`) ? Number(key.slice(kind.length + 1)) : []))
      .sort((a, b) => a - b);
  await markKnown(trx, id, 'payment', idsOf('payment'));
  await markDirty(trx, id, 'vat_due', idsOf('vat_due'));
}

function textOf(
  move: Pick<Awaited<ReturnType<typeof dueInForce>>[number], 'invoiceId' | 'group' | 'rate' | 'vat' | 'base'>,
) {
  const { invoiceId, group, rate, vat, base } = move;
  return JSON.stringify([invoiceId, group && postgresText(group), rate, vat, base.isZero() ? '0' : base]);
}

function add(lists: Map<string, string[]>, key: string, texts: readonly string[]): void {
  lists.set(key, [...(lists.get(key) ?? []), ...texts]);
}

function sorted(texts: readonly string[] = []): string {
  return [...texts].sort().join('\n');
}
