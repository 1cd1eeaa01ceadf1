import { type DraftEntry, type EntryReason, type LineFields, lineOf } from '../../src/domain/entry.ts';
import { Money } from '../../src/domain/money.ts';
import type { DocumentKind, LineRole } from '../../src/terms.ts';

/** `[account, role, signed amount, tags]`; debits are positive. */
export type DraftLine = [account: string, role: LineRole, amount: string, tags?: Partial<LineFields>];

export function party(clientId: number) {
  return { code: `client:${clientId}`, name: `Client ${clientId}`, vatNumber: null, countryCode: 'FI' };
}

export interface DraftFields {
  kind: DocumentKind;
  id: number;
  date: string;
  documentDate?: string;
  description?: string;
  reason?: EntryReason;
  reverses?: string;
  inputHash?: string;
  original?: number;
  lines: DraftLine[];
}

/** An entry with the given fields. */
export function draft(fields: DraftFields): DraftEntry {
  return {
    document: { kind: fields.kind, id: fields.id },
    date: fields.date,
    documentDate: fields.documentDate ?? fields.date,
    description: fields.description ?? `${fields.kind} ${fields.id}`,
    reason: fields.reason ?? 'posted',
    reverses: fields.reverses ?? null,
    original: fields.original === undefined ? null : { kind: 'invoice', id: fields.original },
    inputHash: fields.inputHash ?? `facts of ${fields.kind} ${fields.id}`,
    lines: fields.lines.map(
      ([account, role, amount, tags]) =>
        lineOf(new Money(amount), { account, role, rule: 'R1', mappedBy: `roles.${role}`, ...tags })!,
    ),
  };
}
