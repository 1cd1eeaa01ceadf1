import { Option } from 'commander';
import { z } from 'zod';
import { eraseClient } from '../../bookkeeping/erase-client.ts';
import { ConfigError } from '../../domain/errors.ts';
import { chosenInstallations } from '../../runtime/app.ts';
import { eraseTexts } from '../../texts/commands/results.ts';
import { usageTexts } from '../../texts/commands/usage.ts';
import { commandErrors } from '../../texts/errors/commands.ts';
import { count } from '../../wording/words.ts';
import { actedBy, statedBy } from '../acting.ts';
import { by, type Definition, installation } from '../command.ts';
import { type CommandContext, usageError } from '../context.ts';
import { withApp } from '../with-app.ts';

interface Options {
  installation?: number;
  reason: string;
  by?: string;
  yes?: true;
}

const answer = z.strictObject({
  installation: z.number(),
  client: z.number(),
  reason: z.string(),
  by: z.string(),
  records: z.number(),
  versions: z.number(),
  entries: z.number(),
  reasons: z.number(),
});

export const command: Definition<Options> = {
  description:
    'Erases names and addresses from the mirror’s invoices, their earlier versions and the entries. Also erases recorded reasons, such as of a decision or pause, that contain all words of one of the client’s names. Amounts, the client’s id, VAT number and country stay, as bookkeeping law requires. The erasure is recorded with reason, name and time, and the hash chain stays whole. Erase the client in the practice software first.',
  options: [
    installation,
    new Option(
      '--reason <text>',
      'the reason; it is recorded, so it must not contain the client’s name',
    ).makeOptionMandatory(),
    by,
    new Option('--yes', 'erase the data; without it, nothing is erased'),
  ],
  examples: [
    ['vetledger erase client 2007 --reason "requested on 2026-05-04" --yes', 'erase the names of client 2007'],
  ],
  answer,
  run: (context, options, [id = '']) => eraseNames(context, options, id),
};

function eraseNames(context: CommandContext, options: Options, idText: string): Promise<number> {
  const stated = statedBy(options, 'erase');
  if (!/^[1-9]\d{0,14}$/.test(idText)) throw usageError(usageTexts.noClient({ text: idText }), 'erase');
  const client = Number(idText);
  return withApp(context, { temporal: false }, async ({ db, config }) => {
    const acted = await actedBy(db, stated);
    const [installation, ...more] = chosenInstallations(config, options.installation);
    if (installation === undefined || more.length > 0) {
      throw usageError(usageTexts.oneInstallation, 'erase');
    }
    if (options.yes !== true) {
      throw new ConfigError(commandErrors.notErased({ client, installation: installation.id }));
    }
    const erased = await eraseClient(db, installation, client, acted);
    const { records, versions, entries, reasons } = erased;
    const document = { installation: installation.id, client, reason: acted.reason, by: acted.actedBy, ...erased };
    await context.result(document, () =>
      eraseTexts.erased({
        ...{ client, installation: installation.id },
        ...{ records: count(records, 'record'), versions: count(versions, 'earlierVersion') },
        ...{ entries: count(entries, 'entry'), reasons: count(reasons, 'reason') },
      }),
    );
    return 0;
  });
}
