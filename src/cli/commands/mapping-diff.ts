import { resolve } from 'node:path';
import { z } from 'zod';
import { compareMappings } from '../../bookkeeping/preview.ts';
import type { InstallationConfig } from '../../config/load-config.ts';
import { loadMapping } from '../../config/mapping-files.ts';
import { countInForce } from '../../documents/in-force.ts';
import { readAccountNames } from '../../reports/account-names.ts';
import type { App } from '../../runtime/app.ts';
import type { CalendarDate } from '../../terms.ts';
import { mappingDiffTexts } from '../../texts/commands/mapping.ts';
import { stepTexts } from '../../texts/steps.ts';
import { chosenBooks } from '../books.ts';
import { calendarDate, type Definition, installation, option } from '../command.ts';
import { type CommandContext, refuseBackwards } from '../context.ts';
import { withProgress } from '../progress.ts';
import { MappingMoves, movesAnswer, movesText } from '../render/mapping-moves.ts';
import { withApp } from '../with-app.ts';

interface Options {
  installation?: number;
  from?: CalendarDate;
  to?: CalendarDate;
}

const answer = z.strictObject({
  old: z.string(),
  new: z.string(),
  installations: z.array(z.strictObject({ installation: z.number(), ...movesAnswer })),
});

export const command: Definition<Options> = {
  description:
    'Judges every document in the books by its stored facts, under both mapping files, and prints the amounts that the new file would move compared with the old one, per account and month of the entry. Closed periods are separate. Accounts have the names that reports show. Neither file needs to be in force, and nothing is written. `vetledger preview --mapping FILE` compares a file with the books.',
  options: [
    installation,
    option('--from <date>', 'only documents dated from this day on (YYYY-MM-DD)', calendarDate),
    option('--to <date>', 'only documents dated up to this day (YYYY-MM-DD)', calendarDate),
  ],
  examples: [
    ['vetledger mapping diff mappings/demo.yaml mappings/new.yaml', 'what the new mapping would move'],
    ['vetledger mapping diff mappings/demo.yaml mappings/new.yaml --from 2026-01-01 --json', 'this year only, as JSON'],
  ],
  answer,
  run: diff,
};

async function diff(
  context: CommandContext,
  options: Options,
  [oldFile = '', newFile = '']: readonly string[],
): Promise<number> {
  refuseBackwards(options, 'mapping diff');
  const [older, newer] = [await readFile(oldFile), await readFile(newFile)];
  return withApp(context, { temporal: false, handlesSignal: true }, async (app) => {
    const installations: z.input<typeof answer>['installations'] = [];
    for (const configured of await chosenBooks(app, options.installation)) {
      const moves = await movesOf(context, app, configured, { older: older.read, newer: newer.read }, options);
      const namesBy = ({ read: { mapping }, path: mappingPath }: typeof newer) =>
        readAccountNames(app.db, { id: configured.id, mapping, mappingPath });
      const names = { older: await namesBy(older), newer: await namesBy(newer) };
      installations.push({ installation: configured.id, ...moves.document(names) });
    }
    await context.result({ old: older.path, new: newer.path, installations }, () =>
      installations.map((one) => `${mappingDiffTexts.title(one)}\n${movesText(one)}`).join('\n\n'),
    );
    return 0;
  });
}

type ReadMapping = Awaited<ReturnType<typeof loadMapping>>;

async function readFile(file: string) {
  const path = resolve(file);
  return { path, read: await loadMapping(path) };
}

async function movesOf(
  context: CommandContext,
  app: App,
  configured: InstallationConfig,
  { older, newer }: { older: ReadMapping; newer: ReadMapping },
  { from = null, to = null }: { from?: CalendarDate | null; to?: CalendarDate | null },
): Promise<MappingMoves> {
  const { id, decimals } = configured;
  const selection = { documents: null, from, to };
  const both = { older: { ...configured, ...older }, newer: { ...configured, ...newer } };
  const compared = compareMappings(app.db, both, app.practice(id), selection);
  const moves = new MappingMoves(decimals);
  const total = await countInForce(app.db, id, selection);
  for await (const batch of withProgress(context, stepTexts.comparing, total, compared))
    for (const one of batch) moves.add(one);
  return moves;
}
