import { resolve } from 'node:path';
import { type PreviewedDocument, previewPosting, previewRemap } from '../../bookkeeping/preview.ts';
import type { InstallationConfig } from '../../config/load.ts';
import { loadMapping } from '../../config/mapping-files.ts';
import { countWaiting } from '../../documents/count.ts';
import { countInForce, everything } from '../../documents/in-force.ts';
import { problemCatalogue } from '../../domain/problems.ts';
import { type App, chosenInstallations } from '../../runtime/app.ts';
import type { CommandContext } from '../context.ts';
import { ProgressBars } from '../progress.ts';
import { AccountTotals, columns, entryDocument, entryText } from '../render/entry.ts';
import { type Item, Pieces } from '../render/pieces.ts';
import { changeItems, RemapSummary } from '../render/remap.ts';
import { count } from '../render/text.ts';
import { withApp } from '../with-app.ts';

/** What the next window would post, and with another mapping what that one would change; writes nothing. */
export function preview(
  context: CommandContext,
  options: { installation?: number; mapping?: string },
): Promise<number> {
  return withApp(context, { temporal: false, endsItself: true }, async (app) => {
    const other = options.mapping === undefined ? null : resolve(options.mapping);
    const replaced = other === null ? {} : { mappingPath: other, ...(await loadMapping(other)) };
    const pieces = new Pieces(context);
    pieces.json('{"installations":[');
    for (const [index, configured] of chosenInstallations(app.config, options.installation).entries()) {
      if (index > 0) pieces.json(',');
      await previewOne(context, app, { ...configured, ...replaced }, other !== null, pieces);
    }
    pieces.json(']}');
    await pieces.end();
    return 0;
  });
}

async function previewOne(
  context: CommandContext,
  app: App,
  installation: InstallationConfig,
  isOther: boolean,
  pieces: Pieces,
): Promise<void> {
  const { id, mappingPath, decimals } = installation;
  const practice = app.practice(id);
  pieces.json(`{"installation":${id},"mapping":${JSON.stringify(mappingPath)},"documents":`);
  pieces.text(`Installation ${id}, mapping ${mappingPath}\nWhat the next window would post of what is here now:`);
  const summary = new PostingSummary(decimals);
  const waiting = withProgress(context, 'judging', null, previewPosting(app.db, installation, practice));
  await pieces.list(postingItems(waiting, id, decimals, summary));
  const { held } = await countWaiting(app.db, id);
  pieces.json(`,${membersOf(summary.document(held))}`);
  pieces.text(summary.text(held));
  if (isOther) {
    pieces.json(',"changes":{"documents":');
    pieces.text(
      'What this mapping would change of what is in the books (`vetledger repost` posts it once it is configured):',
    );
    const changes = new RemapSummary(decimals, 'preview');
    const total = await countInForce(app.db, id, everything);
    const remapped = previewRemap(app.db, installation, practice, everything);
    await pieces.list(changeItems(withProgress(context, 'comparing', total, remapped), id, decimals, changes));
    pieces.json(`,${membersOf(changes.document())}}`);
    pieces.text(changes.text());
  }
  pieces.json('}');
}

/** The members of an object's JSON, without its braces. */
export function membersOf(document: object): string {
  return JSON.stringify(document).slice(1, -1);
}

/** Shows how far a walk has come, unless the result itself runs over the terminal; Ctrl-C ends it between two batches. */
export async function* withProgress<One>(
  context: CommandContext,
  step: string,
  total: number | null,
  batches: AsyncIterable<One[]>,
): AsyncGenerator<One[]> {
  const isShown = !(context.io.stdout as NodeJS.WriteStream).isTTY;
  const bars = isShown ? new ProgressBars(context.io.stderr as NodeJS.WriteStream) : null;
  let done = 0;
  try {
    for await (const batch of batches) {
      done += batch.length;
      bars?.show({ step, done, total });
      yield batch;
      context.signal.throwIfAborted();
    }
  } finally {
    bars?.end();
  }
}

async function* postingItems(
  batches: AsyncIterable<PreviewedDocument[]>,
  installation: number,
  decimals: number,
  summary: PostingSummary,
): AsyncGenerator<Item[]> {
  for await (const batch of batches) {
    for (const one of batch) summary.add(one);
    yield batch
      .filter(({ decision, awaitsParts }) => decision.entries.length > 0 || decision.problem !== null || awaitsParts)
      .map((one) => postingItem(one, installation, decimals));
  }
}

function postingItem(
  { document, decision, entryIds, awaitsParts }: PreviewedDocument,
  installation: number,
  decimals: number,
): Item {
  const id = `${installation}/${document.kind}/${document.id}`;
  const { problem } = decision;
  const todo = problem && problemCatalogue[problem.code].todo;
  const texts = decision.entries.map((entry, index) => entryText(entryIds[index]!, entry, decimals));
  if (problem) {
    const stays = document.before.inForce ? `; ${document.before.inForce.id} would stay in force` : '';
    texts.push(`${id}  would be held: ${problem.code}${stays}\n    ${problem.message}\n    what to do: ${todo}`);
  }
  if (awaitsParts) texts.push(`${id}  its parts would be fetched again first; this is by what is here now`);
  return {
    json: {
      id,
      document: `${document.kind} ${document.id}`,
      state: decision.state,
      entries: decision.entries.map((entry, index) => entryDocument(entryIds[index]!, entry, decimals)),
      problem: problem && { code: problem.code, message: problem.message, todo },
      fetched_again_first: awaitsParts,
    },
    text: texts.join('\n'),
  };
}

/** Counts and totals of what would be posted. */
class PostingSummary {
  readonly #decimals: number;
  readonly #accounts = new AccountTotals();
  readonly #states = new Map<string, number>();
  readonly #problems = new Map<string, number>();
  #documents = 0;
  #entries = 0;
  #reversals = 0;
  #fetchedAgain = 0;
  /** Of the judged documents, those that are held now and would not be any more, less those that would be. */
  #heldNow = 0;
  #held = 0;

  constructor(decimals: number) {
    this.#decimals = decimals;
  }

  add({ document, decision, awaitsParts }: PreviewedDocument): void {
    const { entries, state, problem } = decision;
    this.#documents += 1;
    this.#entries += entries.length;
    this.#reversals += entries.filter(({ reverses }) => reverses !== null).length;
    if (awaitsParts) this.#fetchedAgain += 1;
    if (document.before.state === 'held') this.#heldNow += 1;
    if (state === 'held') this.#held += 1;
    this.#states.set(state, (this.#states.get(state) ?? 0) + 1);
    if (problem) this.#problems.set(problem.code, (this.#problems.get(problem.code) ?? 0) + 1);
    for (const { lines } of entries) this.#accounts.add(lines);
  }

  /** `heldBefore`: documents held at present, judged here or not. */
  document(heldBefore: number) {
    return {
      counts: {
        documents: this.#documents,
        entries: this.#entries,
        reversals: this.#reversals,
        held: this.#held,
        held_in_all: heldBefore - this.#heldNow + this.#held,
        fetched_again_first: this.#fetchedAgain,
        states: Object.fromEntries(this.#states),
        problems: Object.fromEntries(this.#problems),
      },
      accounts: this.#accounts.all().map(({ account, debit, credit }) => ({
        account,
        debit: debit.toFixed(this.#decimals),
        credit: credit.toFixed(this.#decimals),
      })),
    };
  }

  text(heldBefore: number): string {
    const { counts, accounts } = this.document(heldBefore);
    if (counts.documents === 0) {
      return `Nothing waits: the next window would post only what has changed in the source since the last.${stillHeld(counts.held_in_all)}`;
    }
    const parts = [
      `${count(counts.entries, 'entry', 'entries')} would be posted${counts.reversals > 0 ? `, ${count(counts.reversals, 'reversal')} among them` : ''}`,
    ];
    const problems = Object.entries(counts.problems).map(([code, n]) => `${n} ${code}`);
    if (problems.length > 0) parts.push(`kept back: ${problems.join(', ')}`);
    if (counts.fetched_again_first > 0) parts.push(`${counts.fetched_again_first} fetched again first`);
    const states = Object.entries(counts.states).map(([state, n]) => `${n} ${state.replaceAll('_', ' ')}`);
    const lines = [
      `${count(counts.documents, 'document waits', 'documents wait')}: ${parts.join('; ')}.`,
      `They would then be: ${states.join(', ')}.${stillHeld(counts.held_in_all)}`,
    ];
    if (accounts.length > 0) {
      const rows = accounts.map(({ account, debit, credit }) => [account, debit, credit]);
      lines.push('', ...columns([['account', 'debit', 'credit'], ...rows], [1, 2]).map((line) => `  ${line}`));
    }
    return lines.join('\n');
  }
}

function stillHeld(held: number): string {
  return held === 0 ? '' : ` ${count(held, 'document')} in all would be held (\`vetledger problems\`).`;
}
