import type { Redated } from '../../bookkeeping/redate.ts';
import { visible, visibleIn } from '../../domain/text.ts';
import type { LateDecisionKind } from '../../posting/types.ts';
import type { CalendarDate, InstallationId } from '../../terms.ts';
import { count, instant } from './text.ts';

/** A late document as `late --json` prints it. */
export interface ListedLate {
  installation: InstallationId;
  /** As `late decide` takes it. */
  id: string;
  document: string;
  date: CalendarDate | null;
  code: string;
  message: string;
  /** The entry in force, where a change of it is late. */
  in_force: string | null;
  /** What was decided of its present version. */
  decided: { decision: LateDecisionKind; by: string; at: Date; reason: string } | null;
  /** The options that decide it. */
  decisions: string[];
}

export function lateText(
  documents: readonly ListedLate[],
  units: readonly { id: string; reversal: string | null }[],
): string {
  const sections = [
    documents.length === 0
      ? 'No document waits for a decision.'
      : `${count(documents.length, 'document')} to be decided; \`vetledger late decide ID --reason TEXT\` with one of the options named:`,
    ...documents.map((each) => documentText(visibleIn(each))),
  ];
  if (units.length > 0) {
    const lines = units.map(({ id, reversal }) => `  ${reversal === null ? id : `${id} (taken out by ${reversal})`}`);
    sections.push(
      [
        `${count(units.length, 'entry waits', 'entries wait')} for a closed period of the ERP (--redate, or open it there and \`vetledger deliver retry\`):`,
        ...lines,
      ].join('\n'),
    );
  }
  return sections.join('\n\n');
}

function documentText({ id, date, code, message, decided, decisions }: ListedLate): string {
  return [
    `${id}  ${date ?? 'no date'}  ${code}`,
    `    ${message}`,
    decided === null
      ? `    not decided; ${decisions.join(', ')}`
      : `    decided: ${decided.decision.replaceAll('_', ' ')}, by ${decided.by}, ${instant(decided.at)}: ${decided.reason}`,
  ].join('\n');
}

export function redatedText(redated: readonly Redated[]): string[] {
  if (redated.length === 0) return [];
  const lines = redated.map(({ unit, reversal, entry, date }) => {
    if (reversal === null) return `${unit} comes to nothing; it is settled without being sent.`;
    return entry === null
      ? `${unit} and ${reversal} are settled against each other; neither is sent.`
      : `${unit} is posted anew as ${entry} on ${date}; it and ${reversal} are settled against each other.`;
  });
  return [...lines, `${count(redated.length, 'entry', 'entries')} decided.`];
}

const effects: Record<LateDecisionKind, string> = {
  redate: 'the next window posts it on the first open day',
  as_dated: 'it posts on its own date once the period is open',
  wait: 'nothing of it is posted until it is decided otherwise',
  accept_date: 'the next window posts it on its own date, if that is open',
  confirm_gone: 'the next window reverses it as gone from the source',
};

export function decidedText(decided: readonly { id: string; decision: LateDecisionKind }[]): string[] {
  if (decided.length === 0) return [];
  const lines = decided.map(({ id, decision }) => `${visible(id)}: ${effects[decision]}.`);
  return [...lines, `${count(decided.length, 'document')} decided; \`vetledger sync\` opens a window now.`];
}
