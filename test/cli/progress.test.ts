import { Writable } from 'node:stream';
import { expect, test } from 'vitest';
import { ProgressBars } from '../../src/cli/progress.ts';

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
