import { existsSync, readdirSync, realpathSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { Option } from 'commander';
import { z } from 'zod';
import { isLoopback } from '../../config/insecure.ts';
import { hasSchema } from '../../db/migrate.ts';
import { openDatabase } from '../../db/pool.ts';
import { UserError } from '../../domain/errors.ts';
import {
  acquirePostgres,
  dataFoldersIn,
  foreignNames,
  hasCluster,
  removeData,
  usersOfData,
} from '../../embedded/index.ts';
import { booksKept } from '../../queries/books-kept.ts';
import { agreed } from '../acting.ts';
import { type Definition, yes } from '../command.ts';
import type { CommandContext } from '../context.ts';
import { count } from '../render/text.ts';

interface Options {
  withBooks?: true;
  yes?: true;
}

const answer = z.strictObject({
  folder: z.string(),
  removed: z.boolean(),
  books: z.array(z.strictObject({ installation: z.number(), source: z.string(), entries: z.number() })),
});

type Books = z.infer<typeof answer>['books'];

export const command: Definition<Options> = {
  description:
    'Stops the embedded servers of a data folder that were left running, and removes the folder with all databases in it (without an argument: VETLEDGER_DATA_DIR, or .vetledger). Refuses while a process is at work with it, where it holds files that vetledger did not write, and where it holds books of a practice API on another machine, or files that were delivered, unless --with-books is given. A PostgreSQL and a Temporal server of your own are left alone; docs/operators/upgrade.md has the other steps.',
  config: false,
  options: [new Option('--with-books', 'also where the books are of a real practice: they are then lost'), yes],
  examples: [
    ['vetledger remove-data', 'the end of the demo: asks first'],
    ['vetledger remove-data /var/lib/vetledger --with-books --yes', 'a folder with the books of a practice, for good'],
  ],
  answer,
  run: (context, options, [named]) => remove(context, options, named),
};

/** Removes a data folder with its clusters, after it was made sure that nobody uses it and nobody misses it. */
async function remove(context: CommandContext, options: Options, named: string | undefined): Promise<number> {
  const folder = dataFolder(resolve(named ?? (context.env.VETLEDGER_DATA_DIR || '.vetledger')));
  const folders = dataFoldersIn(folder);
  await refuseUsed(folders);
  const books: Books = [];
  for (const each of folders) books.push(...(await booksIn(context, each, options)));
  const real = books.filter(({ source }) => !isLoopback(new URL(source).hostname));
  if (options.withBooks !== true) refuseReal(folder, real);
  const question = `Remove ${folder} and ${books.length === 0 ? 'everything in it' : `the books in it (${listed(books)})`}, for good?`;
  const removed = await agreed(context, options, question, 'remove-data');
  if (removed) {
    await refuseUsed(folders);
    for (const each of folders.toReversed()) removeData(each);
  }
  await context.result({ folder, removed, books }, () => (removed ? `${folder} is removed.` : 'Nothing was removed.'));
  return 0;
}

function dataFolder(path: string): string {
  if (!existsSync(path)) throw refusal('data_folder_unknown', `There is no folder ${path}.`, 'Name the data folder.');
  const foreign = foreignNames(path);
  if (foreign === null) {
    throw refusal('data_folder_unknown', `${path} is no data folder of vetledger.`, 'Name the data folder (data_dir).');
  }
  if (foreign.length === 0) return realpathSync(path);
  const [names, them] = [foreign.slice(0, 5).join(', '), foreign.length === 1 ? 'it' : 'them'];
  throw refusal(
    'data_folder_shared',
    `${path} holds what vetledger did not write: ${names}${foreign.length > 5 ? ' and more' : ''}. Nothing was removed.`,
    `Move ${them} elsewhere, and run this again.`,
  );
}

async function refuseUsed(folders: readonly string[]): Promise<void> {
  for (const each of folders) {
    const users = await usersOfData(each);
    if (users.length === 0) continue;
    const [are, them] = users.length === 1 ? ['Process', 'it'] : ['Processes', 'them'];
    throw new UserError(
      {
        code: 'data_folder_in_use',
        message: `${are} ${users.join(', ')} of vetledger ${users.length === 1 ? 'is' : 'are'} at work with ${each}. Nothing was removed.`,
        todo: `End ${them} (Ctrl-C, or kill with the number), and run this again.`,
      },
      3,
    );
  }
}

/** The books of a folder's embedded PostgreSQL, which is started for it. Throws where they cannot be read, unless they may go. */
async function booksIn(context: CommandContext, dataDir: string, { withBooks }: Options): Promise<Books> {
  if (withBooks !== true && hasFiles(join(dataDir, 'erp'))) {
    throw refusal(
      'data_folder_has_books',
      `${dataDir} holds files that were made for an ERP (${join(dataDir, 'erp')}). Nothing was removed.`,
      'Keep a copy of them, and add --with-books to remove them.',
    );
  }
  if (!hasCluster(dataDir)) return [];
  try {
    const postgres = await acquirePostgres({ dataDir, progress: context.note, env: context.env });
    try {
      const db = openDatabase(postgres.ownerUrl, { max: 1 });
      try {
        return (await hasSchema(db)) ? await booksKept(db) : [];
      } finally {
        await db.destroy();
      }
    } finally {
      await postgres.release();
    }
  } catch (error) {
    if (withBooks === true) return [];
    const reason = error instanceof Error ? error.message : String(error);
    throw refusal(
      'data_folder_unreadable',
      `Which books ${dataDir} holds could not be read: ${reason}`,
      'Where you need nothing in it, add --with-books.',
    );
  }
}

const hasFiles = (folder: string) => existsSync(folder) && readdirSync(folder).length > 0;

function refuseReal(folder: string, real: Books): void {
  if (real.length === 0) return;
  throw refusal(
    'data_folder_has_books',
    `${folder} holds books of a practice API on another machine: ${listed(real)}. Nothing was removed.`,
    'Export what you need (`vetledger export`), and add --with-books to remove them for good. What was delivered to an ERP, and written back, stays there.',
  );
}

function listed(books: Books): string {
  return books
    .map(
      ({ installation, source, entries }) =>
        `installation ${installation} of ${source}, ${count(entries, 'entry', 'entries')}`,
    )
    .join('; ');
}

function refusal(code: string, message: string, todo: string): UserError {
  return new UserError({ code, message, todo }, 2);
}
