import type { InstallationConfig } from '../config/load-config.ts';
import type { Connection } from '../db/rows.ts';
import { markDirty, markKnown } from '../documents/mark.ts';
import { postgresText } from '../domain/text.ts';
import { dueSteps, movesOf } from '../posting/vat-due.ts';
import type { CalendarDate, DocumentRef } from '../terms.ts';
import { storeMembers } from './collector-members.ts';
import type { VatDueBatch } from './vat-due-batch.ts';
import { dueInForce } from './vat-due-read.ts';

/**
 * Stores the members of consolidated invoices. Marks the payments and latest days that must move another amount of VAT after the
 * decisions of a batch.
 */
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
 * Runs after the decisions of a batch were written. Marks payments and latest days that must now move another amount of VAT of
 * these invoices, so that they are posted again (ACCOUNTING R13). `today` is null if no day counts as over.
 */
async function markMoved(
  trx: Connection,
  { id, decimals }: InstallationConfig,
  batch: VatDueBatch,
  today: CalendarDate | null,
): Promise<void> {
  const { books, touched } = batch;
  if (touched.length === 0) return;
  const wanted = new Moves();
  for (const invoice of touched) {
    for (const step of dueSteps(books, invoice, decimals)) {
      const isWaiting = step.by.kind === 'vat_due' && (today === null || (step.invoice.latest ?? '') >= today);
      if (isWaiting || step.isOpening) continue;
      for (const move of movesOf(step, decimals)) wanted.add(step.by, textOf({ ...move, invoiceId: invoice }));
    }
  }
  const payments = touched.flatMap((invoice) => (books.payments.get(invoice) ?? []).map((each) => each.id));
  const standing = new Moves();
  const concerned = new Set(touched);
  const asked = { payments: [...new Set([...payments, ...wanted.idsOf('payment')])], latest: touched };
  for (const line of await dueInForce(trx, id, asked)) {
    if (concerned.has(line.invoiceId)) standing.add(line, textOf(line));
  }
  await markKnown(trx, id, 'payment', wanted.differing(standing, 'payment'));
  await markDirty(trx, id, 'vat_due', wanted.differing(standing, 'vat_due'));
}

/** The movements of VAT by each document, as texts that can be compared. */
class Moves {
  readonly #texts: Record<'payment' | 'vat_due', Map<number, string[]>> = { payment: new Map(), vat_due: new Map() };

  add({ kind, id }: DocumentRef, text: string): void {
    if (kind !== 'payment' && kind !== 'vat_due') return;
    const texts = this.#texts[kind];
    texts.set(id, [...(texts.get(id) ?? []), text].sort());
  }

  idsOf(kind: 'payment' | 'vat_due'): number[] {
    return [...this.#texts[kind].keys()];
  }

  /** The documents whose movements differ from those in `others`, in the order of their ids. */
  differing(others: Moves, kind: 'payment' | 'vat_due'): number[] {
    const textsOf = (moves: Moves, id: number) => (moves.#texts[kind].get(id) ?? []).join('\n');
    return [...new Set([...this.idsOf(kind), ...others.idsOf(kind)])]
      .filter((id) => textsOf(this, id) !== textsOf(others, id))
      .sort((a, b) => a - b);
  }
}

function textOf(
  move: Pick<Awaited<ReturnType<typeof dueInForce>>[number], 'invoiceId' | 'group' | 'rate' | 'vat' | 'base'>,
) {
  const { invoiceId, group, rate, vat, base } = move;
  return JSON.stringify([invoiceId, group && postgresText(group), rate, vat, base.isZero() ? '0' : base]);
}
