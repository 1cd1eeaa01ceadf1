import type { InstallationConfig } from '../config/load-config.ts';
import { date, instant, integer, json, nullable, numeric, oneOf, text } from '../db/columns.ts';
import { type Connection, row, rows } from '../db/rows.ts';
import { hasOpenProblem } from '../documents/document.ts';
import type { ProblemDetails } from '../documents/save.ts';
import { formatExact, Money } from '../domain/money.ts';
import { todoOf } from '../domain/problem-texts.ts';
import { isUnusable } from '../mirror/put-unusable-aside.ts';
import { writeBackFindings } from '../reconcile/e10-write-backs.ts';
import { readAccountNames } from '../reports/account-names.ts';
import { type CalendarDate, documentKinds, type InstallationId, recordKinds } from '../terms.ts';
import { problemTexts } from '../texts/findings/problems.ts';
import { givenUp, givenUpWriteBacks } from '../writeback/questions.ts';
import { whoAndWhere } from './problem-documents.ts';

/** A problem, as `problems --json` prints it (DESIGN "Commands"). */
export interface DocumentProblem {
  /** `<installation>/<kind>/<id>`, for `problems retry`; `<installation>/<kind>/source_shrank` for many documents. */
  id: string;
  installation: InstallationId;
  /**
   * The name of the document, such as `invoice 123`. For one problem of many documents, their number, such as `27
   * invoices`.
   */
  document: string;
  /** The documents of a problem that concerns many; absent for a problem of one document. */
  documents?: string[];
  code: string;
  message: string;
  todo: string;
  since: Date | null;
  /**
   * Set if the books differ from the source because of the problem; absent for refusals of the ERP and of write-backs.
   */
  outside?: OutsideDocument;
}

/**
 * The effect of a document that is outside the books. Its amounts are those of the source. For a posted document, its
 * amounts are the difference to the posted amounts.
 */
export interface OutsideDocument {
  date: CalendarDate | null;
  /** The number printed on the invoice, or on a payment’s invoice. */
  number: string | null;
  customer: string | null;
  department: number | null;
  amount: string | null;
  vat: string | null;
  /** Whether the document is posted, but has changed in the source. */
  posted: boolean;
  /** Missing things that other documents lack, too; without the document's name. */
  causes: NonNullable<ProblemDetails['causes']>;
  /** Posted facts that have changed in the source. */
  changes: NonNullable<ProblemDetails['changes']>;
  /** The effect of the correction on each account; a debit is positive. */
  effect: (NonNullable<ProblemDetails['effect']>[number] & { name: string | null })[];
}

type Installation = Pick<InstallationConfig, 'id' | 'decimals' | 'dialect' | 'mapping' | 'mappingPath'>;

/**
 * The problems of these installations' documents, oldest first, followed by other records that could not be stored or
 * written back. Without `areNamed`, the number, customer and department of each document are null: a page reads those of its rows.
 */
export async function documentProblems(
  db: Connection,
  installations: readonly Installation[],
  { areNamed = true }: { areNamed?: boolean } = {},
): Promise<DocumentProblem[]> {
  const found: DocumentProblem[] = [];
  for (const installation of installations) found.push(...combined(await outsideDocuments(db, installation, areNamed)));
  const others = await otherProblems(
    db,
    installations.map(({ id }) => id),
  );
  const named = new Set(others.map(({ id }) => id));
  for (const installation of installations) {
    const writeBacks = await writeBackProblems(db, installation);
    others.push(...writeBacks.filter(({ id }) => !named.has(id)));
  }
  return [...found.sort((a, b) => (a.since?.getTime() ?? 0) - (b.since?.getTime() ?? 0)), ...others];
}

async function outsideDocuments(
  db: Connection,
  installation: Installation,
  areNamed: boolean,
): Promise<DocumentProblem[]> {
  const { id, decimals, dialect } = installation;
  const { nameOf } = await readAccountNames(db, installation);
  const found = await rows(
    db,
    {
      kind: oneOf(documentKinds),
      id: integer,
      state: text,
      code: text,
      message: nullable(text),
      since: nullable(instant),
      date: nullable(date),
      amount: nullable(numeric),
      vat: nullable(numeric),
      details: nullable(json),
    },
    `select kind, id, state, problem_code as code, problem_message as message, problem_since as since,
       document_date as date, outside_amount as amount, outside_vat as vat, problem_details as details
     from document where installation = ? and ${hasOpenProblem} order by problem_since, kind, id`,
    [id],
  );
  const parties = await whoAndWhere(db, id, dialect, areNamed ? found : []);
  const shown = (amount: string | null) => (amount === null ? null : formatExact(new Money(amount), decimals));
  return found.map((each) => {
    const { number = null, customer = null, department = null } = parties.get(`${each.kind}/${each.id}`) ?? {};
    const {
      causes = [],
      changes = [],
      effect = [],
    } = (each.details === null ? {} : JSON.parse(each.details)) as ProblemDetails;
    return {
      id: `${id}/${each.kind}/${each.id}`,
      installation: id,
      document: `${each.kind} ${each.id}`,
      code: each.code,
      message: each.message ?? '',
      todo: todoOf(each.code),
      since: each.since,
      outside: {
        ...{ date: each.date, number, customer, department, amount: shown(each.amount), vat: shown(each.vat) },
        ...{ posted: each.state === 'posted', causes, changes },
        effect: effect.map(({ account, amount }) => ({
          ...{ account, name: nameOf(account, null), amount: shown(amount) ?? amount },
        })),
      },
    };
  });
}

const plurals: Record<string, string> = { invoice: 'invoices', payment: 'payments', prepayment: 'prepayments' };

/**
 * If many documents of a list are missing, combines their problems into one (ACCOUNTING "Absence"), at the position of
 * the first of them.
 */
function combined(problems: DocumentProblem[]): DocumentProblem[] {
  const kindOf = ({ document }: DocumentProblem) => document.split(' ')[0] ?? '';
  const many = Map.groupBy(
    problems.filter(({ code }) => code === 'source_shrank'),
    kindOf,
  );
  return problems.flatMap((problem) => {
    if (problem.code !== 'source_shrank') return problem;
    const kind = kindOf(problem);
    const alike = many.get(kind) ?? [];
    if (alike[0] !== problem) return [];
    const { installation } = problem;
    const documents = alike.map(({ document }) => document);
    const list = plurals[kind] ?? kind;
    return {
      ...{ id: `${installation}/${kind}/source_shrank`, installation, document: `${alike.length} ${list}`, documents },
      ...{
        code: problem.code,
        todo: problem.todo.replace('KIND', kind).replace('--number N', `--number ${alike.length}`),
      },
      message: problemTexts.shrank({ list, count: alike.length, first: problem.message }),
      since: problem.since,
    };
  });
}

/** Records put aside that are not documents, and ERP numbers that the source refuses. */
const others = `
  select installation, kind, record::bigint as id, code as problem_code, message as problem_message, since as problem_since
  from put_aside where installation = any(?) and (${isUnusable} or kind = 'row' and parent_id is null)
  union all
  select installation, kind, document_id, error_code, error, error_since
  from write_back where installation = any(?) and error_code is not null`;

async function otherProblems(db: Connection, installations: readonly InstallationId[]): Promise<DocumentProblem[]> {
  const found = await rows(
    db,
    {
      installation: integer,
      // Records without a document are listed on their own: a row that names no invoice, a record without an id.
      kind: oneOf(recordKinds),
      id: integer,
      problem_code: text,
      problem_message: nullable(text),
      problem_since: nullable(instant),
    },
    `${others} order by problem_since, installation, kind, id`,
    [installations, installations],
  );
  return found.map(({ installation, kind, id, problem_code, problem_message, problem_since }) => ({
    id: `${installation}/${kind}/${id}`,
    installation,
    document: id < 0 ? problemTexts.withoutId({ kind }) : `${kind} ${id}`,
    code: problem_code,
    message: problem_message ?? '',
    todo: todoOf(problem_code),
    since: problem_since,
  }));
}

/**
 * Prepayments whose record in the source lacks the value that was written back (E10). A write-back that is still
 * retried is not a problem yet.
 */
async function writeBackProblems(
  db: Connection,
  { id: installation, dialect }: Installation,
): Promise<DocumentProblem[]> {
  const givenUp = await givenUpWriteBacks(db, installation);
  const problems: DocumentProblem[] = [];
  const findings = writeBackFindings(db, installation, dialect, { areAll: false });
  for await (const { prepayment, found, wasShown, message } of findings) {
    if (found !== 'another' && found !== 'lost') continue;
    const unseen = givenUp.get(prepayment);
    if (found === 'lost' && !wasShown && unseen === undefined) continue;
    const code =
      found === 'another' ? 'external_id_of_another' : unseen === undefined ? 'write_back_lost' : 'write_back_unseen';
    problems.push({
      ...{ id: `${installation}/prepayment/${prepayment}`, installation, document: `prepayment ${prepayment}` },
      ...{ code, message, todo: todoOf(code), since: unseen ?? null },
    });
  }
  return problems;
}

/**
 * The number of problems that `documentProblems` lists besides those of held documents. Installations without such
 * problems are left out. A write-back that a later read has confirmed is not counted, because only E10 reads its value
 * again.
 */
export async function countOtherProblems(
  db: Connection,
  installations: readonly InstallationId[],
): Promise<Map<InstallationId, number>> {
  const counts = await rows(
    db,
    { installation: integer, n: integer },
    `select installation, count(distinct (kind, id)) as n from (
       select installation, kind, id from (${others}) o
       union all
       select installation, 'prepayment', document_id from (${givenUp}) g
     ) problem group by installation`,
    [installations, installations, installations],
  );
  return new Map(counts.map(({ installation, n }) => [installation, n]));
}

/** The number of documents that were read and wait for their first judgement. They have no problem yet. */
export async function countNotJudged(db: Connection, installations: readonly InstallationId[]): Promise<number> {
  const sql = `select count(*) as n from document
    where installation = any(?) and dirty and state = 'pending' and problem_code is null`;
  return (await row(db, { n: integer }, sql, [installations])).n;
}
