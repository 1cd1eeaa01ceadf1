// Compares every fact of the specification with the sandbox. Facts that are not about fields are listed separately.
import { type Context, type Facts, mentionsOf, type Outcome } from './context.ts';
import type { NotAField } from './not-fields.ts';
import { readRow } from './rows.ts';
import type { Operations } from './schemas.ts';
import { readSentence } from './sentences.ts';
import { factsOf } from './text.ts';

export interface Comparison {
  /** A description of every difference. */
  problems: string[];
  compared: number;
  listed: number;
}

export const compareAll = (
  markdown: string,
  operations: Operations,
  facts: Facts,
  notFields: readonly NotAField[],
): Comparison => {
  const context: Context = {
    ...facts,
    operations,
    fields: new Map(),
    statuses: new Set(),
    mentions: mentionsOf(operations),
  };
  const listed = new Map(
    notFields.flatMap(({ facts }) => facts.map(([section, text]): [string, boolean] => [`${section}: ${text}`, false])),
  );
  const problems: string[] = [];
  let compared = 0;
  for (const fact of factsOf(markdown)) {
    const outcomes: Outcome[] = fact.kind === 'row' ? readRow(context, fact) : readSentence(context, fact);
    for (const { text, isRead, problems: found } of outcomes) {
      const entry = `${fact.section}: ${text}`;
      problems.push(...found.map((problem) => `${fact.section}: ${problem}`));
      if (isRead) compared++;
      else if (listed.has(entry)) listed.set(entry, true);
      else problems.push(`neither compared nor listed: ${entry}`);
    }
  }
  for (const [entry, isFound] of listed) if (!isFound) problems.push(`listed and not in the specification: ${entry}`);
  return { problems: [...new Set(problems)], compared, listed: listed.size };
};
