import { date, integer, json, nullable, oneOf } from '../db/columns.ts';
import { type Connection, rows } from '../db/rows.ts';
import { readRecord } from '../mirror/read.ts';
import type { Dialect } from '../records/dialect.ts';
import { numberKey, printedNumber } from '../records/printed-number.ts';
import {
  type CalendarDate,
  type DocumentKind,
  type DocumentRef,
  type DocumentState,
  documentKinds,
  documentStates,
  type InstallationId,
} from '../terms.ts';

/** A document that a search text may refer to. */
export interface Candidate extends DocumentRef {
  installation: InstallationId;
  state: DocumentState;
  documentDate: CalendarDate | null;
  /** Number with prefix as in the source; null if the document was found by its id. */
  number: string | null;
}

/** The document that a code names. `entry` is the code if it names an entry; null otherwise. */
export interface CodedDocument extends DocumentRef {
  installation: InstallationId;
  entry: string | null;
}

export interface SearchedInstallation {
  id: InstallationId;
  dialect: Dialect;
}

/** Limit of candidates per installation. */
const candidatesAtMost = 20;

/**
 * Parses an entry code (`4711/invoice/1001/1`) or a document id as `problems` prints it (`4711/invoice/1001`); null for
 * another text.
 */
export function documentOfCode(code: string): CodedDocument | null {
  const [, installation, kindText, id, n] = /^(\d{1,15})\/([a-z]+)\/(\d{1,15})(?:\/(\d+))?$/.exec(code) ?? [];
  const kind = documentKinds.find((known) => known === kindText);
  return kind === undefined
    ? null
    : { installation: Number(installation), kind, id: Number(id), entry: n === undefined ? null : code };
}

/** Finds invoices by their number in the mirror, posted or not, with and without prefix and with any separator. */
async function invoicesNumbered(
  db: Connection,
  installations: readonly SearchedInstallation[],
  asked: string,
): Promise<Candidate[]> {
  const key = numberKey(asked);
  if (key === '') return [];
  // The key of the number is the end of the text: what comes before it may be the prefix.
  const ends = Array.from(key, (_, at) => key.slice(at));
  const found: Candidate[] = [];
  for (const { id: installation, dialect } of installations) {
    const invoices = await rows(
      db,
      { id: integer, state: oneOf(documentStates), documentDate: nullable(date), raw: json },
      `select d.id, d.state, d.document_date as "documentDate", m.raw
       from mirror_record m join document d on d.installation = m.installation and d.kind = m.kind and d.id = m.id
       where m.installation = ? and m.kind = 'invoice' and m.number_key is not null and m.number_key = any(?::text[])
       order by d.id`,
      [installation, ends],
    );
    const named = invoices.flatMap(({ raw, ...invoice }): Candidate[] => {
      const { prefix, number } = readRecord('invoice', raw, dialect);
      const isNamed = number !== null && [number, `${prefix ?? ''}${number}`].some((each) => numberKey(each) === key);
      return isNamed ? [{ ...invoice, kind: 'invoice', installation, number: printedNumber({ prefix, number }) }] : [];
    });
    found.push(...named.slice(0, candidatesAtMost));
  }
  return found;
}

/** Documents with this id, of one kind or of any. */
async function documentsWithId(
  db: Connection,
  installations: readonly InstallationId[],
  kind: DocumentKind | null,
  id: number,
): Promise<Candidate[]> {
  const found = await rows(
    db,
    {
      ...{ installation: integer, kind: oneOf(documentKinds), id: integer, state: oneOf(documentStates) },
      documentDate: nullable(date),
    },
    `select installation, kind, id, state, document_date as "documentDate" from document
     where installation = any(?) and kind = any(?::text[]) and id = ? order by installation, kind`,
    [installations, kind === null ? [...documentKinds] : [kind], id],
  );
  return found.map((each) => ({ ...each, number: null }));
}

/**
 * The documents that a text may name, by installation: those with this id, and invoices with this number. A document that is found
 * both ways is only in `withId`. Without a kind, documents of any kind are found.
 */
export async function documentsNamed(
  db: Connection,
  installations: readonly SearchedInstallation[],
  kind: DocumentKind | null,
  text: string,
): Promise<{ withId: Candidate[]; numbered: Candidate[] }> {
  const ids = installations.map(({ id }) => id);
  const withId = /^\d{1,15}$/.test(text) ? await documentsWithId(db, ids, kind, Number(text)) : [];
  const mayBeNumber = kind === null || kind === 'invoice';
  const numbered = mayBeNumber ? await invoicesNumbered(db, installations, text) : [];
  return { withId, numbered: numbered.filter((one) => !withId.some((known) => isSame(one, known))) };
}

function isSame(one: Candidate, other: Candidate): boolean {
  return one.installation === other.installation && one.kind === other.kind && one.id === other.id;
}
