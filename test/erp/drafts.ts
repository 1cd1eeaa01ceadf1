import { type DraftEntry, reversedLines } from '../../src/domain/entry.ts';
import { draft } from '../ledger/drafts.ts';

export function payment(id: number, date = '2026-02-01', amount = '10.00'): DraftEntry {
  return draft({
    ...{ kind: 'payment', id, date, inputHash: amount },
    lines: [
      ['1910', 'bank_clearing', amount],
      ['1700', 'receivable', `-${amount}`],
    ],
  });
}

export function reversal(entryId: string, of: DraftEntry): DraftEntry {
  return { ...of, reason: 'source_changed', reverses: entryId, inputHash: entryId, lines: reversedLines(of.lines) };
}
