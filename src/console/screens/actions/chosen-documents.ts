import type { InstallationConfig } from '../../../config/load-config.ts';
import type { Connection } from '../../../db/rows.ts';
import { openItems } from '../../../queries/to-decide.ts';
import { type DocumentRef, documentKinds } from '../../../terms.ts';
import { filterOf } from '../decide/filter.ts';
import type { Fields } from './effect-form.ts';

/** The documents that fields name: in `documents=invoice/1,payment/2`, or as fields of boxes such as `invoice/1`. */
export function namedDocuments(fields: Fields): string {
  const boxes = Object.keys(fields).filter((name) => documentOf(name) !== null);
  const listed = (fields.documents ?? '').split(',').filter((name) => name !== '');
  return [...new Set([...listed, ...boxes])].join(',');
}

/** A document by its name, such as `invoice/1`. Null if the text is no name. */
export function documentOf(text: string): DocumentRef | null {
  const [, name, id] = /^(\w+)\/([1-9]\d{0,14})$/.exec(text) ?? [];
  const kind = documentKinds.find((known) => known === name);
  return kind === undefined ? null : { kind, id: Number(id) };
}

/** The documents that fields name, or else those of the screen To decide that meet the filter in the fields. Null for a text that names none. */
export async function documentsOf(
  db: Connection,
  installation: InstallationConfig,
  fields: Fields,
  clock: () => Date,
): Promise<DocumentRef[] | null> {
  const names = namedDocuments(fields);
  if (names !== '') {
    const documents = names.split(',').map(documentOf);
    return documents.includes(null) ? null : documents.flatMap((each) => each ?? []);
  }
  const { filter, unread } = filterOf(fields);
  if (unread.length > 0 || Object.keys(filter).length === 0) return null;
  const items = await openItems(db, installation, filter, clock);
  const found = items.flatMap(({ id }) => documentOf(id.slice(id.indexOf('/') + 1)) ?? []);
  return [...new Map(found.map((each) => [`${each.kind}/${each.id}`, each])).values()];
}
