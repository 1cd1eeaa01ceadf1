// The copies that accountants make of posted entries in Odoo: reversals and duplicates. Copies lack external ids, the
// reference, and the lines' fields for the side of their tags (`copy=False`).

import type { Env, Values } from './env.ts';
import { linesOf, post } from './moves.ts';
import type { Json, Row } from './store.ts';

/**
 * Odoo's *Reverse Entry* on a day. It creates a posted entry that names the original, in the same journal unless
 * another is chosen.
 */
export function reverseEntry(env: Env, id: number, date: string, reason = ''): number {
  const move = env.store.get('account.move', id) as Row;
  const ref = `Reversal of: ${move.name}${reason === '' ? '' : `, ${reason}`}`;
  // A reversal of an entry copies its lines without recomputing them.
  const quiet = env.with({ skip_invoice_sync: true });
  const made = copy(quiet, move, { date, ref, reversed_entry_id: id }, (line) => ({
    ...{ debit: line.credit ?? 0, credit: line.debit ?? 0 },
  }));
  post(quiet, [made]);
  return made;
}

/** Odoo's *Duplicate* and *Post*. The copy is a draft of today without a reference. */
export function duplicate(env: Env, id: number): number {
  const move = env.store.get('account.move', id) as Row;
  const made = copy(env, move, { date: env.core.nowText().slice(0, 10) }, ({ debit, credit }) => ({
    ...{ debit: debit ?? 0, credit: credit ?? 0 },
  }));
  post(env, [made]);
  return made;
}

function copy(env: Env, move: Row, values: Values, amounts: (line: Row) => Values): number {
  const lines = linesOf(env, move.id).map((line): Json => {
    const { name, account_id, partner_id, date_maturity, tax_repartition_line_id, tax_base_amount } = line;
    const kept = { name, account_id, partner_id, date_maturity, tax_repartition_line_id, tax_base_amount };
    const many = { tax_ids: [[6, 0, line.tax_ids ?? []]], tax_tag_ids: [[6, 0, line.tax_tag_ids ?? []]] };
    const { analytic_distribution } = line;
    return [0, 0, { ...kept, ...many, analytic_distribution, ...amounts(line) }] as Json;
  });
  const { journal_id, move_type } = move;
  const [id = 0] = env.create('account.move', [{ journal_id, move_type, ...values, line_ids: lines } as Values]);
  return id;
}
