import type { DocumentRef, InstallationId } from '../../../terms.ts';
import { local } from '../../html.ts';

/** The address of a document's page. */
export function documentPath(installation: InstallationId, { kind, id }: DocumentRef): string {
  return local(`/${installation}/documents/${kind}/${id}`);
}

/** The address of an entry: its place on the page of its document. */
export function entryPath(entry: string): string {
  const [installation, kind, id, n] = entry.split('/');
  return `${local(`/${installation}/documents/${kind}/${id}`)}#entry-${n}`;
}

/** The address of a daily summary's page; `summary` is its id, such as `4711/summary/2026-03-31-11/1`. */
export function summaryPath(summary: string): string {
  const [installation, , day, n] = summary.split('/');
  return local(`/${installation}/summaries/${day}/${n}`);
}
