import type { Db } from '../../db/pool.ts';
import { UserError } from '../../domain/errors.ts';
import { type ProblemCode, problemCatalogue } from '../../domain/problems.ts';
import { markDirty } from '../../mirror/store.ts';
import { type App, chosenInstallations, installationOf } from '../../runtime/app.ts';
import { type DocumentKind, documentKinds } from '../../terms.ts';
import { type CommandContext, usageError } from '../context.ts';
import { count, instant } from '../render/text.ts';
import { windowBlock } from '../render/window.ts';
import { withApp } from '../with-app.ts';
import { exitCodeOf, runWindows, windowsDocument } from './sync.ts';

/** One problem as `problems --json` prints it (DESIGN). */
interface ProblemRow {
  /** `<installation>/<kind>/<id>`, which `problems retry` takes. */
  id: string;
  installation: number;
  document: string;
  code: string;
  message: string;
  todo: string;
  since: Date | null;
}

export function problems(context: CommandContext, options: { installation?: number }): Promise<number> {
  return withApp(context, { temporal: false }, async ({ db, config }) => {
    const ids = chosenInstallations(config, options.installation).map(({ id }) => id);
    const found = await loadProblems(db, ids);
    const reports = await countReports(db, ids);
    await context.result({ problems: found }, () => problemsText(found, reports));
    return 0;
  });
}

/** Marks the named documents and runs a window of their installations; says which are still held. */
export async function retry(context: CommandContext, ids: string[]): Promise<number> {
  const documents = ids.map(parseId);
  return withApp(context, { temporal: true, endsItself: true }, async (app) => {
    for (const document of documents) await mark(app, document);
    const installations = [...new Set(documents.map(({ installation }) => installation))];
    const windows = await runWindows(context, app, installations, { trigger: 'sync' });
    const left = (await loadProblems(app.db, installations)).filter(({ id }) => ids.includes(id));
    await context.result({ ...windowsDocument(windows), problems: left }, () =>
      [...windows.map(windowBlock), problemsText(left, 0)].join('\n\n'),
    );
    return exitCodeOf(windows);
  });
}

interface DocumentId {
  installation: number;
  kind: DocumentKind;
  id: number;
}

function parseId(text: string): DocumentId {
  const parts = /^(\d{1,15})\/(\w+)\/(\d{1,15})$/.exec(text);
  const kind = documentKinds.find((known) => known === parts?.[2]);
  if (parts && kind) return { installation: Number(parts[1]), kind, id: Number(parts[3]) };
  throw usageError(`${text} is no id of a document; they look like 4711/invoice/123.`, 'problems retry');
}

async function mark(app: App, { installation, kind, id }: DocumentId): Promise<void> {
  installationOf(app.config, installation);
  const { rows } = await app.db.raw<{ rows: unknown[] }>(
    'select 1 from document where installation = ? and kind = ? and id = ?',
    [installation, kind, id],
  );
  if (rows.length === 0) {
    throw new UserError(
      'document_unknown',
      `There is no ${kind} ${id} of installation ${installation} here.`,
      'Ids are those that `vetledger problems` prints.',
      1,
    );
  }
  await markDirty(app.db, installation, kind, [id]);
}

async function loadProblems(db: Db, installations: number[]): Promise<ProblemRow[]> {
  const { rows } = await db.raw<{
    rows: { installation: number; kind: string; id: number; code: string; message: string; since: Date | null }[];
  }>(
    `select installation, kind, id, problem_code as code, problem_message as message, problem_since as since
     from document where installation = any(?) and problem_code is not null
     order by problem_since, installation, kind, id`,
    [installations],
  );
  return rows.map(({ installation, kind, id, code, message, since }) => ({
    id: `${installation}/${kind}/${id}`,
    installation,
    document: `${kind} ${id}`,
    code,
    message,
    todo: todoOf(code),
    since,
  }));
}

/** A code of an earlier release has no entry in the catalogue any more. */
function todoOf(code: string): string {
  return Object.hasOwn(problemCatalogue, code)
    ? problemCatalogue[code as ProblemCode].todo
    : 'Run `vetledger problems retry` with its id: it is then judged by this release.';
}

async function countReports(db: Db, installations: number[]): Promise<number> {
  const { rows } = await db.raw<{ rows: { n: number }[] }>(
    'select count(*) as n from document_report where installation = any(?)',
    [installations],
  );
  return rows[0]!.n;
}

function problemsText(found: ProblemRow[], reports: number): string {
  const lines = [found.length === 0 ? 'No document is held.' : `${count(found.length, 'document')} with a problem:`];
  // Grouped by what to do: one missing account may hold a hundred documents.
  for (const [code, group] of Map.groupBy(found, (problem) => problem.code)) {
    lines.push('', `${code} (${group.length})`, `  what to do: ${group[0]!.todo}`);
    for (const { id, message, since } of group) lines.push(`  ${id}  ${message}  [since ${instant(since)}]`);
  }
  if (reports > 0) {
    lines.push('', `${count(reports, 'remark')} beside posted documents; \`vetledger reconcile\` lists them.`);
  }
  return lines.join('\n');
}
