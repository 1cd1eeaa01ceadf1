import { z } from 'zod';
import { Money } from '../../domain/money.ts';
import { sentenceOf } from '../../domain/problem-texts.ts';
import { visibleIn } from '../../domain/text.ts';
import type { DocumentProblem, OutsideDocument } from '../../queries/problems.ts';
import * as answer from '../answer.ts';
import { columns, count, instant } from './text.ts';

/** What is held, or refused by the ERP or the source. */
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
        customer: z.string().nullable(),
        department: z.number().nullable(),
        amount: answer.amount.nullable(),
        vat: answer.amount.nullable(),
        posted: z.boolean(),
        causes: z.array(z.string()),
        changes: z.array(z.strictObject({ field: z.string(), old: z.string().nullable(), new: z.string().nullable() })),
        effect: z.array(z.strictObject({ account: z.string(), amount: answer.amount })),
      })
      .optional(),
  })
  .meta({ id: 'problem' });

type Shown = DocumentProblem & { name?: string | null };

/**
 * What `problems` prints: a line for each cause, then the documents of each, once. One line of the mapping that is missing may hold
 * a hundred documents: it is one cause.
 */
export function problemsText(found: Shown[], reports: number): string {
  const problems = visibleIn(found);
  const causes = [...Map.groupBy(problems, causeOf)].map(([cause, alike]) => ({ cause, alike }));
  const lines =
    problems.length === 0 ? ['Nothing is held or refused.'] : [`${title(problems)}:`, ...causeTable(causes)];
  for (const { cause, alike } of causes) lines.push('', ...section(cause, alike));
  if (reports > 0) {
    lines.push('', `${count(reports, 'remark')} beside posted documents; \`vetledger reconcile\` lists them.`);
  }
  return lines.join('\n');
}

/** Documents first: they are what `sync` counts as held. */
function title(problems: readonly Shown[]): string {
  const of = problems.map(({ outside, documents }) => documents?.length ?? (outside === undefined ? 0 : 1));
  const documents = of.reduce((all, n) => all + n, 0);
  const others = of.filter((n) => n === 0).length;
  const parts = [
    ...(documents > 0 ? [`${count(documents, 'document')} with a problem`] : []),
    ...(others > 0 ? [count(others, 'entry, number or row refused', 'entries, numbers or rows refused')] : []),
  ];
  return parts.join(', ');
}

/** The code, and what is missing where other documents miss it, too. */
function causeOf({ code, outside }: Shown): string {
  const [first] = outside?.causes ?? [];
  return first === undefined ? code : `${code}: ${first}`;
}

function causeTable(causes: readonly { cause: string; alike: readonly Shown[] }[]): string[] {
  const rows = causes.map(({ cause, alike }) => {
    const [code = '', ...missing] = cause.split(': ');
    return [String(alike.length), code, missing.join(': ') || sentenceOf(code)];
  });
  return columns(rows, [0]).map((line) => `  ${line}`);
}

function section(cause: string, alike: readonly Shown[]): string[] {
  const todos = new Set(alike.map(({ todo }) => todo));
  const head = [`${cause} (${alike.length})`, ...[...todos].map((todo) => `  what to do: ${todo}`)];
  const facts = columns(alike.map(factsOf), [4, 5]);
  const lines = alike.flatMap((problem, index) => [
    `  ${facts[index]}`,
    ...more(problem).map((line) => `      ${line}`),
  ]);
  return [...head, ...lines];
}

/** Id, date, customer, department, amount and VAT; of what is no document the id and since when. */
function factsOf({ id, name = null, outside, since }: Shown): string[] {
  const label = `${id}${name === null ? '' : ` (${name})`}`;
  if (outside === undefined) return [label, '', '', '', '', '', `since ${instant(since)}`];
  const { date, customer, department, amount, vat, posted } = outside;
  return [
    label,
    date ?? 'no date',
    customer ?? 'no customer',
    department === null ? '' : `department ${department}`,
    amountText(amount, posted),
    vat === null ? '' : `VAT ${vat}`,
    `since ${instant(since)}`,
  ];
}

/** A posted document differs from its entry: by an amount, or in other facts alone. */
function amountText(amount: string | null, posted: boolean): string {
  if (amount === null) return 'amount not known';
  if (!posted) return amount;
  return new Money(amount).isZero() ? 'same amount' : `differs by ${amount}`;
}

/** What is said of this document alone. */
function more({ message, outside }: Shown): string[] {
  if (outside === undefined) return [message];
  const { causes, changes, effect } = outside;
  const [first, ...others] = causes;
  const told = [changesLine(changes), effectLine(effect)].filter((line) => line !== null);
  // Without a change of the document the message alone says why: the mapping was changed.
  if (told.length > 0) return changes.length > 0 ? told : [message];
  // The cause is told above; what else the document lacks is told here.
  if (first !== undefined && message.endsWith(`: ${causes.join('; ')}`)) return others.map((other) => `also ${other}`);
  return [message];
}

/** `changed: total 181.00 → 171.00, department 11 → 12`; null without a change. */
function changesLine(changes: OutsideDocument['changes']): string | null {
  if (changes.length === 0) return null;
  return `changed: ${changes.map(({ field, old, new: now }) => `${field} ${old ?? 'none'} → ${now ?? 'none'}`).join(', ')}`;
}

/** `the correction: 3000 +100.00, 3005 -100.00` (debit positive); null without an effect. */
function effectLine(effect: OutsideDocument['effect']): string | null {
  if (effect.length === 0) return null;
  const parts = effect.map(({ account, amount }) => `${account} ${amount.startsWith('-') ? '' : '+'}${amount}`);
  return `the correction, debit +: ${parts.join(', ')}`;
}
