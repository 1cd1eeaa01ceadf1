import cliProgress from 'cli-progress';
import { inLanguage, shown } from '../languages/language.ts';
import type { Language } from '../texts/catalogue.ts';
import { runTexts } from '../texts/commands/windows.ts';
import type { CommandContext } from './context.ts';

export interface Progress {
  /** The name of the step, in English. */
  step: string;
  /** The installation, if several are at work. */
  of?: number | null;
  done: number;
  total: number | null;
  /** The remaining time as text (`about 9 minutes left`). Null if unknown. */
  left?: string | null;
}

/** Without a terminal, a line is printed at least this often while the remaining time is known. */
const lineEveryMs = 60_000;

/**
 * Shows the progress of a long run as bars on a terminal. Without a terminal, prints a line at the start of a step, at each quarter,
 * and every minute while the remaining time is known.
 */
export class ProgressBars {
  private readonly out: NodeJS.WritableStream;
  private readonly bars: cliProgress.MultiBar | null;
  private readonly byStep = new Map<string, cliProgress.SingleBar>();
  private readonly printed = new Map<string, { quarter: number; atMs: number }>();
  private readonly language: Language;
  private readonly nowMs: () => number;

  constructor(out: NodeJS.WritableStream, language: Language = 'en', nowMs: () => number = () => performance.now()) {
    this.out = out;
    this.language = language;
    this.nowMs = nowMs;
    this.bars = isTerminal(out)
      ? new cliProgress.MultiBar(
          { format: '  {step} [{bar}] {value}/{total} {left}', stream: out, hideCursor: true, clearOnComplete: false },
          cliProgress.Presets.legacy,
        )
      : null;
  }

  show({ step: english, of = null, done, total, left: remaining }: Progress): void {
    const named = shown(english, this.language);
    const step = of === null ? named : `${of} ${named}`;
    const left = remaining ? shown(remaining, this.language) : '';
    if (this.bars) {
      const words = { step: step.padEnd(20), left };
      const bar = this.byStep.get(step) ?? this.bars.create(Math.max(total ?? done, 1), 0, words);
      this.byStep.set(step, bar);
      bar.setTotal(Math.max(total ?? done, done, 1));
      bar.update(done, words);
      return;
    }
    const quarter = total ? Math.floor((4 * done) / total) : 0;
    const before = this.printed.get(step);
    const atMs = this.nowMs();
    if (before?.quarter === quarter && !(left && atMs - before.atMs >= lineEveryMs)) return;
    this.printed.set(step, { quarter, atMs });
    const text = inLanguage(this.language, () => runTexts.progress({ step, done, all: total }));
    this.out.write(`  ${text}${left ? `, ${left}` : ''}\n`);
  }

  end(): void {
    this.bars?.stop();
  }
}

/**
 * Shows the number of processed elements on stderr, unless stdout is a terminal. Ctrl-C ends the iteration after the current batch.
 */
export async function* withProgress<One>(
  context: CommandContext,
  step: string,
  total: number | null,
  batches: AsyncIterable<One[]>,
): AsyncGenerator<One[]> {
  const { stdout, stderr } = context.io;
  const bars = isTerminal(stdout) ? null : new ProgressBars(stderr, context.language);
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

export function isTerminal(stream: NodeJS.WritableStream): boolean {
  return 'isTTY' in stream && stream.isTTY === true;
}
