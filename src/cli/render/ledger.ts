import { visible } from '../../domain/text.ts';
import type { BooksHead } from '../../ledger/head.ts';
import type { ChainReport, SealReport } from '../../queries/ledger.ts';
import type { SealedExport } from '../sealed-export.ts';

/** What `ledger verify` found. */
export interface Verification {
  ok: boolean;
  installations: ChainReport[];
  /** The hash asked for. */
  head?: { hash: string; found: boolean };
  export?: { ok: boolean; file: string; defect: string | null };
}

export function verification(
  installations: ChainReport[],
  hash: string | undefined,
  sealed: SealedExport | null,
): Verification {
  const found = installations.some((each) => (each.found ?? null) !== null);
  const checked = sealed && exportCheck(sealed, installations);
  const ok = installations.every((each) => each.ok) && (hash === undefined || found) && checked?.ok !== false;
  return {
    ok,
    installations,
    ...(hash === undefined ? {} : { head: { hash, found } }),
    ...(checked === null ? {} : { export: checked }),
  };
}

function exportCheck({ file, heads, defect }: SealedExport, installations: ChainReport[]) {
  const met = installations.flatMap((each) => each.heads ?? []);
  const wrong = (head: BooksHead): string | null => {
    const here = met.find((each) => each.head === head);
    if (here === undefined) return `it is of installation ${head.installation}, whose books were not looked at`;
    const link = `link ${head.seq}, ${head.hash}`;
    return here.met ? null : `the books of installation ${head.installation} do not go through its head (${link})`;
  };
  const found = defect ?? heads.map(wrong).find((each) => each !== null) ?? null;
  return { ok: found === null, file, defect: found };
}

export function verificationText(report: Verification): string {
  const lines = report.installations.map(chainText);
  if (report.head?.found === false) {
    lines.push(
      `The hash ${report.head.hash} is NOT in the chain.`,
      'what to do: see that it was noted from these books, and wholly. If so, they were rewritten or cut since: restore a backup, and find out who could change the database.',
    );
  }
  for (const each of report.installations) {
    if (each.found) {
      const chain = each.found.chain === 'journal' ? 'the journal' : 'the daily summaries';
      lines.push(`The hash given is link ${each.found.seq} of ${chain} of installation ${each.installation}.`);
    }
  }
  if (report.export) {
    const { file, defect } = report.export;
    const text = defect === null ? 'is as it was exported, from these books' : `is NOT proven: ${defect}`;
    lines.push(`${visible(file)} ${visible(text)}.`);
  }
  return lines.join('\n');
}

/** A head as fields of a result. */
export function headFields({ entries, seq, hash, summaries, summaryHash }: BooksHead) {
  return { entries, head: { seq, hash }, summaries, summary_head: { seq: summaries, hash: summaryHash } };
}

export function headText(head: { seq: number; hash: string }, summaryHead: { seq: number; hash: string }): string {
  const ofSummaries = summaryHead.seq > 0 ? `; of the daily summaries: ${summaryHead.seq}, ${summaryHead.hash}` : '';
  return `  head: link ${head.seq}, ${head.hash}${ofSummaries}`;
}

/** Whether a journal's hash chain is whole, and what to do if not. */
function chainText(report: ChainReport): string {
  const lines = [wholeText(report)];
  if (report.broken === null) lines.push(headText(report.head, report.summary_head));
  if (report.seals) lines.push(sealsText(report.seals));
  return lines.join('\n');
}

function sealsText({ last, count, defect }: SealReport): string {
  if (defect !== null) {
    return [
      `  seals: NOT sound: ${defect}.`,
      '  what to do: see that this is the key of these books. If so, they were rewritten since: restore a backup, and find out who could change the database.',
    ].join('\n');
  }
  if (last === null) return '  seals: none; the books are empty.';
  return `  seals: all ${count} are sound; the last, of ${last.sealed_at.toISOString()}, is of link ${last.seq}, ${last.hash} (${last.entries} entries). What follows it is not sealed.`;
}

function wholeText({ installation, entries, summaries, broken }: ChainReport): string {
  if (broken === null) {
    const ofSummaries = summaries > 0 ? `, and that of ${summaries} daily summaries,` : '';
    return `Installation ${installation}: the chain of ${entries} entries${ofSummaries} is whole.`;
  }
  return [
    `Installation ${installation}: the chain is BROKEN at ${visible(broken.entryId)}: ${visible(broken.message)}.`,
    'what to do: restore the database from a backup made before it was changed, and find out who changed it.',
  ].join('\n');
}
