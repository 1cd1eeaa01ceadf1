import cliProgress from 'cli-progress';
import type { CommandContext } from './context.ts';

export interface Progress {
  step: string;
  done: number;
  total: number | null;
  /** How long it will take yet, in words, where that can be told. */
  left?: string | null;
}

/** Elsewhere than on a terminal, a step that can tell how long it will take says so as often. */
const tellEveryMs = 60_000;

/** Progress of a long run: bars on a terminal; elsewhere a line when a step begins, at each quarter of it, and in between. */
export class ProgressBars {
  private readonly out: NodeJS.WriteStream;
  private readonly bars: cliProgress.MultiBar | null;
  private readonly byStep = new Map<string, cliProgress.SingleBar>();
  private readonly told = new Map<string, { quarter: number; atMs: number }>();
  private readonly nowMs: () => number;

  constructor(out: NodeJS.WriteStream, nowMs: () => number = () => performance.now()) {
    this.out = out;
    this.nowMs = nowMs;
    this.bars = out.isTTY
      ? new cliProgress.MultiBar(
          { format: '  {step} [{bar}] {value}/{total} {left}', stream: out, hideCursor: true, clearOnComplete: false },
          cliProgress.Presets.legacy,
        )
      : null;
  }

  show({ step, done, total, left }: Progress): void {
    if (this.bars) {
      const words = { step: step.padEnd(20), left: left ?? '' };
      const bar = this.byStep.get(step) ?? this.bars.create(Math.max(total ?? done, 1), 0, words);
      this.byStep.set(step, bar);
      bar.setTotal(Math.max(total ?? done, done, 1));
      bar.update(done, words);
      return;
    }
    const quarter = total ? Math.floor((4 * done) / total) : 0;
    const before = this.told.get(step);
    const atMs = this.nowMs();
    if (before?.quarter === quarter && !(left && atMs - before.atMs >= tellEveryMs)) return;
    this.told.set(step, { quarter, atMs });
    this.out.write(`  ${step}: ${done}${total === null ? '' : ` of ${total}`}${left ? `, ${left}` : ''}\n`);
  }

  end(): void {
    this.bars?.stop();
  }
}

/**
 * Shows on stderr how many elements have come, unless the result is being written to a terminal, too. Ctrl-C ends the walk after
 * the batch at hand.
 */
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
