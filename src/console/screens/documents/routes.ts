import { LedgerError } from '../../../ledger/ledger-error.ts';
import { explainDocument } from '../../../queries/explain.ts';
import { explainSummary, summaryOfCode } from '../../../queries/explain-summary.ts';
import { findDocuments } from '../../../queries/found-documents.ts';
import { documentKinds } from '../../../terms.ts';
import type { Answer, InstallationRequest, Route } from '../../route.ts';
import { documentPage } from './document.ts';
import { summaryPage } from './summary.ts';

const access = { who: 'read_books', in: 'installation' } as const;

/** A document: why is it in the books like this? */
export const documentsRoutes: readonly Route[] = [
  { method: 'GET', path: '/:installation/documents/:kind/:id', access, audit: 'nothing', answer: showDocument },
  { method: 'GET', path: '/:installation/summaries/:day/:n', access, audit: 'nothing', answer: showSummary },
];

async function showDocument({ db, installation, params }: InstallationRequest): Promise<Answer> {
  const { id = '' } = params;
  const kind = documentKinds.find((known) => known === params.kind);
  if (kind === undefined || !/^\d{1,15}$/.test(id)) return { missing: true };
  const [found] = await findDocuments(db, [installation.id], { kind, id: Number(id) });
  if (found === undefined) return { missing: true };
  return { page: documentPage(await explainDocument(db, installation, found)) };
}

async function showSummary({ db, installation, params: { day, n } }: InstallationRequest): Promise<Answer> {
  const asked = summaryOfCode(`${installation.id}/summary/${day}/${n}`);
  if (asked === null) return { missing: true };
  try {
    return { page: summaryPage(await explainSummary(db, installation, asked.summary)) };
  } catch (error) {
    if (error instanceof LedgerError && error.code === 'entry_missing') return { missing: true };
    throw error;
  }
}
