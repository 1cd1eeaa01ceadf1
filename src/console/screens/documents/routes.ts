import { LedgerError } from '../../../ledger/ledger-error.ts';
import { explainDocument } from '../../../queries/explain.ts';
import { explainSummary, summaryOfCode } from '../../../queries/explain-summary.ts';
import { documentOfCode, documentsNamed } from '../../../queries/find-document.ts';
import { findDocuments } from '../../../queries/found-documents.ts';
import { documentKinds } from '../../../terms.ts';
import type { Answer, InstallationRequest, Route } from '../../route.ts';
import { documentPage } from './document.ts';
import { documentPath, entryPath, summaryPath } from './links.ts';
import { searchPage } from './search.ts';
import { summaryPage } from './summary.ts';

const access = { who: 'read_books', in: 'installation' } as const;

/** Documents: which ones have this id or number, and why is one in the books like this? */
export const documentsRoutes: readonly Route[] = [
  { method: 'GET', path: '/:installation/documents', access, audit: 'nothing', answer: search },
  { method: 'GET', path: '/:installation/documents/:kind/:id', access, audit: 'nothing', answer: showDocument },
  { method: 'GET', path: '/:installation/summaries/:day/:n', access, audit: 'nothing', answer: showSummary },
];

/** A text of this length names no document. */
const longestText = 100;

/** One document opens at once. Several documents with the same id or number are listed. */
async function search({ db, installation, query }: InstallationRequest): Promise<Answer> {
  const { id } = installation;
  const text = (query.q ?? '').trim().slice(0, longestText);
  const summary = summaryOfCode(text);
  if (summary?.installation === id) return { redirect: summaryPath(summary.summary) };
  const coded = documentOfCode(text);
  if (coded?.installation === id)
    return { redirect: coded.entry === null ? documentPath(id, coded) : entryPath(coded.entry) };
  const [, first = '', rest = ''] = /^(\w+)[ /](\S+)$/.exec(text) ?? [];
  const kind = documentKinds.find((known) => known === first) ?? null;
  const { withId, numbered } = await documentsNamed(db, [installation], kind, kind === null ? text : rest);
  const found = kind !== null && withId.length > 0 ? withId : [...withId, ...numbered];
  const [only, ...others] = found;
  if (only !== undefined && others.length === 0) return { redirect: documentPath(id, only) };
  return { page: searchPage(id, text, found) };
}

async function showDocument({ db, installation, params, rights }: InstallationRequest): Promise<Answer> {
  const { id = '' } = params;
  const kind = documentKinds.find((known) => known === params.kind);
  if (kind === undefined || !/^\d{1,15}$/.test(id)) return { missing: true };
  const [found] = await findDocuments(db, [installation.id], { kind, id: Number(id) });
  if (found === undefined) return { missing: true };
  return { page: documentPage(await explainDocument(db, installation, found), rights) };
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
