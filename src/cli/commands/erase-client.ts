import { Option } from 'commander';
import { z } from 'zod';
import { eraseClient } from '../../bookkeeping/erase-client.ts';
import { ConfigError } from '../../domain/errors.ts';
import { chosenInstallations } from '../../runtime/app.ts';
import { actedBy } from '../acting.ts';
import { by, type Definition, installation } from '../command.ts';
import { type CommandContext, usageError } from '../context.ts';
import { count } from '../render/text.ts';
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
    'Names and addresses go from the mirror’s invoices, their earlier versions and the entries. A reason that somebody gave, for a decision or a pause, goes where it has all words of one of the client’s names. Amounts, the client’s id, VAT number and country stay, as the law on books demands, and so does a record of the erasure with reason, name and time. The hash chain stays whole. Erase them in the practice software first.',
  options: [
    installation,
    new Option('--reason <text>', 'why; it is recorded, so it must not hold the name').makeOptionMandatory(),
    by,
    new Option('--yes', 'do it; without, nothing is erased'),
  ],
  examples: [['vetledger erase client 2007 --reason "asked for on 2026-05-04" --yes', 'the names of client 2007']],
  answer,
  run: (context, options, [id = '']) => eraseNames(context, options, id),
};

/** Erases the personal data of a client from the mirror and the entries; the amounts and a record of the erasure stay. */
function eraseNames(context: CommandContext, options: Options, idText: string): Promise<number> {
  const acted = actedBy(options, 'erase');
  if (!/^[1-9]\d{0,14}$/.test(idText)) throw usageError(`${idText} is no id of a client.`, 'erase');
  const client = Number(idText);
  return withApp(context, { temporal: false }, async ({ db, config }) => {
    const [installation, ...more] = chosenInstallations(config, options.installation);
    if (installation === undefined || more.length > 0) {
      throw usageError('The configuration has several installations: say which with --installation.', 'erase');
    }
    if (options.yes !== true) {
      throw new ConfigError({
        code: 'not_confirmed',
        message: `Nothing was erased. With --yes, the names, addresses and free texts of client ${client} of installation ${installation.id} would be, for good.`,
        todo: 'Erase them in the practice software first, or a later change of a record brings them back; then run it again with --yes.',
      });
    }
    const erased = await eraseClient(db, installation, client, acted);
    const { records, versions, entries, reasons } = erased;
    const document = { installation: installation.id, client, reason: acted.reason, by: acted.actedBy, ...erased };
    await context.result(
      document,
      () =>
        `Client ${client} of installation ${installation.id}: personal data erased from ${count(records, 'record')}, ${count(versions, 'earlier version')}, ${count(entries, 'entry', 'entries')} and ${count(reasons, 'recorded reason')}. Amounts, id, VAT number and country stay.`,
    );
    return 0;
  });
}
