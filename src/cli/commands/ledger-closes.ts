import { z } from 'zod';
import { type RecordedClose, recordedCloses } from '../../ledger/close.ts';
import { date, instant } from '../../queries/answer.ts';
import { chosenInstallations } from '../../runtime/app.ts';
import type { InstallationId } from '../../terms.ts';
import { closeTexts } from '../../texts/commands/closing.ts';
import { labels } from '../../texts/commands/labels.ts';
import { personsText } from '../../wording/persons.ts';
import { timeIn } from '../../wording/words.ts';
import { type Definition, installation } from '../command.ts';
import type { CommandContext } from '../context.ts';
import { columns } from '../render/text.ts';
import { withApp } from '../with-app.ts';

interface Options {
  installation?: number;
}

const answer = z.strictObject({
  installations: z.array(
    z.strictObject({
      installation: z.number(),
      closes: z.array(
        z.strictObject({
          kind: z.enum(['close', 'reopen']),
          seq: z.number(),
          through: date,
          at: instant,
          by: z.string().optional(),
          second: z.string().nullable().optional(),
          reason: z.string().nullable().optional(),
          checklist: z.unknown(),
        }),
      ),
    }),
  ),
});

export const command: Definition<Options> = {
  options: [installation],
  examples: [
    ['vetledger ledger closes', 'the closes and reopenings, with names'],
    ['vetledger ledger closes --json', 'with the checklists as they were stored'],
  ],
  answer,
  run: closes,
};

function closes(context: CommandContext, options: Options): Promise<number> {
  return withApp(context, { temporal: false }, async ({ db, config }) => {
    const chosen = chosenInstallations(config, options.installation);
    const installations: ClosesOfInstallation[] = [];
    for (const { id } of chosen) installations.push({ installation: id, closes: await recordedCloses(db, id) });
    const zones = new Map(chosen.map(({ id, timezone }) => [id, timezone]));
    await context.result({ installations }, () =>
      installations.map((each) => closesText(each, zones.get(each.installation) ?? 'UTC')).join('\n'),
    );
    return 0;
  });
}

interface ClosesOfInstallation {
  installation: InstallationId;
  closes: RecordedClose[];
}

/** The closes and reopenings of an installation, a line each, in local time of `timezone`. */
function closesText({ installation, closes }: ClosesOfInstallation, timezone: string): string {
  if (closes.length === 0) return closeTexts.neverClosed({ installation });
  const lines = closes.map((each) => [
    timeIn(timezone)(each.at),
    each.kind === 'close' ? closeTexts.closedThrough(each) : closeTexts.reopened(each),
    each.by === undefined
      ? closeTexts.noName
      : labels.by({ by: personsText({ by: each.by, second: each.second ?? null }) }),
    each.reason ?? '',
  ]);
  return [
    `${labels.installation({ label: String(installation) })}:`,
    ...columns(lines, []).map((line) => `  ${line}`),
  ].join('\n');
}
