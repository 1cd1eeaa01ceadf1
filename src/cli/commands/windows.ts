import { Option } from 'commander';
import { z } from 'zod';
import { visible } from '../../domain/text.ts';
import { shown } from '../../languages/language.ts';
import { instant, plainError, remark } from '../../queries/answer.ts';
import { type RecordedWindow, recordedWindows } from '../../queries/windows.ts';
import { type App, chosenInstallations } from '../../runtime/app.ts';
import { type GapReport, gapsOf } from '../../sync/replay/gaps.ts';
import { streamNames } from '../../sync/streams.ts';
import type { InstallationId } from '../../terms.ts';
import { labels } from '../../texts/commands/labels.ts';
import { resultTexts } from '../../texts/commands/results.ts';
import { windowListTexts as texts } from '../../texts/commands/windows.ts';
import { gapText, remedyOf } from '../../wording/gaps.ts';
import { codeWord, count } from '../../wording/words.ts';
import { type LocalTimes, localTimes, named } from '../books.ts';
import { type Definition, installation, option, wholeNumber } from '../command.ts';
import type { CommandContext } from '../context.ts';
import { heads, table } from '../render/text.ts';
import { label, type Named } from '../render/window.ts';
import { withApp } from '../with-app.ts';

interface Options {
  installation?: number;
  failed?: true;
  gaps?: true;
  limit: number;
}

const answer = z.union([
  z.strictObject({
    windows: z.array(
      z.strictObject({
        id: z.number(),
        installation: z.number(),
        name: z.string().optional(),
        kind: z.string(),
        trigger: z.string(),
        from: instant.nullable(),
        to: instant.nullable(),
        outcome: z.enum(['open', 'closed', 'failed']),
        error: plainError.nullable(),
        remarks: z.array(remark),
        opened_at: instant,
        closed_at: instant.nullable(),
        workflow_id: z.string(),
        covered_by: z.array(z.number()).nullable(),
        reset_of: z.number().nullable(),
        idle_windows: z.number().nullable(),
      }),
    ),
  }),
  /** The answer with --gaps. */
  z.strictObject({
    ok: z.boolean(),
    installations: z.array(
      z.strictObject({
        installation: z.number(),
        ok: z.boolean(),
        since: instant.nullable(),
        gaps: z.array(
          z.strictObject({
            stream: z.enum(['invoices', 'rows', 'payments', 'prepayments']),
            from_id: z.number().nullable().optional(),
            to_id: z.number().optional(),
            from: instant.nullable(),
            to: instant.nullable(),
            todo: z.string(),
          }),
        ),
      }),
    ),
  }),
]);

export const command: Definition<Options> = {
  description:
    'Lists the latest windows with their outcomes. Successive windows without changes are listed as one; `idle_windows` is their number. A failed window is covered when later windows or a replay have read and posted its part; `covered by` lists these. With --gaps, checks whether anything between the windows was not read; exit code 1 if there is a gap.',
  options: [
    installation,
    new Option('--failed', 'only failed windows, including covered ones'),
    new Option('--gaps', 'check that each window starts at the end of the previous one').conflicts('failed'),
    option('--limit <n>', 'number of windows', wholeNumber).default(20),
  ],
  examples: [
    ['vetledger windows', 'the last twenty'],
    ['vetledger windows --failed', 'failed windows, and the windows that cover them'],
    ['vetledger windows --gaps', 'prove that there is no gap'],
  ],
  answer,
  run: windows,
};

function windows(context: CommandContext, options: Options): Promise<number> {
  return withApp(context, { temporal: false }, async (app) => {
    const { db, config } = app;
    const ids = chosenInstallations(config, options.installation).map(({ id }) => id);
    if (options.gaps) return gaps(context, app, ids);
    const failedOnly = options.failed === true;
    const found = await recordedWindows(db, ids, { failedOnly, limit: options.limit });
    const windows = named(config, found);
    await context.result({ windows }, () => {
      if (found.length > 0)
        return [windowsTable(windows, localTimes(config)), windowsTodo(found)]
          .filter((part) => part !== null)
          .join('\n\n');
      return failedOnly ? texts.noneFailed : texts.none;
    });
    return 0;
  });
}

/** Exit code 1 if records between two windows were not read. */
async function gaps(context: CommandContext, { db, config }: App, installations: readonly number[]): Promise<number> {
  const reports: Parameters<typeof gapsText>[0][] = [];
  for (const installation of installations) reports.push({ installation, ...(await gapsOf(db, installation)) });
  await context.result(gapsDocument(reports), () =>
    reports.map((each) => gapsText(each, localTimes(config))).join('\n'),
  );
  return reports.some((report) => report.gaps.length > 0) ? 1 : 0;
}

export function windowsTable(windows: (RecordedWindow & Named)[], at: LocalTimes): string {
  return table(
    heads(
      ...([
        'window',
        'installation',
        'kind',
        'opened',
        'from',
        'to',
        'outcome',
        'covered_by',
        'error',
        'remarks',
      ] as const),
    ),
    windows.map((window) => [
      window.id,
      label(window),
      `${codeWord(window.kind)} (${codeWord(window.trigger)})`,
      at(window.installation, window.opened_at),
      at(window.installation, window.from),
      at(window.installation, window.to),
      [
        codeWord(window.outcome),
        ...(window.idle_windows === null ? [] : [count(window.idle_windows, 'idleWindow')]),
      ].join(', '),
      window.outcome === 'failed' ? (window.covered_by?.join(', ') ?? texts.notCovered) : '',
      window.error ? `${window.error.code}: ${shown(window.error.message)}` : '',
      window.remarks.map(({ code }) => code).join(', '),
    ]),
  );
}

const maximumIds = 10;

/** The next steps for failed windows that are not covered, a line per step. Null if there are none. */
export function windowsTodo(windows: readonly RecordedWindow[]): string | null {
  const open = windows.filter(({ outcome, covered_by }) => outcome === 'failed' && covered_by === null);
  const ways = Map.groupBy(open, ({ error }) => (error === null ? '' : `${error.code}: ${shown(error.todo)}`));
  ways.delete('');
  if (ways.size === 0) return null;
  const lines = [...ways].map(([way, of]) => {
    const ids = of.slice(0, maximumIds).map(({ id }) => id);
    const others = of.length > ids.length ? texts.more({ count: of.length - ids.length }) : '';
    return visible(`  ${labels.windows({ count: of.length, list: `${ids.join(', ')}${others}` })}: ${way}`);
  });
  return [texts.todo, ...lines].join('\n');
}

type InstallationGaps = GapReport & { installation: InstallationId };

function gapsDocument(reports: readonly InstallationGaps[]) {
  return {
    ok: reports.every(({ gaps }) => gaps.length === 0),
    installations: reports.map(({ installation, since, gaps }) => ({
      ...{ installation, ok: gaps.length === 0, since },
      gaps: gaps.map((gap) => ({
        stream: streamNames[gap.stream],
        ...(gap.stream === 'payment'
          ? { from_id: gap.from, to_id: gap.to, from: gap.since, to: gap.until }
          : { from: timeOf(gap.from), to: timeOf(gap.to) }),
        todo: resultTexts.run({ command: remedyOf(installation, gap) }),
      })),
    })),
  };
}

/** The gaps of one installation, a line per gap. */
function gapsText({ installation, since, gaps }: InstallationGaps, at: LocalTimes): string {
  if (since === null) return texts.noneRecorded({ installation });
  if (gaps.length === 0) return texts.noGap({ installation, since: at(installation, since) });
  return gaps
    .map((gap) => {
      const what = gapText(gap, (time) => at(installation, time));
      return texts.gap({ installation, what, command: remedyOf(installation, gap) });
    })
    .join('\n');
}

function timeOf(ms: number | null): Date | null {
  return ms === null ? null : new Date(ms);
}
