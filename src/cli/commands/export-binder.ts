import { resolve } from 'node:path';
import { type BinderFile, writeBinder } from '../../binder/binder.ts';
import { exists } from '../../binder/folder.ts';
import type { InstallationConfig } from '../../config/load-config.ts';
import { monthBounds } from '../../domain/dates.ts';
import { ConfigError, UserError } from '../../domain/errors.ts';
import { closedThrough } from '../../ledger/close.ts';
import { type ClosedMonth, closeOfMonth } from '../../ledger/close-of-month.ts';
import type { App } from '../../runtime/app.ts';
import { headTexts } from '../../texts/commands/closing.ts';
import { usageTexts } from '../../texts/commands/usage.ts';
import { booksErrors } from '../../texts/errors/books.ts';
import { commandErrors } from '../../texts/errors/commands.ts';
import { binderExportTexts } from '../../texts/reports/binder.ts';
import { agreed } from '../acting.ts';
import { chosenBooks } from '../books.ts';
import { type CommandContext, usageError } from '../context.ts';
import { ProgressBars } from '../progress.ts';
import { headFields } from '../render/ledger.ts';
import { withApp } from '../with-app.ts';

interface Options {
  binder: string;
  installation?: number;
  out?: string;
  yes?: true;
}

interface Planned {
  installation: InstallationConfig;
  closed: ClosedMonth;
  folder: string;
}

/** `vetledger export --binder MONTH`: a folder for each installation. Nothing is written if one of them cannot be. */
export function exportBinder(context: CommandContext, options: Options): Promise<number> {
  const { binder: month, out } = options;
  return withApp(context, { temporal: false, handlesSignal: true }, async (app) => {
    const chosen = await chosenBooks(app, options.installation);
    if (out !== undefined && chosen.length > 1) {
      throw usageError(usageTexts.binderOfOne({ count: chosen.length }), 'export');
    }
    const planned: Planned[] = [];
    for (const installation of chosen) {
      const folder = resolve(out ?? `binder-${installation.id}-${month}`);
      planned.push({ installation, folder, closed: await closedMonth(app, installation, month) });
    }
    if (!(await mayReplace(context, options, planned))) {
      await context.result({ binders: [] }, () => binderExportTexts.notReplaced);
      return 0;
    }
    const binders: ReturnType<typeof answerOf>[] = [];
    for (const { installation, closed, folder } of planned) {
      const bars = new ProgressBars(context.io.stderr, context.language);
      try {
        const files = await writeBinder(app.db, installation, folder, {
          ...{ month, closed, names: app.config.export.names, signal: context.signal },
          language: context.language,
          onProgress: ({ file, done, count }) =>
            bars.show({ step: file, done: Math.min(done, count ?? done), total: count }),
        });
        binders.push(answerOf(installation, month, closed, folder, files));
      } finally {
        bars.end();
      }
    }
    await context.result({ binders }, () => binders.map(writtenText).join('\n'));
    return 0;
  });
}

/** Throws UserError if the month was never closed. */
async function closedMonth({ db }: App, { id }: InstallationConfig, month: string): Promise<ClosedMonth> {
  const closed = await closeOfMonth(db, id, month);
  if (closed !== null) return closed;
  const { through } = monthBounds(month);
  throw new UserError(
    booksErrors.monthNotClosed({ installation: id, month, through, closedThrough: await closedThrough(db, id) }),
    1,
  );
}

/** Asks before existing binders are replaced. Throws ConfigError if something else has the name. */
async function mayReplace(context: CommandContext, options: Options, planned: readonly Planned[]): Promise<boolean> {
  const taken: string[] = [];
  for (const { folder } of planned) if (await exists(folder)) taken.push(folder);
  for (const folder of taken) {
    if (await exists(`${folder}/binder.pdf`)) continue;
    throw new ConfigError(commandErrors.folderTaken({ folder }));
  }
  if (taken.length === 0) return true;
  return agreed(context, options, binderExportTexts.question({ folders: taken.join(', ') }), 'export');
}

function answerOf(
  { id }: InstallationConfig,
  month: string,
  { close, head, seal, reopened }: ClosedMonth,
  folder: string,
  files: readonly BinderFile[],
) {
  const { at, through, by = null, second = null } = close;
  return {
    ...{ installation: id, month, out: folder, ...headFields(head), closed: { at, through, by, second } },
    seal: seal && { n: seal.n, at: seal.sealedAt, signature: seal.signature },
    reopened: reopened && {
      ...{ at: reopened.at, through: reopened.through, by: reopened.by ?? null, reason: reopened.reason ?? null },
    },
    files: files.map(({ name, bytes, lines, sha256 }) => ({ name, bytes, lines, sha256 })),
  };
}

function writtenText({ installation, month, out, files, reopened, head }: ReturnType<typeof answerOf>): string {
  return [
    binderExportTexts.written({ installation, month, folder: out, files: files.length }),
    `  ${headTexts.head(head)}`,
    ...(reopened === null ? [] : [binderExportTexts.reopened({ month })]),
  ].join('\n');
}
