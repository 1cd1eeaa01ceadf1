import cliProgress from 'cli-progress';

export interface Progress {
  step: string;
  done: number;
  total: number | null;
}

/** Progress of a long run: bars on a terminal; elsewhere a line when a step begins and at each quarter of it. */
export class ProgressBars {
  private readonly out: NodeJS.WriteStream;
  private readonly bars: cliProgress.MultiBar | null;
  private readonly byStep = new Map<string, cliProgress.SingleBar>();
  private readonly quarters = new Map<string, number>();

  constructor(out: NodeJS.WriteStream) {
    this.out = out;
    this.bars = out.isTTY
      ? new cliProgress.MultiBar(
          { format: '  {step} [{bar}] {value}/{total}', stream: out, hideCursor: true, clearOnComplete: false },
          cliProgress.Presets.legacy,
        )
      : null;
  }

  show({ step, done, total }: Progress): void {
    if (this.bars) {
      const bar = this.byStep.get(step) ?? this.bars.create(Math.max(total ?? done, 1), 0, { step: step.padEnd(20) });
      this.byStep.set(step, bar);
      bar.setTotal(Math.max(total ?? done, done, 1));
      bar.update(done);
      return;
    }
    const quarter = total ? Math.floor((4 * done) / total) : 0;
    if (this.quarters.get(step) === quarter) return;
    this.quarters.set(step, quarter);
    this.out.write(`  ${step}: ${done}${total === null ? '' : ` of ${total}`}\n`);
  }

  end(): void {
    this.bars?.stop();
  }
}
