import type { DrawnWindow } from '../../../queries/windows.ts';
import { timeLineTexts as texts } from '../../../texts/console/windows.ts';
import { codeWord, type TimeText } from '../../../wording/words.ts';
import { html, type Node } from '../../html.ts';

const width = 960;
const hourMs = 3_600_000;

interface Line {
  windows: readonly DrawnWindow[];
  from: Date;
  to: Date;
  at: TimeText;
}

/** The shape of a window, which differs by more than its colour. */
export type Shape = 'failed' | 'covered' | 'open' | 'other' | 'closed';

export function shapeOf({ outcome, kind, isCovered }: DrawnWindow): Shape {
  if (outcome === 'failed') return isCovered ? 'covered' : 'failed';
  if (outcome === 'open') return 'open';
  return kind === 'window' ? 'closed' : 'other';
}

/** The parts of the time that closed windows have read, in order. What lies between them, no closed window has read. */
export function readSpans(windows: readonly DrawnWindow[], from: Date): { from: number; to: number }[] {
  const spans = windows
    .flatMap((window) =>
      window.kind === 'window' && window.outcome === 'closed' && window.to !== null
        ? [{ from: Math.max(window.from?.getTime() ?? 0, from.getTime()), to: window.to.getTime() }]
        : [],
    )
    .filter((span) => span.to > span.from)
    .sort((a, b) => a.from - b.from);
  const joined: { from: number; to: number }[] = [];
  for (const span of spans) {
    const last = joined.at(-1);
    if (last !== undefined && span.from <= last.to) last.to = Math.max(last.to, span.to);
    else joined.push({ ...span });
  }
  return joined;
}

/** A time line: a band of the time that was read, and a mark for each window above it. */
export function timeLine({ windows, from, to, at }: Line): Node {
  const x = (ms: number) => Math.round(((ms - from.getTime()) / (to.getTime() - from.getTime())) * width * 10) / 10;
  const within = (ms: number) => Math.min(Math.max(x(ms), 0), width);
  const marked = windows.filter(({ openedAt }) => openedAt >= from && openedAt <= to);
  return html`<svg class="line" viewBox=${`0 0 ${width} 64`} role="img" aria-label=${texts.label({ from: at(from), to: at(to) })}>
    <rect class="unread" x="0" y="26" width=${width} height="12" />
    ${readSpans(windows, from).map((span) => {
      const [start, end] = [within(span.from), within(span.to)];
      return html`<rect class="read" x=${start} y="26" width=${Math.max(end - start, 0.5)} height="12" />`;
    })}
    ${marked.map((window) => mark(window, x(window.openedAt.getTime()), at))}
    ${ticks(from, to).map(
      (ms) => html`<g class="tick"><line x1=${x(ms)} x2=${x(ms)} y1="38" y2="44" />
        <text x=${x(ms)} y="57">${tickText(at(new Date(ms)), to.getTime() - from.getTime())}</text></g>`,
    )}
  </svg>`;
}

function mark(window: DrawnWindow, x: number, at: TimeText): Node {
  const shape = shapeOf(window);
  const title = html`<title>${`${window.id}: ${codeWord(window.kind)}, ${texts.shapes[shape]}, ${at(window.openedAt)}`}</title>`;
  return html`<g class=${shape}>${drawn(shape, x)}${title}</g>`;
}

function drawn(shape: Shape, x: number): Node {
  if (shape === 'closed') return html`<rect x=${x - 0.75} y="12" width="1.5" height="10" />`;
  if (shape === 'open') return html`<circle cx=${x} cy="17" r="4" />`;
  if (shape === 'other') return html`<path d=${`M${x} 11l5 6l-5 6l-5-6z`} />`;
  return html`<path d=${`M${x} 10l6 12h-12z`} />`;
}

/** The shapes with their meanings. */
export function legend(): Node {
  const shapes: Shape[] = ['closed', 'failed', 'covered', 'open', 'other'];
  return html`<p class="legend">
    <span><svg class="line" viewBox="0 10 14 14" aria-hidden="true"><rect class="read" x="0" y="11" width="14" height="12" /></svg> ${texts.read}</span>
    <span><svg class="line" viewBox="0 10 14 14" aria-hidden="true"><rect class="unread" x="0" y="11" width="14" height="12" /></svg> ${texts.unread}</span>
    ${shapes.map(
      (shape) =>
        html`<span><svg class="line" viewBox="0 10 14 14" aria-hidden="true"><g class=${shape}>${drawn(shape, 7)}</g></svg> ${texts.shapes[shape]}</span>`,
    )}
  </p>`;
}

/** About eight whole hours in the span. */
function ticks(from: Date, to: Date): number[] {
  const step = Math.max(1, Math.round((to.getTime() - from.getTime()) / hourMs / 8)) * hourMs;
  const first = Math.ceil(from.getTime() / hourMs) * hourMs;
  const found: number[] = [];
  for (let ms = first + step / 2; ms < to.getTime() - step / 4; ms += step)
    found.push(Math.round(ms / hourMs) * hourMs);
  return found;
}

/** The hour, or the day and the hour in a longer span. `text` is `2026-01-31 14:05:09 +02:00`. */
function tickText(text: string, span: number): string {
  return span > 36 * hourMs ? text.slice(5, 16) : text.slice(11, 16);
}
