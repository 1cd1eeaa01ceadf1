import { z } from 'zod';
import type { AskedAction } from '../../../actions/asking.ts';
import { previewedBy } from '../../../bookkeeping/asked-mapping.ts';
import { shown } from '../../../languages/language.ts';
import { priceResult, readingRequest, startedResult } from '../../../queries/asked-windows.ts';
import { type RecordedWindow, recordedWindows } from '../../../queries/windows.ts';
import { mappingFormTexts } from '../../../texts/console/mapping.ts';
import { reconcileTexts, resultTexts as texts, windowActionTexts } from '../../../texts/console/operating.ts';
import { costLines } from '../../../wording/replays.ts';
import { checksInWords, codeWord, count } from '../../../wording/words.ts';
import { type Content, html, type Node } from '../../html.ts';
import { facts, lines } from '../../parts/facts.ts';
import { temporalLink } from '../../parts/temporal-link.ts';
import type { InstallationRequest } from '../../route.ts';
import { type AskedKind, isAskedKind } from '../../users/permitted-actions.ts';
import { previewPart } from './mapping-preview.ts';
import { mappingForms } from './mappings.ts';
import { windowForms } from './windows.ts';

/** What came of an action. */
export interface ResultView {
  view(): Content;
  /** Whether work that the action has started still runs. */
  isRunning: boolean;
}

type View = (request: InstallationRequest, action: AskedAction, result: unknown) => Promise<ResultView | null>;

const entries = (n: number) => count(n, 'entry');

/** The view of each kind of result. A kind without one says only that the action is done. */
const views: Partial<Record<AskedKind, View>> = {
  approve_delivery: textOf(z.object({ approved: z.number() }), ({ approved }) =>
    texts.approved({ entries: entries(approved) }),
  ),
  retry_delivery: textOf(z.object({ retried: z.number(), redone: z.array(z.string()) }), ({ retried, redone }) =>
    texts.retried({ entries: entries(retried + redone.length) }),
  ),
  undo_delivery: textOf(z.object({ reversed: z.number(), withheld: z.number() }), ({ reversed, withheld }) =>
    texts.undone({ reversed: entries(reversed), withheld: entries(withheld) }),
  ),
  acknowledge_batch: textOf(z.object({ file: z.string(), units: z.number() }), ({ file, units }) =>
    texts.acknowledged({ file, entries: entries(units) }),
  ),
  cancel_delivery: textOf(z.object({ workflows: z.array(z.string()) }), cancelledText),
  propose_mapping: previewView('propose_mapping'),
  preview_repost: previewView('preview_repost'),
  apply_mapping: async ({ rights, installation: { id } }) => ({
    view: () => html`<p>${mappingForms.preview_repost.link(rights, id)}</p>`,
    isRunning: false,
  }),
  repost_books: textOf(z.object({ corrected: z.number(), change_held: z.number() }), (counts) =>
    mappingFormTexts.posted(counts),
  ),
  price_windows: priceView,
  replay_windows: startedView,
  backfill_windows: startedView,
  cancel_windows: textOf(z.object({ workflows: z.array(z.string()) }), cancelledText),
  nudge_windows: nudgedView,
  reconcile_books: textOf(z.object({ failing: z.array(z.string()), complete: z.boolean() }), (result) =>
    reconcileTexts.result({ failing: checksInWords(result.failing), complete: result.complete }),
  ),
};

function cancelledText({ workflows }: { workflows: string[] }): string {
  return workflows.length === 0 ? windowActionTexts.ended : `${windowActionTexts.cancelled}: ${workflows.join(', ')}`;
}

/** A preview, with a link to the form that follows it. */
function previewView(kind: 'propose_mapping' | 'preview_repost'): View {
  return async (request, { id }) => {
    const { db, rights, installation, session } = request;
    const found = await previewedBy(db, installation.id, { id, kind });
    if (found === null) return null;
    const part = await previewPart(request, found);
    const isOwn = kind === 'propose_mapping' && found.by === session.name;
    const next = mappingForms[kind === 'propose_mapping' ? 'apply_mapping' : 'repost_books'];
    return {
      isRunning: false,
      view: () => html`${part()}
        <p>${isOwn ? mappingFormTexts.ownProposal : next.link(rights, installation.id, { preview: String(id) })}</p>`,
    };
  };
}

/** The result of an action that is done. Null if there is nothing to say, or if another build performed it. */
export async function resultView(
  request: InstallationRequest,
  action: AskedAction,
  result: unknown,
): Promise<ResultView | null> {
  if (result === null || !isAskedKind(action.kind)) return null;
  return (await views[action.kind]?.(request, action, result)) ?? null;
}

function textOf<Result>(schema: z.ZodType<Result>, text: (result: Result) => string): View {
  return async (_, __, given) => {
    const { success, data } = schema.safeParse(given);
    return success ? { view: () => html`<p>${text(data)}</p>`, isRunning: false } : null;
  };
}

async function priceView(
  { rights, installation: { id } }: InstallationRequest,
  action: AskedAction,
  given: unknown,
): Promise<ResultView | null> {
  const result = priceResult.safeParse(given);
  const request = readingRequest.safeParse(action.input);
  if (!result.success || !request.success) return null;
  const { cost } = result.data;
  const form = windowForms[request.data.read === 'backfill' ? 'backfill_windows' : 'replay_windows'];
  return {
    isRunning: false,
    view: () => html`${facts([[windowActionTexts.price, cost === null ? windowActionTexts.noPrice : lines(costLines(cost))]])}
      <p>${form.link(rights, id, { price: String(action.id) })}</p>`,
  };
}

async function startedView(
  { db, context, installation: { id } }: InstallationRequest,
  _: AskedAction,
  given: unknown,
): Promise<ResultView | null> {
  const { success, data: run } = startedResult.safeParse(given);
  if (!success) return null;
  const windows = (await recordedWindows(db, [id], { workflow: run.workflow, limit: 50 })).reverse();
  return {
    isRunning: windows.length === 0 || windows.some(({ outcome }) => outcome === 'open'),
    view: () => html`${facts([[windowActionTexts.workflow, html`${run.workflow} ${temporalLink(context, run)}`]])}
      ${windowsView(id, windows)}`,
  };
}

/** The window that has opened since the request. */
async function nudgedView(
  { db, installation: { id } }: InstallationRequest,
  { askedAt }: AskedAction,
): Promise<ResultView> {
  const opened = await recordedWindows(db, [id], { kind: 'window', from: askedAt, limit: 50 });
  const windows = opened.slice(-1);
  return {
    isRunning: windows.length === 0 || windows.some(({ outcome }) => outcome === 'open'),
    view: () => windowsView(id, windows),
  };
}

function windowsView(id: number, windows: readonly RecordedWindow[]): Node {
  if (windows.length === 0) return html`<p>${windowActionTexts.opening}</p>`;
  return html`<ul>
    ${windows.map(({ id: window, outcome, error }) => {
      const text = windowActionTexts.ofWindow({ window, outcome: codeWord(outcome) });
      return html`<li><a href=${`/${id}/windows#w${window}`}>${text}</a>${error === null ? null : `: ${shown(error.message)}`}</li>`;
    })}
  </ul>`;
}
