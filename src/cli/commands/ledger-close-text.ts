import { shown } from '../../languages/language.ts';
import type { ClosingChecklist } from '../../queries/closing.ts';
import type { ListedDocuments } from '../../queries/closing-items.ts';
import type { CalendarDate, InstallationId } from '../../terms.ts';
import { closeTexts, checklistTexts as texts } from '../../texts/commands/closing.ts';
import { checkWords, labels } from '../../texts/commands/labels.ts';
import { type ChecklistItem, checklistItems } from '../../wording/checklist-items.ts';
import { personsText } from '../../wording/persons.ts';
import { codeWord, count } from '../../wording/words.ts';
import { type headFields, headText } from '../render/ledger.ts';
import { columns } from '../render/text.ts';

/** Number of documents that are shown per list. The JSON contains more. */
const mostShown = 10;

/** The checklist as text. `checklist` is null if the books are already closed through that day. */
export function checklistText(
  { id: installation, timezone }: { id: InstallationId; timezone: string },
  checklist: ClosingChecklist | null,
  through: CalendarDate,
): string {
  if (checklist === null) return texts.alreadyClosed({ installation, through });
  return [
    texts.title({ installation, through, until: checklist.closed_through }),
    ...checklistItems(checklist, timezone).flatMap(itemText),
    checklist.ok ? texts.ok : texts.look({ word: checkWords.look }),
  ].join('\n');
}

function itemText({ ok, text, lines, right, listed }: ChecklistItem): string[] {
  const below = [...columns(lines, right), ...(listed === null ? [] : documentLines(listed))];
  const width = Math.max(checkWords.ok.length, checkWords.look.length);
  const word = (ok ? checkWords.ok : checkWords.look).padEnd(width);
  return [`  ${word}  ${text}`, ...below.map((line) => `${' '.repeat(width)}      ${line}`)];
}

function documentLines({ documents, count: n }: ListedDocuments): string[] {
  const lines = documents
    .slice(0, mostShown)
    .map(({ document, date, code, amount, client_id: client, age_days: age, in_force: inForce }) => [
      shown(document),
      date ?? labels.noDate,
      codeWord(code),
      amount ?? '',
      client === null ? '' : labels.client({ client }),
      age === null ? '' : count(age, 'day'),
      inForce === null ? '' : texts.inForce({ entry: inForce }),
    ]);
  const more = n - lines.length;
  return [...columns(lines, [3]), ...(more > 0 ? [texts.more({ count: more })] : [])];
}

export function closedText(
  closed: ReturnType<typeof headFields> & {
    installation: InstallationId;
    closed_through: CalendarDate;
    by: string;
    second: string | null;
    checklist: ClosingChecklist | null;
  },
): string {
  const { installation, closed_through: through, entries, checklist } = closed;
  const result =
    checklist === null
      ? closeTexts.wasClosed({ installation, through })
      : closeTexts.closed({ installation, through, entries, by: personsText(closed) });
  return `${result}\n${headText(closed.head, closed.summary_head)}`;
}
