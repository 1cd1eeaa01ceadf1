import { hash } from 'node:crypto';
import type { LedgerEntry, Line, Party } from '../../domain/entry.ts';
import type { Money } from '../../domain/money.ts';

/** `previousHash` of an installation's first entry. */
export const chainStart = '0'.repeat(64);

/** An amount as hashed: without trailing zeros, since a restored database may drop them (`1.50` is `1.5`). */
export function canonicalAmount(amount: Money | null): string | null {
  return amount === null ? null : amount.toFixed();
}

/** The hashed facts of a party. They do not include the name, so that it can be erased. */
function partyText(party: Party | null): unknown {
  return party && [party.code, party.vatNumber, party.countryCode];
}

function lineText(line: Line): unknown {
  return [
    line.account,
    line.role,
    line.side,
    canonicalAmount(line.amount),
    line.rule,
    line.mappedBy,
    partyText(line.party),
    line.departmentId,
    line.dimensions,
    [line.internal.account, line.internal.dimension1, line.internal.dimension2],
    line.invoiceId,
    line.paymentType,
    line.documentNumber,
    line.dueDate,
    line.bankReference,
    line.vat && [line.vat.group, canonicalAmount(line.vat.rate), canonicalAmount(line.vat.base)],
    line.rowIds,
  ];
}

/** The text of an entry that is hashed: all its facts and lines, but not when or by which window it was written. */
export function canonicalEntry(entry: Omit<LedgerEntry, 'hash' | 'previousHash'>): string {
  return JSON.stringify([
    entry.id,
    entry.seq,
    entry.date,
    entry.documentDate,
    entry.reason,
    entry.description,
    entry.reverses,
    entry.original && [entry.original.kind, entry.original.id],
    entry.idempotencyKey,
    entry.inputHash,
    entry.lines.map(lineText),
    entry.postingMode,
    entry.vatPeriod,
    entry.isLate,
    entry.mappingHash,
  ]);
}

/** sha256 of the previous hash and the entry's canonical text, in hex. */
export function entryHash(previousHash: string, entry: Omit<LedgerEntry, 'hash' | 'previousHash'>): string {
  return hash('sha256', `${previousHash}\n${canonicalEntry(entry)}`);
}
