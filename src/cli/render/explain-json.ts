import { signed } from '../../domain/entry.ts';
import { formatMoney } from '../../domain/money.ts';
import type { EntryRecord } from '../../ledger/journal/records.ts';
import type { UnitDelivery } from '../../queries/deliveries.ts';
import type { Explanation } from '../../queries/explain.ts';
import { parseJson } from '../../records/json.ts';
import type { DocumentKind } from '../../terms.ts';

function deliveryOf([delivery, ...undos]: UnitDelivery[] = []): object | null {
  if (delivery === undefined) return null;
  const { unit, state, needsConsent, erpId, erpNumber, erpDate, settledAt, problem } = delivery;
  return {
    unit,
    state,
    needs_consent: needsConsent,
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

/** An explanation as `explain --json` prints it: amounts as text, the source's records as they were received. */
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
      record: parseJson(raw),
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
      summary: explanation.summaries.get(entry.id) ?? null,
      delivery: deliveryOf(explanation.deliveries.get(explanation.summaries.get(entry.id) ?? entry.id)),
      date: entry.date,
      document_date: entry.documentDate,
      vat_period: entry.vatPeriod,
      late: entry.isLate,
      ...recordDocument(explanation.records.get(entry.id)),
      reason: entry.reason,
      reverses: entry.reverses,
      original: entry.original,
      description: entry.description,
      seq: entry.seq,
      hash: entry.hash,
      lines: entry.lines.map((line) => ({
        account: line.account,
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
