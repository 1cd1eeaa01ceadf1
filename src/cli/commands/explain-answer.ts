import { z } from 'zod';
import { signed } from '../../domain/entry.ts';
import { formatMoney } from '../../domain/money.ts';
import type { EntryRecord } from '../../ledger/journal/entry-records.ts';
import { lateDecisions } from '../../posting/types.ts';
import { amount, date, instant, plainError, remark } from '../../queries/answer.ts';
import type { UnitDelivery } from '../../queries/delivery-status.ts';
import type { Explanation } from '../../queries/explain.ts';
import { readJson } from '../../records/json.ts';
import type { DocumentKind } from '../../terms.ts';
import { entryAnswer, linesAnswer } from '../render/entry.ts';

const documentRef = z.strictObject({ kind: z.enum(['invoice', 'payment', 'prepayment']), id: z.number() });

export const deliveryAnswer = z.strictObject({
  unit: z.string(),
  state: z.string(),
  needs_approval: z.boolean(),
  erp_id: z.string().nullable(),
  erp_number: z.string().nullable(),
  erp_date: date.nullable(),
  settled_at: instant.nullable(),
  problem: plainError.extend({ since: instant.nullable() }).nullable(),
  /** The undos of this delivery in the ERP, and the new deliveries after them. */
  undos: z.array(z.unknown()).optional(),
});

/** The mapping that an entry was posted by. */
export const mappingAnswer = z.strictObject({
  hash: z.string(),
  version: z.string().nullable(),
  approved_by: z.string().nullable(),
});

export const documentAnswer = z.strictObject({
  installation: z.number(),
  document: documentRef,
  state: z.string(),
  document_date: date.nullable(),
  problem: plainError.extend({ since: instant.nullable() }).nullable(),
  reports: z.array(remark),
  decisions: z.array(
    z.strictObject({
      decision: z.enum(lateDecisions),
      by: z.string(),
      at: instant,
      reason: z.string(),
      holds: z.boolean(),
      standing: z.enum(['holds', 'replaced', 'earlier_version', 'late_no_more']),
    }),
  ),
  timezone: z.string(),
  consultation: z.strictObject({ id: z.number(), url: z.string().nullable() }).nullable(),
  likely_cancels: z.string().nullable(),
  likely_cancelled_by: z.string().nullable(),
  refunds: z.array(z.strictObject({ document: z.string(), amount })),
  uses: z.array(
    z.strictObject({
      document: z.string(),
      invoice: z.string().nullable(),
      prepayment: z.string().nullable(),
      amount,
      state: z.enum(['set', 'open', 'matched', 'cancelled']),
      set_by: z.string().nullable(),
      set_at: instant.nullable(),
      set_reason: z.string().nullable(),
    }),
  ),
  /** What the payment or latest day makes due with VAT on payment, and why. */
  vat_due: z
    .array(
      z.strictObject({
        ...{ invoice: z.number(), number: z.string().nullable(), group: z.string().nullable() },
        ...{ rate: z.string().nullable(), vat: amount, total: amount, paid: z.string(), due: amount },
        ...{ due_before: amount, moved: amount, base: amount, all: z.boolean() },
      }),
    )
    .optional(),
  related: z.array(
    z.strictObject({
      document: z.string(),
      state: z.string(),
      code: z.string().nullable(),
      entry: z.string().nullable(),
    }),
  ),
  source: z.array(
    z.strictObject({
      version: z.number(),
      current: z.boolean(),
      modified: instant.nullable(),
      read_at: instant,
      gone_at: instant.nullable(),
      record: z.record(z.string(), z.unknown()),
    }),
  ),
  judgement: z
    .strictObject({
      state: z.string(),
      code: z.string().nullable(),
      proofs: z.array(z.strictObject({ proof: z.string(), holds: z.boolean().nullable(), says: z.string() })),
    })
    .nullable(),
  entries: z.array(
    entryAnswer.extend({
      in_force: z.boolean(),
      /** Of a reversal: what the entry after it has changed. */
      changes: z.array(z.strictObject({ field: z.string(), old: z.string().nullable(), new: z.string().nullable() })),
      original_number: z.string().nullable(),
      posting_mode: z.enum(['document', 'daily_summary']),
      summary: z.string().nullable(),
      summary_voucher: z.string().nullable(),
      delivery: deliveryAnswer.nullable(),
      vat_period: z.string(),
      late: z.boolean(),
      voucher: z.string().nullable(),
      recorded_at: instant.nullable(),
      window: z.number().nullable(),
      mapping: mappingAnswer.nullable(),
      seq: z.number(),
      hash: z.string(),
      lines: z.array(
        linesAnswer.element.extend({
          internal: z.array(z.string().nullable()),
          payment_type: z.number().nullable(),
          document_number: z.string().nullable(),
          due_date: date.nullable(),
          bank_reference: z.string().nullable(),
          rows: z.array(z.number()),
        }),
      ),
    }),
  ),
  write_back: z
    .strictObject({
      entry_id: z.string(),
      value: z.string().nullable(),
      state: z.string(),
      confirmed: z.boolean(),
      previous_value: z.string().nullable(),
      error: z.string().nullable(),
      written_at: instant.nullable(),
    })
    .nullable(),
});

export function deliveryOf([delivery, ...undos]: UnitDelivery[] = []): object | null {
  if (delivery === undefined) return null;
  const { unit, state, needsApproval, erpId, erpNumber, erpDate, settledAt, problem } = delivery;
  return {
    unit,
    state,
    needs_approval: needsApproval,
    ...{ erp_id: erpId, erp_number: erpNumber, erp_date: erpDate },
    settled_at: settledAt,
    problem,
    ...(undos.length > 0 ? { undos: undos.map((undo) => deliveryOf([undo])) } : {}),
  };
}

function documentId(kind: DocumentKind, id: number | null): string | null {
  return id === null ? null : `${kind} ${id}`;
}

function recordDocument(record: EntryRecord | undefined) {
  const { voucher = null, recordedAt = null, windowId = null, mapping = null } = record ?? {};
  return {
    ...{ voucher, recorded_at: recordedAt, window: windowId },
    mapping: mapping && { hash: mapping.hash, version: mapping.version, approved_by: mapping.approvedBy },
  };
}

/** The JSON of an explanation. The source's records are as received. */
export function explanationDocument(explanation: Explanation) {
  const { versions, judgement, entries, decimals, writeBack } = explanation;
  return {
    installation: explanation.installation,
    document: explanation.document,
    state: explanation.state,
    document_date: explanation.documentDate,
    problem: explanation.problem,
    reports: explanation.reports,
    decisions: explanation.decisions.map(({ decision, by, at, reason, holds, standing }) => ({
      decision,
      by,
      at,
      reason,
      holds,
      standing,
    })),
    timezone: explanation.timezone,
    consultation: explanation.origin && { id: explanation.origin.consultation, url: explanation.origin.url },
    likely_cancels: documentId('payment', explanation.pair.cancels),
    likely_cancelled_by: documentId('payment', explanation.pair.cancelledBy),
    refunds: explanation.refunds.map(({ id, amount }) => ({
      document: `prepayment ${id}`,
      amount: formatMoney(amount, decimals),
    })),
    ...(explanation.due.length === 0
      ? {}
      : {
          vat_due: explanation.due.map((move) => ({
            ...{ invoice: move.invoiceId, number: move.number, group: move.group, rate: move.rate?.toFixed() ?? null },
            ...{
              vat: formatMoney(move.vat, decimals),
              total: formatMoney(move.total, decimals),
              paid: move.paid.toFixed(),
              due: formatMoney(move.due, decimals),
            },
            ...{
              due_before: formatMoney(move.dueBefore, decimals),
              moved: formatMoney(move.moved, decimals),
              base: formatMoney(move.base, decimals),
              all: move.isAll,
            },
          })),
        }),
    uses: [...explanation.uses, ...explanation.match].map((use) => ({
      document: `payment ${use.paymentId}`,
      invoice: documentId('invoice', use.invoiceId),
      prepayment: documentId('prepayment', use.prepaymentId),
      amount: formatMoney(use.amount, decimals),
      state: use.state,
      ...{ set_by: use.setBy, set_at: use.setAt, set_reason: use.setReason },
    })),
    related: explanation.related.map(({ kind, id, state, problemCode, entryId }) => ({
      document: `${kind} ${id}`,
      state,
      code: problemCode,
      entry: entryId,
    })),
    source: versions.map(({ version, modified, sourceTime, goneAt, current, raw }) => ({
      version,
      current,
      modified,
      read_at: sourceTime,
      gone_at: goneAt,
      record: readJson(raw),
    })),
    judgement: judgement && {
      state: judgement.state,
      code: judgement.problem?.code ?? null,
      proofs: explanation.proofs,
    },
    entries: entries.map((entry) => ({
      id: entry.id,
      in_force: entry.id === explanation.inForce,
      posting_mode: entry.postingMode,
      summary: explanation.summaries.get(entry.id)?.id ?? null,
      summary_voucher: explanation.summaries.get(entry.id)?.voucher ?? null,
      delivery: deliveryOf(explanation.deliveries.get(explanation.summaries.get(entry.id)?.id ?? entry.id)),
      date: entry.date,
      document_date: entry.documentDate,
      vat_period: entry.vatPeriod,
      late: entry.isLate,
      ...recordDocument(explanation.records.get(entry.id)),
      reason: entry.reason,
      reverses: entry.reverses,
      changes: explanation.changes.get(entry.id) ?? [],
      original: entry.original,
      original_number: entry.original && (explanation.numbers.get(entry.original.id) ?? null),
      description: entry.description,
      seq: entry.seq,
      hash: entry.hash,
      lines: entry.lines.map((line) => ({
        account: line.account,
        name: explanation.names.nameOf(line.account, line.role),
        role: line.role,
        amount: formatMoney(signed(line), decimals),
        rule: line.rule,
        mapped_by: line.mappedBy,
        party: line.party?.code ?? null,
        department: line.departmentId,
        dimensions: line.dimensions,
        internal: [line.internal.account, line.internal.dimension1, line.internal.dimension2],
        payment_type: line.paymentType,
        document_number: line.documentNumber,
        due_date: line.dueDate,
        bank_reference: line.bankReference,
        rows: line.rowIds,
        vat: line.vat && {
          group: line.vat.group,
          rate: line.vat.rate?.toFixed() ?? null,
          base: line.vat.base?.toFixed() ?? null,
        },
      })),
    })),
    write_back: writeBack && {
      entry_id: writeBack.entryId,
      value: writeBack.value,
      state: writeBack.state,
      confirmed: writeBack.confirmed,
      previous_value: writeBack.previousValue,
      error: writeBack.error,
      written_at: writeBack.writtenAt,
    },
  };
}
