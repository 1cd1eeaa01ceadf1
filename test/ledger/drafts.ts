import { type DraftEntry, type EntryReason, type LineFields, lineOf } from '../../src/domain/entry.ts';
import { Money } from '../../src/domain/money.ts';
import type { DailySummary, DraftSummary } from '../../src/ledger/summaries/summary.ts';
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

/** A summary as the ledger returns it: the first one of its fiscal year, made at noon of the next day. */
export function recordedSummary(summary: DraftSummary, installation: number, id: string): DailySummary {
  const recordedAt = new Date(Date.parse(`${summary.date}T12:00:00Z`) + 86_400_000);
  const fiscalYear = Number(summary.date.slice(0, 4));
  const record = { voucher: `${fiscalYear}-D-000001`, recordedAt, windowId: null, mappings: [] };
  const place = { fiscalYear, voucherNumber: 1, n: 1, seq: 1, previousHash: '', hash: '' };
  return { ...summary, ...place, id, installation, record };
}
