import { PassThrough, Writable } from 'node:stream';
import { expect, test } from 'vitest';
import { withLineProgress } from '../../src/cli/commands/report-output.ts';
import { ProgressBars } from '../../src/cli/progress.ts';
import type { InstallationReport } from '../../src/reports/installation-report.ts';
import type { Item } from '../../src/reports/report-sections.ts';

test('without a terminal: a line when a step begins, at each quarter, and each minute where it can tell what is left', () => {
  const written: string[] = [];
  const out = new Writable({
    write(chunk, _encoding, done) {
      written.push(String(chunk).trim());
      done();
    },
  });
  let nowMs = 0;
  const bars = new ProgressBars(out as unknown as NodeJS.WriteStream, 'en', () => nowMs);
  const show = (atMs: number, done: number, left: string | null) => {
    nowMs = atMs;
    bars.show({ step: 'pulling rows', done, total: 1000, left });
  };
  show(0, 50, 'about 10 minutes left');
  show(30_000, 100, 'about 9 minutes left');
  show(60_000, 150, 'about 8 minutes left');
  show(70_000, 250, 'about 7 minutes left');
  show(200_000, 300, null);
  show(210_000, 1000, null);
  bars.show({ step: 'posting', done: 500, total: null });
  expect(written).toEqual([
    'pulling rows: 50 of 1000, about 10 minutes left',
    'pulling rows: 150 of 1000, about 8 minutes left',
    'pulling rows: 250 of 1000, about 7 minutes left',
    'pulling rows: 1000 of 1000',
    'posting: 500',
  ]);
});

test.each([
  ['a long report shows its lines', 20_000, false, ['printing lines: 1 of 20000', 'printing lines: 20000 of 20000']],
  ['a short one shows nothing', 19_999, false, []],
  ['a long one on a terminal shows nothing, because its lines are there', 20_000, true, []],
])('%s', async (_, total, isTTY, expected) => {
  const stderr = new PassThrough();
  const context = { io: { stdout: { isTTY }, stderr }, language: 'en' } as never;
  async function* items() {
    for (let n = 0; n < total; n += 1) yield {} as Item;
  }
  const report = {
    sections: [{ figures: [{ keys: {}, amounts: {}, items: items() }] }],
  } as unknown as InstallationReport;
  let printed = 0;
  await withLineProgress(context, total, [report], async ([shown]) => {
    for await (const _item of shown!.sections[0]!.figures[0]!.items) printed += 1;
  });
  expect(printed).toBe(total);
  const lines = String(stderr.read() ?? '')
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => line.trim());
  expect([lines[0], lines.at(-1)].filter((line) => line !== undefined)).toEqual(expected);
});
