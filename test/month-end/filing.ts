// VAT returns: two months are filed, then documents come late, and a correction return takes them. Each section of the return must
// have the lines of the expected journal, and together they must be the movement of the VAT accounts.

import { Decimal } from 'decimal.js';
import { mappingData } from '../support/expected-books.ts';
import { changeAgain, comeLateAgain } from './clinic-month.ts';
import { month, sections } from './compare.ts';
import { plain, vatOf } from './compare-journal.ts';
import type { Expected, Journal } from './journal.ts';
import { installation, type World } from './world.ts';

const by = '--by "M. Virtanen"';
const september = '2025-09';
const next = '2025-11';

export interface Filing {
  world: World;
  journal: Journal;
  /** Opens a window. The journal gets its entries. */
  sync(): Promise<void>;
}

/** Files September and October, and corrects October. `forgotten` was redated to November. Returns the differences. */
export async function fileReturns(filing: Filing, forgotten: number): Promise<string[]> {
  const returns = new Returns(filing);
  await returns.file(september, '--take-late none', () => false);
  await returns.compare('after the first returns');
  await returns.file(month, '', () => true);
  await returns.compare('after the return of October');
  filing.world.setTime('2025-11-04 13:00');
  const late = comeLateAgain(filing.world);
  filing.world.setTime('2025-11-04 14:00');
  await filing.sync();
  for (const document of late) await returns.redate(document);
  await filing.sync();
  await returns.compare('with late documents');
  await returns.file(month, '--correction', ({ day }) => day.startsWith(month));
  await returns.compare('after the correction return');
  filing.world.setTime('2025-11-04 15:00');
  changeAgain(filing.world, forgotten);
  filing.world.setTime('2025-11-04 16:00');
  await filing.sync();
  await returns.redate(`invoice/${forgotten}`);
  await filing.sync();
  await returns.compare('after another change');
  return returns.differences;
}

class Returns {
  readonly differences: string[] = [];
  readonly #filing: Filing;
  /** What each month's return declares, and the month whose return took a late entry. */
  readonly #declared = new Map<string, Expected[]>();
  readonly #taken = new Map<Expected, string>();

  constructor(filing: Filing) {
    this.#filing = filing;
  }

  async redate(document: string): Promise<void> {
    const line = `late decide ${installation}/${document} --redate --reason "goes into November" ${by}`;
    await this.#run(line);
    this.#filing.journal.decide(document, 'redate');
  }

  /** Files the return of a month, or its correction, which takes these late entries. */
  async file(of: string, options: string, takes: (entry: Expected) => boolean): Promise<void> {
    const line = `report vat --month ${of} --mark-filed ${options}`.trim();
    const { installations } = JSON.parse(await this.#run(`${line} --dry-run --json`)) as {
      installations: { vat_return: { to_file: { shown: string } } }[];
    };
    const { shown } = installations[0]!.vat_return.to_file;
    await this.#run(`${line} --shown ${shown} --reason filed ${by}`);
    const late = this.#open().filter(takes);
    for (const entry of late) this.#taken.set(entry, of);
    const isFirst = !this.#declared.has(of);
    this.#declared.set(of, [...(isFirst ? this.#onTime(of) : this.#declared.get(of)!), ...late]);
  }

  #onTime(of: string): Expected[] {
    return this.#filing.journal.entries.filter(({ day, isLate }) => !isLate && day.startsWith(of));
  }

  /** Late entries that no return has taken. */
  #open(): Expected[] {
    return this.#filing.journal.entries.filter((entry) => entry.isLate && !this.#taken.has(entry));
  }

  /** Compares the sections of each month's report. */
  async compare(when: string): Promise<void> {
    for (const period of [september, month, next]) {
      const report = await sections(this.#filing.world, `vat --month ${period}`);
      const declared = this.#declared.get(period);
      const elsewhere = [...this.#taken].flatMap(([entry, by]) =>
        by !== period && entry.on.startsWith(period) ? [entry] : [],
      );
      const expected: Record<string, Expected[]> =
        declared === undefined
          ? {
              vat: this.#onTime(period),
              late: this.#open().filter(({ on }) => on.startsWith(period)),
              taken_elsewhere: elsewhere,
            }
          : { filed: declared, since: [], late: this.#open(), taken_elsewhere: elsewhere };
      for (const [name, entries] of Object.entries(expected))
        this.#section(`${name} of ${period} ${when}`, report[name]?.figures ?? [], entries);
      const moved = this.#moved(({ on }) => on.startsWith(period));
      const parts = Object.keys(report)
        .filter((name) => name !== 'accounts')
        .map((name) => report[name]?.total.tax ?? '0');
      if (declared === undefined)
        this.#same(`the VAT accounts in ${period} ${when}`, plain(Decimal.sum(0, ...parts)), moved);
      else this.#same(`the VAT accounts in ${period} ${when}`, report.accounts?.total.tax, moved);
      await this.#accounts(period, when, moved);
    }
  }

  /** The movement of the VAT accounts by the trial balance. */
  async #accounts(of: string, when: string, moved: string): Promise<void> {
    const { trial_balance: books } = await sections(this.#filing.world, `trial-balance --month ${of}`);
    const vat = books?.figures.filter(({ account }) => /^293\d$/.test(account ?? '')) ?? [];
    const sum = vat.reduce((all, { debit, credit }) => all.plus(credit ?? 0).minus(debit ?? 0), new Decimal(0));
    this.#same(`report trial-balance of ${of} ${when}, VAT accounts`, plain(sum), moved);
  }

  #moved(isAsked: (entry: Expected) => boolean): string {
    const lines = this.#filing.journal.entries.filter(isAsked).flatMap((entry) => entry.lines);
    return plain(
      lines.reduce((sum, { role, amount }) => (role === 'vat' ? sum.minus(amount.toFixed()) : sum), new Decimal(0)),
    );
  }

  #section(what: string, figures: Record<string, unknown>[], entries: readonly Expected[]): void {
    const found = new Map<string, { base: Decimal; tax: Decimal }>();
    for (const { period, documents_of, kind, group, rate, base, tax } of figures) {
      const key = [period, documents_of, kind, group, rate].join(' ');
      const sum = found.get(key) ?? { base: new Decimal(0), tax: new Decimal(0) };
      found.set(key, { base: sum.base.plus(String(base)), tax: sum.tax.plus(String(tax)) });
    }
    const shown = [...found]
      .map(([key, { base, tax }]) => [key, `${plain(base)} ${plain(tax)}`])
      .filter(([, sums]) => sums !== '0.00 0.00');
    const asked = vatOf({ entries: [...entries] }, mappingData(this.#filing.world.mapping.text), () => true);
    this.#same(`report vat, ${what}`, JSON.stringify(shown.toSorted()), JSON.stringify([...asked].toSorted()));
  }

  #same(what: string, got: string | undefined, asked: string): void {
    if (got !== asked) this.differences.push(`${what}\n    books:    ${got}\n    expected: ${asked}`);
  }

  async #run(line: string): Promise<string> {
    const { code, stdout, stderr } = await this.#filing.world.run(line);
    if (code !== 0) this.differences.push(`${line} ended with ${code}:\n${stdout}${stderr}`);
    return stdout;
  }
}
