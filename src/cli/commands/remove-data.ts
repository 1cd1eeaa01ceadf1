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
import { removeDataTexts, resultTexts } from '../../texts/commands/results.ts';
import { dataFolderErrors } from '../../texts/errors/data-folder.ts';
import { count } from '../../wording/words.ts';
import { agreed } from '../acting.ts';
import { type Definition, yes } from '../command.ts';
import type { CommandContext } from '../context.ts';

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
    'Stops the embedded servers of a data folder that were left running, and removes the folder with all databases in it (without an argument: VETLEDGER_DATA_DIR, or .vetledger). It refuses if a process uses the folder, or if the folder contains files that vetledger did not write. Without --with-books, it also refuses if the folder contains books of a practice API on another machine, or delivered files. It does not touch your own PostgreSQL and Temporal servers; docs/operators/upgrade.md has the other steps.',
  config: false,
  options: [new Option('--with-books', 'also remove the books of a real clinic for good'), yes],
  examples: [
    ['vetledger remove-data', 'remove the data of the demo'],
    [
      'vetledger remove-data /var/lib/vetledger --with-books --yes',
      'remove a folder with the books of a clinic for good',
    ],
  ],
  answer,
  run: (context, options, [named]) => remove(context, options, named),
};

/** Removes a data folder, after checks that no process uses it and that it contains no real books. */
async function remove(context: CommandContext, options: Options, named: string | undefined): Promise<number> {
  const folder = dataFolder(resolve(named ?? (context.env.VETLEDGER_DATA_DIR || '.vetledger')));
  const folders = dataFoldersIn(folder);
  await refuseUsed(folders);
  const books: Books = [];
  for (const each of folders) books.push(...(await booksIn(context, each, options)));
  const real = books.filter(({ source }) => !isLoopback(new URL(source).hostname));
  if (options.withBooks !== true) refuseReal(folder, real);
  const what = books.length === 0 ? removeDataTexts.everything : removeDataTexts.books({ books: listed(books) });
  const question = removeDataTexts.question({ folder, what });
  const removed = await agreed(context, options, question, 'remove-data');
  if (removed) {
    await refuseUsed(folders);
    for (const each of folders.toReversed()) removeData(each);
  }
  await context.result({ folder, removed, books }, () =>
    removed ? removeDataTexts.removed({ folder }) : resultTexts.nothingRemoved,
  );
  return 0;
}

const shownNames = 5;

function dataFolder(path: string): string {
  if (!existsSync(path)) throw new UserError(dataFolderErrors.missing({ path }), 2);
  const foreign = foreignNames(path);
  if (foreign === null) {
    throw new UserError(dataFolderErrors.notOurs({ path }), 2);
  }
  if (foreign.length === 0) return realpathSync(path);
  const { length: count } = foreign;
  const names = foreign.slice(0, shownNames).join(', ');
  throw new UserError(dataFolderErrors.shared({ path, names, more: count - shownNames, count }), 2);
}

async function refuseUsed(folders: readonly string[]): Promise<void> {
  for (const each of folders) {
    const users = await usersOfData(each);
    if (users.length === 0) continue;
    const processes = users.join(', ');
    throw new UserError(dataFolderErrors.inUse({ processes, count: users.length, folder: each }), 3);
  }
}

/** Starts the folder's embedded PostgreSQL and reads its books. Throws UserError if they are unreadable, unless `withBooks`. */
async function booksIn(context: CommandContext, dataDir: string, { withBooks }: Options): Promise<Books> {
  if (withBooks !== true && hasFiles(join(dataDir, 'erp'))) {
    throw new UserError(dataFolderErrors.hasErpFiles({ folder: dataDir, files: join(dataDir, 'erp') }), 2);
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
    throw new UserError(dataFolderErrors.unreadable({ folder: dataDir, reason }), 2);
  }
}

const hasFiles = (folder: string) => existsSync(folder) && readdirSync(folder).length > 0;

function refuseReal(folder: string, real: Books): void {
  if (real.length === 0) return;
  throw new UserError(dataFolderErrors.hasBooks({ folder, books: listed(real) }), 2);
}

function listed(books: Books): string {
  return books.map((each) => removeDataTexts.booksOf({ ...each, entries: count(each.entries, 'entry') })).join('; ');
}
