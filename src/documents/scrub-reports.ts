import { rowsAsArrays } from '../db/bulk.ts';
import { type Connection, execute } from '../db/rows.ts';
import { type Money, sum } from '../domain/money.ts';
import type { DocumentRef } from '../terms.ts';
import { documentRefTypes } from './document.ts';

/** A remark about a document, with the amount that it is about. */
export interface Remark {
  code: string;
  message: string;
  amount?: Money;
}

export interface ReportedDocument extends DocumentRef {
  reports: readonly Remark[];
}

/** The remark that the scrub makes. Judging a document does not remove it. */
export const scrubReport = 'changed_unseen';

const reportTypes = { ...documentRefTypes, code: 'text', message: 'text', amount: 'numeric' } as const;

/** Replaces the remarks of documents, one row for each code. A remark that stays keeps the time when it was found. */
export async function saveReports(
  trx: Connection,
  installation: number,
  documents: readonly ReportedDocument[],
): Promise<void> {
  const reports = rowsAsArrays('report', reportTypes, documents.flatMap(reportsByCode));
  const judged = rowsAsArrays(
    'judged',
    documentRefTypes,
    documents.map(({ kind, id }) => ({ kind, id })),
  );
  await execute(
    trx,
    `delete from document_report r using ${judged.from}
     where r.installation = ? and r.kind = judged.kind and r.id = judged.id and r.code <> ? and not exists (
       select from ${reports.from} where report.kind = r.kind and report.id = r.id and report.code = r.code)`,
    [...judged.bindings, installation, scrubReport, ...reports.bindings],
  );
  if (documents.every((document) => document.reports.length === 0)) return;
  await execute(
    trx,
    `insert into document_report (installation, kind, id, code, message, amount)
     select ?, report.kind, report.id, report.code, report.message, report.amount from ${reports.from}
     on conflict (installation, kind, id, code) do update set message = excluded.message, amount = excluded.amount`,
    [installation, ...reports.bindings],
  );
}

/** Stores what a pass of the scrub found about documents. It replaces the findings of earlier passes. */
export async function reportScrubbed(
  trx: Connection,
  installation: number,
  passBeganAt: Date,
  documents: readonly (DocumentRef & { message: string })[],
): Promise<void> {
  const reports = rowsAsArrays(
    'report',
    { ...documentRefTypes, message: 'text' },
    documents.map(({ kind, id, message }) => ({ kind, id, message })),
  );
  await execute(
    trx,
    `insert into document_report as r (installation, kind, id, code, message)
     select ?, report.kind, report.id, ?, report.message from ${reports.from}
     on conflict (installation, kind, id, code) do update set since = excluded.since, message = case
       when r.since < ? then excluded.message
       when r.message = excluded.message or r.message like '%; ' || excluded.message then r.message
       else r.message || '; ' || excluded.message end`,
    [installation, scrubReport, ...reports.bindings, passBeganAt],
  );
}

/**
 * Removes the scrub's remarks from before an instant. A complete pass since then has found nothing more about these
 * documents.
 */
export async function withdrawScrubReports(trx: Connection, installation: number, before: Date): Promise<void> {
  await execute(trx, 'delete from document_report where installation = ? and code = ? and since < ?', [
    installation,
    scrubReport,
    before,
  ]);
}

function reportsByCode({ kind, id, reports }: ReportedDocument) {
  const byCode = [...Map.groupBy(reports, ({ code }) => code)];
  return byCode.map(([code, found]) => {
    const amounts = found.flatMap(({ amount }) => amount ?? []);
    const amount = amounts.length === 0 ? null : sum(amounts).toFixed();
    return { kind, id, code, message: found.map(({ message }) => message).join('; '), amount };
  });
}
