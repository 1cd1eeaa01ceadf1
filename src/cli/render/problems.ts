import { visibleIn } from '../../domain/text.ts';
import type { DocumentProblem } from '../../queries/problems.ts';
import { count, instant } from './text.ts';

/** Documents with a problem, grouped by code: one missing account may hold a hundred documents. */
export function problemsText(problems: (DocumentProblem & { name?: string | null })[], reports: number): string {
  const lines = [
    problems.length === 0 ? 'Nothing is held or refused.' : `${count(problems.length, 'document')} with a problem:`,
  ];
  for (const [code, alike] of Map.groupBy(visibleIn(problems), (problem) => problem.code)) {
    const todos = new Set(alike.map(({ todo }) => todo));
    lines.push('', `${code} (${alike.length})`, ...[...todos].map((todo) => `  what to do: ${todo}`));
    for (const { id, name = null, message, since } of alike)
      lines.push(`  ${id}${name === null ? '' : ` (${name})`}  ${message}  [since ${instant(since)}]`);
  }
  if (reports > 0) {
    lines.push('', `${count(reports, 'remark')} beside posted documents; \`vetledger reconcile\` lists them.`);
  }
  return lines.join('\n');
}
