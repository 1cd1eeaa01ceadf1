import { z } from 'zod';
import { Money, sum } from '../../domain/money.ts';
import { sentenceOf } from '../../domain/problem-texts.ts';
import { visibleIn } from '../../domain/text.ts';
import { shown } from '../../languages/language.ts';
import * as answer from '../../queries/answer.ts';
import type { DocumentProblem, OutsideDocument } from '../../queries/problems.ts';
import type { RemarkCount, RemarkedDocument } from '../../queries/remarks.ts';
import type { FiledReturns } from '../../queries/vat-return-state.ts';
import { labels } from '../../texts/commands/labels.ts';
import { verdictTexts } from '../../texts/commands/reconcile.ts';
import { lateTexts, problemListTexts } from '../../texts/commands/results.ts';
import { changesLine } from '../../wording/changes.ts';
import { filedReturnLines } from '../../wording/filed-returns.ts';
import { count } from '../../wording/words.ts';
import type { LocalTimes } from '../books.ts';
import { columns, instant } from './text.ts';

/** A held document, or a refusal by the ERP or the source. */
export const problemAnswer = z
  .strictObject({
    id: z.string(),
    installation: z.number(),
    name: z.string().optional(),
    document: z.string(),
    documents: z.array(z.string()).optional(),
    code: z.string(),
    message: z.string(),
    todo: z.string(),
    since: answer.instant.nullable(),
    outside: z
      .strictObject({
        date: answer.date.nullable(),
        number: z.string().nullable(),
        customer: z.string().nullable(),
        department: z.number().nullable(),
        amount: answer.amount.nullable(),
        vat: answer.amount.nullable(),
        posted: z.boolean(),
        causes: z.array(z.string()),
        changes: z.array(z.strictObject({ field: z.string(), old: z.string().nullable(), new: z.string().nullable() })),
        effect: z.array(z.strictObject({ account: z.string(), name: z.string().nullable(), amount: answer.amount })),
      })
      .optional(),
  })
  .meta({ id: 'problem' });

/** Remarks with one code: their number, and the sum of the amounts concerned. */
export const remarkAnswer = z
  .strictObject({
    ...{
      installation: z.number(),
      code: z.string(),
      count: z.number(),
      amount: answer.amount.nullable(),
      todo: z.string(),
    },
  })
  .meta({ id: 'remark_count' });

/** A document with a remark. */
export const remarkedAnswer = z
  .strictObject({
    ...{ id: z.string(), installation: z.number(), document: z.string(), code: z.string(), message: z.string() },
    ...{ amount: answer.amount.nullable(), date: answer.date.nullable(), since: answer.instant },
    ...{
      number: z.string().nullable(),
      customer: z.string(),
      client_id: z.number().nullable(),
      department: z.number().nullable(),
    },
  })
  .meta({ id: 'remarked_document' });

type Shown = DocumentProblem & { name?: string | null };

interface BesideProblems {
  remarks?: RemarkCount[];
  /** The documents of one remark. */
  documents?: RemarkedDocument[];
  vat_returns?: (FiledReturns & { installation: number })[];
  not_judged?: number;
  /** The time zone of the shown times. Default: UTC. */
  at?: LocalTimes;
}

/**
 * The text of `problems`: a line per cause, then the documents of each cause. A missing line of the mapping is one cause, even if it
 * holds a hundred documents.
 */
export function problemsText(
  found: Shown[],
  {
    remarks = [],
    documents = [],
    vat_returns: returns = [],
    not_judged: notJudged = 0,
    at = (_, time) => instant(time),
  }: BesideProblems = {},
): string {
  const problems = visibleIn(found);
  const causes = [...Map.groupBy(problems, causeOf)].map(([cause, alike]) => ({ cause, alike }));
  const lines = problems.length === 0 ? [problemListTexts.none] : [`${title(problems)}:`, ...causeTable(causes)];
  for (const { cause, alike } of causes) lines.push('', ...section(cause, alike, at));
  if (notJudged > 0) lines.push('', problemListTexts.notJudged({ documents: count(notJudged, 'document') }));
  for (const each of returns) {
    const of = problemListTexts.installation(each);
    lines.push('', ...filedReturnLines(each).map((line) => `${of}${line}`));
  }
  return [...lines, ...remarkLines(remarks, visibleIn(documents))].join('\n');
}

/** Remarks by code with their sums, and the documents of one code. */
function remarkLines(remarks: readonly RemarkCount[], documents: readonly RemarkedDocument[]): string[] {
  if (remarks.length === 0) return [];
  const ofOpening = ({ code }: RemarkCount) => code === 'opening_changed';
  const [opening, posted] = [remarks.filter(ofOpening), remarks.filter((each) => !ofOpening(each))];
  const groups = [
    ...(posted.length === 0 ? [] : ['', problemListTexts.remarks, ...countLines(posted)]),
    ...(opening.length === 0 ? [] : ['', problemListTexts.openingRemarks, ...countLines(opening)]),
  ];
  const facts = columns(
    documents.map(({ id, number, date, customer, amount }) => [
      ...[numbered(id, number), date ?? labels.noDate, customer, amount ?? ''],
    ]),
    [3],
  );
  const named = documents.flatMap(({ message }, at) => [`  ${facts[at]}`, `      ${shown(message)}`]);
  return [...groups, ...(documents.length === 0 ? [problemListTexts.ofCode] : ['', ...named])];
}

function countLines(remarks: readonly RemarkCount[]): string[] {
  const heads = columns(
    remarks.map(({ count: n, code, amount }) => [String(n), code, amount ?? '', sentenceOf(code)]),
    [0, 2],
  );
  const several = new Set(remarks.map(({ installation }) => installation)).size > 1;
  const of = ({ installation }: RemarkCount) => (several ? problemListTexts.installation({ installation }) : '');
  return remarks.flatMap((remark, at) => [
    `  ${of(remark)}${heads[at]}`,
    `      ${problemListTexts.todo({ todo: shown(remark.todo) })}`,
  ]);
}

/** Counts documents apart from other problems, because `sync` counts only documents as held. */
function title(problems: readonly Shown[]): string {
  const of = problems.map(({ outside, documents }) => documents?.length ?? (outside === undefined ? 0 : 1));
  const documents = of.reduce((all, n) => all + n, 0);
  const others = of.filter((n) => n === 0).length;
  const parts = [
    ...(documents > 0 ? [problemListTexts.withProblem({ documents: count(documents, 'document') })] : []),
    ...(others > 0 ? [problemListTexts.refused({ count: others })] : []),
  ];
  return parts.join(', ');
}

/** The code, with the first detail, such as the missing account, by which documents are grouped. */
function causeOf({ code, outside }: Shown): string {
  const [first] = outside?.causes ?? [];
  return first === undefined ? code : `${code}: ${first}`;
}

function causeTable(causes: readonly { cause: string; alike: readonly Shown[] }[]): string[] {
  const rows = causes.map(({ cause, alike }) => {
    const [code = '', ...missing] = cause.split(': ');
    return [String(alike.length), code, sumOf(alike), shown(missing.join(': ')) || sentenceOf(code)];
  });
  return columns(rows, [0, 2]).map((line) => `  ${line}`);
}

/** The sum of the amounts of one kind of documents; empty for several kinds, or if an amount is unknown. */
function sumOf(alike: readonly Shown[]): string {
  const kinds = new Set(alike.map(({ document }) => document.split(' ')[0]));
  const amounts = alike.flatMap(({ outside }) => outside?.amount ?? []);
  if (kinds.size > 1 || amounts.length < alike.length) return '';
  const decimals = amounts.map((text) => (text.split('.')[1] ?? '').length);
  return sum(amounts.map((text) => new Money(text))).toFixed(Math.max(...decimals));
}

function section(cause: string, alike: readonly Shown[], at: LocalTimes): string[] {
  const todos = new Set(alike.map(({ todo }) => todo));
  const head = [
    `${shown(cause)} (${alike.length})`,
    ...[...todos].map((todo) => `  ${problemListTexts.todo({ todo: shown(todo) })}`),
  ];
  const facts = columns(
    alike.map((each) => factsOf(each, at)),
    [4, 5],
  );
  const lines = alike.flatMap((problem, index) => [
    `  ${facts[index]}`,
    ...more(problem).map((line) => `      ${line}`),
  ]);
  return [...head, ...lines];
}

/** The facts of a document as cells. A problem without a document has only an id and a time. */
function factsOf({ id, installation, name = null, outside, since }: Shown, at: LocalTimes): string[] {
  const label = `${numbered(id, outside?.number ?? null)}${name === null ? '' : ` (${name})`}`;
  if (outside === undefined)
    return [label, '', '', '', '', '', problemListTexts.since({ at: at(installation, since) })];
  const { date, customer, department, amount, vat, posted } = outside;
  return [
    label,
    date ?? labels.noDate,
    customer ?? labels.noCustomer,
    department === null ? '' : labels.department({ department }),
    amountText(amount, posted),
    vat === null ? '' : labels.vat({ amount: vat }),
    problemListTexts.since({ at: at(installation, since) }),
  ];
}

/** The id of a document with its printed number, or that of the payment’s invoice. */
export function numbered(id: string, number: string | null): string {
  if (number === null) return id;
  return `${id} ${id.includes('/payment/') ? problemListTexts.paymentOn({ number }) : number}`;
}

/** For a posted document, the difference from its entry, which may be zero if only other facts changed. */
function amountText(amount: string | null, posted: boolean): string {
  if (amount === null) return verdictTexts.amountUnknown;
  if (!posted) return amount;
  return new Money(amount).isZero() ? problemListTexts.sameAmount : lateTexts.differsBy({ amount });
}

/** Lines that concern only this document. */
function more({ message, outside }: Shown): string[] {
  if (outside === undefined) return [shown(message)];
  const { causes, changes, effect } = outside;
  const [first, ...others] = causes;
  const changed = [changesLine(changes), effectLine(effect)].filter((line) => line !== null);
  // If the document itself did not change, the message explains that the mapping changed.
  if (changed.length > 0) return changes.length > 0 ? changed : [shown(message)];
  // The first cause is the heading of the section; only the other causes are listed here.
  if (first !== undefined && message.endsWith(`: ${causes.join('; ')}`))
    return others.map((other) => problemListTexts.also({ cause: shown(other) }));
  return [shown(message)];
}

/** Example: `the correction, debit +: 3000 +100.00, 3005 -100.00`. Null without an effect. */
function effectLine(effect: OutsideDocument['effect']): string | null {
  if (effect.length === 0) return null;
  const parts = effect.map(
    ({ account, name, amount }) =>
      `${account}${name === null ? '' : ` ${name}`} ${amount.startsWith('-') ? '' : '+'}${amount}`,
  );
  return problemListTexts.effect({ changes: parts.join(', ') });
}
