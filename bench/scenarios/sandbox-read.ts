// (i) A bare read of 100,000 records from the sandbox: this checkout and an earlier revision in turns.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { writeSection } from '../measure.ts';
import { count, median, table } from '../parts/figures.ts';
import { usageOf } from '../parts/processes.ts';
import { checkOut } from '../parts/revision.ts';
import { type Source, startSource } from '../parts/sandbox.ts';

/** One invoice, 3 rows, and 0.8 payments on average. */
const recordsPerInvoice = 4.8;
const lists = ['invoice/', 'invoicerow/', 'invoicepayment/'];

export interface SandboxReadSettings {
  /** The revision to compare with. */
  against: string;
  records: number;
  turns: number;
}

export async function sandboxRead({ against, records, turns }: SandboxReadSettings): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), 'vetledger-bench-'));
  const sources: Source[] = [];
  try {
    const revision = checkOut(against, join(folder, 'before'));
    if (typeof revision === 'string') throw new Error(`${against} cannot be started here: ${revision}`);
    const settings = { invoices: Math.ceil(records / recordsPerInvoice), rateWindowSeconds: 0, latencyMs: 0 };
    sources.push(await startSource(settings, join(revision.folder, 'bench/parts/sandbox-process.ts')));
    sources.push(await startSource(settings));
    const seconds = sources.map(() => [] as number[]);
    const processor = sources.map(() => [] as number[]);
    let read = 0;
    for (let turn = 0; turn <= turns; turn += 1) {
      // The order alternates, so that neither is always first. The first turn only warms up.
      for (const at of turn % 2 === 0 ? [0, 1] : [1, 0]) {
        const source = sources[at]!;
        const [started, used] = [performance.now(), usageOf(source.pid)];
        read = await readAll(source, records);
        if (turn === 0) continue;
        seconds[at]!.push((performance.now() - started) / 1000);
        processor[at]!.push(usageOf(source.pid) - used);
      }
      console.error(
        `turn ${turn} of ${turns}: ${seconds.map((taken) => taken.at(-1)?.toFixed(2) ?? '–').join(' s, ')} s`,
      );
    }
    const row = (name: string, at: number) => {
      const [taken, used] = [median(seconds[at]!), median(processor[at]!)];
      return [name, taken.toFixed(2), count(Math.round(read / taken)), used.toFixed(2)];
    };
    const ratio = (figures: number[][]) => median(figures[1]!.map((now, turn) => now / figures[0]![turn]!)).toFixed(2);
    writeSection(
      '(i) The sandbox alone',
      [
        `A bare read of ${count(read)} records (invoices, rows, payments) in pages of 1,000 over one connection, ${turns} times in turns; medians.`,
        '',
        table(
          ['sandbox', 'seconds', 'records per second', "seconds of the server's processor time"],
          [row(revision.name, 0), row('this checkout', 1)],
        ),
        '',
        'This checkout over that revision, median of the pairs:',
        `time ${ratio(seconds)}, processor time ${ratio(processor)}.`,
      ].join('\n'),
    );
  } finally {
    for (const source of sources) source.stop();
    rmSync(folder, { recursive: true, force: true });
  }
}

/** Reads the lists from the beginning by `id__gt`, until `records` are read. Returns the number of records. */
async function readAll({ api, token }: Source, records: number): Promise<number> {
  const headers = { authorization: `Bearer ${token}` };
  let read = 0;
  for (const list of lists) {
    for (let after = 0; read < records; ) {
      const answer = await fetch(`${api}${list}?page_size=1000&id__gt=${after}`, { headers });
      if (!answer.ok) throw new Error(`${list} answered ${answer.status}`);
      const text = await answer.text();
      // The reader finds ids in the text, because parsing the JSON would measure the reader.
      const ids = text.match(/"id":\d+/g) ?? [];
      if (ids.length === 0) break;
      read += ids.length;
      after = Number(ids.at(-1)!.slice(5));
    }
  }
  return read;
}
