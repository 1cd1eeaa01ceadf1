import { zippedBinder } from '../../../binder/zip.ts';
import { isCalendarDate, monthBounds } from '../../../domain/dates.ts';
import { closeOfMonth, lastCloseOf } from '../../../ledger/close-of-month.ts';
import { countEntries } from '../../../ledger/journal/read-entries.ts';
import type { MonthState } from '../../../queries/month.ts';
import type { InstallationId } from '../../../terms.ts';
import { monthTexts as texts } from '../../../texts/console/month.ts';
import { html, local, type Node } from '../../html.ts';
import { problem } from '../../parts/fields.ts';
import type { Answer, InstallationRequest } from '../../route.ts';

/** Entries of a binder that the console makes in memory. */
const entriesAtMost = 20_000;
const timeoutMs = 60_000;

/** The closing binder of a month as a file. Missing if the month was never closed. */
export async function downloadBinder({
  db,
  context,
  installation,
  query,
  language,
}: InstallationRequest): Promise<Answer> {
  const { month = '' } = query;
  if (!isCalendarDate(`${month}-01`)) return { missing: true };
  const closed = await closeOfMonth(db, installation.id, month);
  if (closed === null) return { missing: true };
  const { from, through } = monthBounds(month);
  const entries = await countEntries(db, installation.id, { from, to: through, upToSeq: closed.head.seq });
  if (entries > entriesAtMost) {
    const body = () => html`${problem(texts.longBinder({ month, entries, most: entriesAtMost }))}`;
    return { page: { title: () => texts.binder, body } };
  }
  const name = `binder-${installation.id}-${month}`;
  const { names } = context.config.export;
  const signal = AbortSignal.timeout(timeoutMs);
  const zip = await zippedBinder(db, installation, name, { month, closed, names, language, signal });
  return { file: { name: `${name}.zip`, type: 'application/zip', pieces: [zip] } };
}

/** A link to the binder. Null if the month was never closed. */
export function binderLink(installation: InstallationId, { month, through, closes }: MonthState): Node | null {
  if (lastCloseOf(closes.toReversed(), through) === null) return null;
  return html`<p><a href=${local(`/${installation}/month/binder`, { month })}>${texts.binder}</a></p>`;
}
