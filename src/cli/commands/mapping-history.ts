import { z } from 'zod';
import { mappingVersionText } from '../../ledger/journal/entry-records.ts';
import { instant } from '../../queries/answer.ts';
import {
  type MappingVersionInForce,
  mappingVersions,
  type UsedMapping,
  usedMappings,
} from '../../queries/mapping-history.ts';
import { chosenInstallations } from '../../runtime/app.ts';
import type { InstallationId } from '../../terms.ts';
import { labels } from '../../texts/commands/labels.ts';
import { mappingTexts } from '../../texts/commands/mapping.ts';
import { type Definition, installation } from '../command.ts';
import type { CommandContext } from '../context.ts';
import { table, instant as time } from '../render/text.ts';
import { withApp } from '../with-app.ts';

interface Options {
  installation?: number;
}

const named = { version: z.string().nullable(), approved_by: z.string().nullable() };

const answer = z.strictObject({
  installations: z.array(
    z.strictObject({
      installation: z.number(),
      configured: z.string(),
      versions: z.array(
        z.strictObject({
          ...{ number: z.number(), hash: z.string(), ...named, since: instant },
          ...{ applied_by: z.string().nullable(), reason: z.string().nullable() },
          /** Who proposed it in the console. */
          proposed_by: z.string().nullable(),
        }),
      ),
      mappings: z.array(
        z.strictObject({
          ...{
            hash: z.string().nullable(),
            ...named,
            entries: z.number(),
            first_seq: z.number(),
            last_seq: z.number(),
          },
          ...{ first_posted_at: instant, last_posted_at: instant },
        }),
      ),
    }),
  ),
});

export const command: Definition<Options> = {
  description:
    'Lists every version of the mapping with name and reason; the last one is in force. Each entry stores the hash of its mapping, and the `version` and `approved_by` of the file if it has them. The command reads the whole journal.',
  options: [installation],
  examples: [
    ['vetledger mapping history', 'every version, and the entries of each mapping'],
    ['vetledger mapping history --json', 'the same as JSON'],
  ],
  answer,
  run: history,
};

interface History {
  installation: InstallationId;
  /** Hash of the mapping file. */
  configured: string;
  /** Every version; the last one is in force. */
  versions: MappingVersionInForce[];
  mappings: UsedMapping[];
}

function history(context: CommandContext, options: Options): Promise<number> {
  return withApp(context, { temporal: false }, async ({ db, config }) => {
    const installations: History[] = [];
    for (const { id, mappingFile } of chosenInstallations(config, options.installation)) {
      installations.push({
        installation: id,
        configured: mappingFile.hash,
        versions: await mappingVersions(db, id),
        mappings: await usedMappings(db, id),
      });
    }
    await context.result({ installations }, () => installations.map(historyText).join('\n\n'));
    return 0;
  });
}

function historyText({ installation, configured, versions, mappings }: History): string {
  const inForce = versions.at(-1)?.number;
  const began = versions.map(({ number, hash, version, since, applied_by: by, reason }) => [
    number,
    mappingVersionText({ hash, version }),
    time(since),
    by === null ? mappingTexts.byFile : `${by}: ${reason}`,
    [...(number === inForce ? [labels.inForce] : []), ...(hash === configured ? [labels.configured] : [])].join(', '),
  ]);
  const used = mappings.map(({ hash, version, approved_by: by, entries, ...posted }) => [
    hash === null ? labels.notRecorded : mappingVersionText({ hash, version }),
    by ?? '',
    entries,
    `${posted.first_seq}-${posted.last_seq}`,
    time(posted.first_posted_at),
    time(posted.last_posted_at),
    hash === configured ? labels.configured : '',
  ]);
  return [
    labels.installation({ label: String(installation) }),
    ...(began.length > 0 ? [table(mappingTexts.history, began), ''] : []),
    used.length > 0 ? table(mappingTexts.used, used) : mappingTexts.noneUsed,
  ].join('\n');
}
