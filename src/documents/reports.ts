import { rowsAsArrays } from '../db/bulk.ts';
import { type Connection, execute } from '../db/rows.ts';
import type { DocumentRef } from '../terms.ts';
import { documentRefTypes } from './document.ts';

export interface ReportedDocument extends DocumentRef {
  reports: readonly { code: string; message: string }[];
}

const reportTypes = { ...documentRefTypes, code: 'text', message: 'text' } as const;

/** Replaces what is reported beside documents, one row for each code; a report that stays keeps the instant when it was found. */
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
     where r.installation = ? and r.kind = judged.kind and r.id = judged.id and not exists (
       select from ${reports.from} where report.kind = r.kind and report.id = r.id and report.code = r.code)`,
    [...judged.bindings, installation, ...reports.bindings],
  );
  if (documents.every((document) => document.reports.length === 0)) return;
  await execute(
    trx,
    `insert into document_report (installation, kind, id, code, message)
     select ?, report.kind, report.id, report.code, report.message from ${reports.from}
     on conflict (installation, kind, id, code) do update set message = excluded.message`,
    [installation, ...reports.bindings],
  );
}

function reportsByCode({ kind, id, reports }: ReportedDocument) {
  const byCode = [...Map.groupBy(reports, ({ code }) => code)];
  return byCode.map(([code, found]) => ({ kind, id, code, message: found.map(({ message }) => message).join('; ') }));
}
