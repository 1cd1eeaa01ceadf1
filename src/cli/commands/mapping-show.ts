import { resolve } from 'node:path';
import { z } from 'zod';
import { loadMapping } from '../../config/mapping-files.ts';
import { date } from '../../queries/answer.ts';
import { type ShownMapping, showMapping } from '../../queries/mapping-shown.ts';
import { mappingShowTexts as texts } from '../../texts/commands/mapping.ts';
import { chosenBooks } from '../books.ts';
import { type Definition, installation } from '../command.ts';
import type { CommandContext } from '../context.ts';
import { targetsAnswer, targetsText } from '../render/mapping-targets.ts';
import { withApp } from '../with-app.ts';

interface Options {
  installation?: number;
}

const shownAnswer = z.strictObject({
  installation: z.number(),
  mapping: z.string(),
  since: date,
  ...targetsAnswer,
  warnings: z.array(z.string()),
});
const answer = z.strictObject({ installations: z.array(shownAnswer) });

export const command: Definition<Options> = {
  description:
    'Shows to which accounts the mapping in force, or a file, posts the records of the last 12 months. It lists revenue accounts, VAT groups and payment types by department, with account, name, number of records and amounts. Below are the accounts of roles, and warnings. Names come from the chart of the mapping, and for the practice’s own numbers from its list. Nothing is written to the books.',
  options: [installation],
  examples: [
    ['vetledger mapping show', 'the mapping in force'],
    ['vetledger mapping show mappings/new.yaml --installation 4711', 'a proposal, for one installation'],
  ],
  answer,
  run: show,
};

function show(context: CommandContext, options: Options, [file]: readonly string[]): Promise<number> {
  return withApp(context, { temporal: false, handlesSignal: true }, async (app) => {
    const path = file === undefined ? null : resolve(file);
    const replaced = path === null ? {} : { mappingPath: path, ...(await loadMapping(path)) };
    const installations: ShownMapping[] = [];
    for (const configured of await chosenBooks(app, options.installation)) {
      installations.push(await showMapping(app, { ...configured, ...replaced }, app.clock()));
    }
    await context.result({ installations }, () => installations.map(shownText).join('\n\n'));
    return 0;
  });
}

function shownText({ installation: id, mapping, since, warnings, ...targets }: ShownMapping): string {
  return [
    texts.title({ installation: id, mapping, since }),
    ...targetsText(targets),
    ...(warnings.length === 0 ? [texts.noWarnings] : [texts.warnings, ...warnings.map((warning) => `  ${warning}`)]),
  ].join('\n');
}
