import { decisionsFor } from '../bookkeeping/decide-late.ts';
import { decisionsOf, type RecordedDecision } from '../bookkeeping/late-decision-store.ts';
import { type LateFilter, matchesWeighed } from '../bookkeeping/late-filter.ts';
import { type WeighedDocument, weighDecision } from '../bookkeeping/weigh-decision.ts';
import type { InstallationConfig } from '../config/load-config.ts';
import type { Connection } from '../db/rows.ts';
import { type LateDocument, lateDocuments } from '../documents/late-documents.ts';
import { dateIn, daysBetween } from '../domain/dates.ts';
import { UserError } from '../domain/errors.ts';
import { Money, sum } from '../domain/money.ts';
import { todoOf } from '../domain/problem-texts.ts';
import type { LateDecisionKind } from '../posting/types.ts';
import type { CalendarDate } from '../terms.ts';
import { deliveryProblems } from './delivery-status.ts';
import { documentOfCode } from './find-document.ts';
import { whoAndWhere } from './problem-documents.ts';
import { type DocumentProblem, documentProblems, type OutsideDocument } from './problems.ts';
import { type RemarkedDocument, remarkedDocuments } from './remarks.ts';

/** A document, entry or record about which a person must decide or do something. */
export interface OpenItem {
  /** `<installation>/<kind>/<id>`, or the id of an entry. Ids are unique only together with the code. */
  id: string;
  /** Such as `invoice 123`. */
  document: string;
  number: string | null;
  client: string | null;
  department: number | null;
  date: CalendarDate | null;
  /** Days since the date. */
  ageDays: number | null;
  code: string;
  message: string;
  todo: string;
  /** For a posted document, amount and VAT are the differences from its entry. Null if they are unknown, or if there is none. */
  amount: string | null;
  vat: string | null;
  isPosted: boolean;
  since: Date | null;
  effect: OutsideDocument['effect'];
  /** Set if the accountant decides about the document: it is late or missing. */
  late: LateDocument | null;
  /** The decision about the present version. */
  decided: RecordedDecision | null;
}

/** Conditions on open items; those on accounts and amounts are about the effects, as in `late decide --filter`. */
export type OpenFilter = Omit<LateFilter, 'decided' | 'kind'> & {
  decided?: boolean;
  /** The id of one document or entry. */
  id?: string;
  /** Part of the id, number, client or message. */
  text?: string;
};

/**
 * Everything that is held, late, missing or refused, and meets the filter. Without a date first, then the oldest. Number, client and
 * department are null (`named`), unless the filter needs them.
 */
export async function openItems(
  db: Connection,
  installation: InstallationConfig,
  filter: OpenFilter,
  clock: () => Date,
): Promise<OpenItem[]> {
  const { id, timezone } = installation;
  const problems = [
    ...(await documentProblems(db, [installation], { areNamed: false })),
    ...(await deliveryProblems(db, [id])),
  ];
  const late = await lateDocuments(db, id);
  const decisions = await decisionsOf(db, id, late);
  const today = dateIn(timezone, clock());
  const around = { id, today, decisions, late: Map.groupBy(late, (each) => `${id}/${each.kind}/${each.id}`) };
  const items = problems.flatMap(each).map((problem) => itemOf(problem, around));
  const found = await itemsMeeting(db, installation, items, filter);
  const { account, amount, department } = filter;
  const isWeighed = account !== undefined || amount !== undefined || department !== undefined;
  return byDate(isWeighed ? await matchingEffects(db, installation, found, filter, clock) : found);
}

/** The documents with this remark that meet the filter. Number, client and department as in `openItems`. */
export async function remarkedItems(
  db: Connection,
  installation: InstallationConfig,
  code: string,
  filter: OpenFilter,
  clock: () => Date,
): Promise<OpenItem[]> {
  const today = dateIn(installation.timezone, clock());
  const remarked = await remarkedDocuments(db, [installation], code, { areNamed: false });
  const items = remarked.map((each) => remarkOf(each, today));
  const found = await itemsMeeting(db, installation, items, filter);
  return byDate(found.filter((item) => matchesKnown(filter, item)));
}

/** The items with number, client and department of their documents. */
export async function named(
  db: Connection,
  { id, dialect }: InstallationConfig,
  items: readonly OpenItem[],
): Promise<OpenItem[]> {
  const documents = items.flatMap((item) => documentOfCode(item.id) ?? []).filter(({ entry }) => entry === null);
  const parties = await whoAndWhere(db, id, dialect, documents);
  return items.map((item) => {
    const { customer: client, number, department } = parties.get(item.id.slice(`${id}/`.length)) ?? {};
    return client === undefined ? item : { ...item, client, number: number ?? null, department: department ?? null };
  });
}

async function itemsMeeting(
  db: Connection,
  installation: InstallationConfig,
  items: readonly OpenItem[],
  filter: OpenFilter,
): Promise<OpenItem[]> {
  const found = items.filter((item) => matches(filter, item));
  const { text, department } = filter;
  if (text === undefined && department === undefined) return found;
  const wanted = text?.toLowerCase() ?? '';
  return (await named(db, installation, found)).filter(({ id, document, number, client, message }) =>
    [id, document, number, client, message].some((each) => each?.toLowerCase().includes(wanted)),
  );
}

/** The place of an item in the list, for the next page. */
export function placeOf({ date, id, code }: OpenItem): string {
  return `${date ?? ''} ${id} ${code}`;
}

/** Sums of items of one kind with one code. */
export interface OpenSum {
  code: string;
  kind: string;
  count: number;
  /** What to do. Problems of one code may differ in it. */
  todos: string[];
  /** Null if an amount is unknown. */
  amount: Money | null;
  vat: Money | null;
}

/** The sums by code and kind. Amounts of different kinds are never added up. */
export function sumsOf(items: readonly OpenItem[]): OpenSum[] {
  const groups = Map.groupBy(items, ({ code, document }) => `${code} ${document.split(' ')[0]}`);
  const added = (of: (string | null)[]) =>
    of.includes(null) ? null : sum(of.flatMap((text) => (text === null ? [] : [new Money(text)])));
  return [...groups]
    .map(([key, of]) => {
      const [code = '', kind = ''] = key.split(' ');
      const [amount, vat] = [added(of.map((item) => item.amount)), added(of.map((item) => item.vat))];
      return { code, kind, count: of.length, amount, vat, todos: [...new Set(of.map(({ todo }) => todo))] };
    })
    .sort((a, b) => b.count - a.count || (a.code < b.code ? -1 : 1));
}

/** What each possible decision about a late document would do. Null if the document has changed: the next window judges it again. */
export type Options = { decision: LateDecisionKind; weighed: WeighedDocument | null }[];

/** The effects of each possible decision about these items, by the id of the item. Writes nothing. */
export async function decisionOptions(
  db: Connection,
  installation: InstallationConfig,
  items: readonly OpenItem[],
  clock: () => Date,
): Promise<Map<string, Options>> {
  const options = new Map<string, Options>();
  const late = items.filter((item) => item.late !== null);
  const kinds = new Set(late.flatMap(({ code }) => decisionsFor[code] ?? []));
  for (const decision of kinds) {
    const of = late.filter(({ code }) => decisionsFor[code]?.includes(decision));
    const weighed = await weighAll(db, installation, of, decision, clock);
    for (const { id } of of)
      options.set(id, [...(options.get(id) ?? []), { decision, weighed: weighed.get(id) ?? null }]);
  }
  return options;
}

async function weighAll(
  db: Connection,
  installation: InstallationConfig,
  items: readonly OpenItem[],
  decision: LateDecisionKind,
  clock: () => Date,
): Promise<Map<string, WeighedDocument>> {
  const late = items.flatMap((item) => item.late ?? []);
  try {
    const weighed = await weighDecision(db, installation, late, decision, clock);
    return new Map(weighed.map((each) => [`${installation.id}/${each.kind}/${each.id}`, each]));
  } catch (error) {
    if (!(error instanceof UserError)) throw error;
    // One of them has changed. Each is weighed alone, so that the others keep their effects.
    if (items.length <= 1) return new Map();
    const half = Math.ceil(items.length / 2);
    const [first, second] = [
      await weighAll(db, installation, items.slice(0, half), decision, clock),
      await weighAll(db, installation, items.slice(half), decision, clock),
    ];
    return new Map([...first, ...second]);
  }
}

/** Late documents are compared by the effects of their posting, and others by what is known without judging them. */
async function matchingEffects(
  db: Connection,
  installation: InstallationConfig,
  items: readonly OpenItem[],
  filter: OpenFilter,
  clock: () => Date,
): Promise<OpenItem[]> {
  const decisionOf = ({ late, code }: OpenItem) => (late === null ? undefined : decisionsFor[code]?.[0]);
  const { account, department, amount } = filter;
  const effects: LateFilter = {
    ...(account === undefined ? {} : { account }),
    ...(department === undefined ? {} : { department }),
    ...(amount === undefined ? {} : { amount }),
  };
  const matching = new Set<OpenItem>();
  for (const [decision, of] of Map.groupBy(items, decisionOf)) {
    const weighed = decision === undefined ? null : await weighAll(db, installation, of, decision, clock);
    for (const item of of) {
      const known = weighed?.get(item.id);
      if (known === undefined ? matchesKnown(filter, item) : matchesWeighed(effects, known)) matching.add(item);
    }
  }
  return items.filter((item) => matching.has(item));
}

/** Whether an item meets the filter, except for its text and what effects show. */
function matches({ id: only, code, from, to, decided }: OpenFilter, item: OpenItem): boolean {
  const { date, id } = item;
  return (
    (only === undefined || id === only) &&
    (code === undefined || item.code === code) &&
    (from === undefined || (date !== null && date >= from)) &&
    (to === undefined || (date !== null && date <= to)) &&
    (decided === undefined || (item.decided !== null) === decided)
  );
}

function matchesKnown({ account, department, amount }: OpenFilter, item: OpenItem): boolean {
  const amounts = [item.amount ?? '0', ...item.effect.map((each) => each.amount)].map((each) => new Money(each).abs());
  const largest = Money.max(...amounts);
  return (
    (account === undefined || item.effect.some((each) => each.account === account)) &&
    (department === undefined || item.department === department) &&
    (amount?.least === undefined || largest.greaterThanOrEqualTo(amount.least)) &&
    (amount?.most === undefined || largest.lessThanOrEqualTo(amount.most))
  );
}

function byDate(items: OpenItem[]): OpenItem[] {
  return items.sort((a, b) => (placeOf(a) < placeOf(b) ? -1 : 1));
}

/** A problem of many documents as one problem for each, because they are decided together but read one by one. */
function each(problem: DocumentProblem): DocumentProblem[] {
  const { documents, ...one } = problem;
  if (documents === undefined) return [problem];
  return documents.map((document) => ({
    ...{ ...one, document, id: `${problem.installation}/${document.replace(' ', '/')}` },
  }));
}

interface Around {
  today: CalendarDate;
  /** By the id of an item. */
  late: ReadonlyMap<string, readonly LateDocument[]>;
  decisions: ReadonlyMap<string, readonly RecordedDecision[]>;
}

function itemOf(problem: DocumentProblem, { today, late, decisions }: Around): OpenItem {
  const { id, document, code, message, todo, since, outside } = problem;
  const own = late.get(id)?.find((of) => of.problem === code) ?? null;
  const decided = decisions.get(`${own?.kind}/${own?.id}`)?.find(({ version }) => version === own?.version) ?? null;
  const date = outside?.date ?? own?.documentDate ?? null;
  return {
    ...{ id, document, code, message, todo, since, date, late: own, decided },
    ...{ number: outside?.number ?? null, client: outside?.customer ?? null, department: outside?.department ?? null },
    ageDays: date === null ? null : daysBetween(date, today),
    ...{ amount: outside?.amount ?? own?.amount ?? null, vat: outside?.vat ?? own?.vat ?? null },
    ...{ isPosted: outside?.posted ?? false, effect: outside?.effect ?? [] },
  };
}

function remarkOf({ customer, ...remark }: RemarkedDocument, today: CalendarDate): OpenItem {
  const { id, document, code, message, amount, date, since, number, department } = remark;
  return {
    ...{ id, document, code, message, amount, date, since, number, department, client: customer, todo: todoOf(code) },
    ageDays: date === null ? null : daysBetween(date, today),
    ...{ vat: null, isPosted: true, effect: [], late: null, decided: null },
  };
}
