import { z } from 'zod';
import { type RecordedClose, recordedCloses } from '../../ledger/close.ts';
import { chosenInstallations } from '../../runtime/app.ts';
import type { InstallationId } from '../../terms.ts';
import { closeTexts } from '../../texts/commands/closing.ts';
import { labels } from '../../texts/commands/labels.ts';
import { date, instant } from '../answer.ts';
import { type Definition, installation } from '../command.ts';
import type { CommandContext } from '../context.ts';
import { personsText } from '../render/ledger.ts';
import { columns, instant as instantText } from '../render/text.ts';
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
    const installations: { installation: InstallationId; closes: RecordedClose[] }[] = [];
    for (const { id } of chosenInstallations(config, options.installation)) {
      installations.push({ installation: id, closes: await recordedCloses(db, id) });
    }
    await context.result({ installations }, () => installations.map(closesText).join('\n'));
    return 0;
  });
}

/** The closes and reopenings of an installation, a line each. */
function closesText({ installation, closes }: { installation: InstallationId; closes: RecordedClose[] }): string {
  if (closes.length === 0) return closeTexts.neverClosed({ installation });
  const lines = closes.map((each) => [
    instantText(each.at),
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
