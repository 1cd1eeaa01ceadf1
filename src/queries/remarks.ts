import type { InstallationConfig } from '../config/load-config.ts';
import { date, instant, integer, nullable, numeric, oneOf, text } from '../db/columns.ts';
import { type Connection, rows } from '../db/rows.ts';
import { formatExact, Money } from '../domain/money.ts';
import { todoOf } from '../domain/problem-texts.ts';
import { type CalendarDate, documentKinds, type InstallationId } from '../terms.ts';
import { type WhoAndWhere, whoAndWhere } from './problem-documents.ts';

/** The remarks with one code: the number of their documents, and the sum of the amounts concerned. */
export interface RemarkCount {
  installation: InstallationId;
  code: string;
  count: number;
  /** The sum of the amounts. Null if the code is about no amount. */
  amount: string | null;
  todo: string;
}

/** A document with a remark. */
export interface RemarkedDocument extends Pick<WhoAndWhere, 'number' | 'customer' | 'department'> {
  client_id: number | null;
  id: string;
  installation: InstallationId;
  document: string;
  code: string;
  message: string;
  amount: string | null;
  date: CalendarDate | null;
  since: Date;
}

type Installation = Pick<InstallationConfig, 'id' | 'decimals' | 'dialect'>;

/** The remarks of these installations by code, the most frequent first. With `through`, of documents dated up to that day. */
export async function remarksByCode(
  db: Connection,
  installations: readonly Pick<Installation, 'id' | 'decimals'>[],
  through: CalendarDate | null = null,
): Promise<RemarkCount[]> {
  const found = await rows(
    db,
    { installation: integer, code: text, count: integer, amount: nullable(numeric) },
    `select r.installation, r.code, count(*)::int as count, sum(r.amount) as amount
     from document_report r left join document d using (installation, kind, id)
     where r.installation = any(?) and (d.document_date is null or d.document_date <= coalesce(?::date, 'infinity'))
     group by r.installation, r.code order by r.installation, count(*) desc, r.code`,
    [installations.map(({ id }) => id), through],
  );
  const decimalsOf = new Map(installations.map(({ id, decimals }) => [id, decimals]));
  return found.map(({ amount, ...each }) => ({
    ...each,
    amount: shown(amount, decimalsOf.get(each.installation) ?? 0),
    todo: todoOf(each.code),
  }));
}

/** The documents with a remark of this code, the oldest first. Without `areNamed`, without what their records say. */
export async function remarkedDocuments(
  db: Connection,
  installations: readonly Installation[],
  code: string,
  { areNamed = true }: { areNamed?: boolean } = {},
): Promise<RemarkedDocument[]> {
  const documents: RemarkedDocument[] = [];
  for (const { id: installation, decimals, dialect } of installations) {
    const found = await rows(
      db,
      {
        ...{ kind: oneOf(documentKinds), id: integer, message: text, amount: nullable(numeric) },
        ...{ date: nullable(date), since: instant },
      },
      `select r.kind, r.id, r.message, r.amount, d.document_date as date, r.since
       from document_report r left join document d using (installation, kind, id)
       where r.installation = ? and r.code = ? order by d.document_date nulls first, r.kind, r.id`,
      [installation, code],
    );
    const parties = await whoAndWhere(db, installation, dialect, areNamed ? found : []);
    for (const { kind, id, amount, ...each } of found) {
      const party = parties.get(`${kind}/${id}`) ?? unknownParty;
      documents.push({
        ...{ id: `${installation}/${kind}/${id}`, installation, document: `${kind} ${id}`, code, ...each },
        amount: shown(amount, decimals),
        ...{ number: party.number, customer: party.customer, department: party.department, client_id: party.clientId },
      });
    }
  }
  return documents;
}

const unknownParty: WhoAndWhere = { customer: '', department: null, clientId: null, number: null, invoiceTotal: null };

function shown(amount: string | null, decimals: number): string | null {
  return amount === null ? null : formatExact(new Money(amount), decimals);
}
