// Plays a month-end with the real commands, from the windows of the month until the books are closed a second time.

import type { Clinic } from '../../sandbox/src/clinic.ts';
import { mappingData } from '../support/expected-books.ts';
import { frozen, SourceFigures } from '../support/source-figures.ts';
import { comeLate, correctOctober, playOctober, type Story } from './clinic-month.ts';
import { compareReports, type Expected, month, monthEnd } from './compare.ts';
import { compareBooks } from './compare-books.ts';
import { exportedUnits } from './compare-journal.ts';
import { fileReturns } from './filing.ts';
import { Journal } from './journal.ts';
import { unmatchedDifferences, unmatchedIn } from './matching.ts';
import { giftCardsAsRevenue } from './owed.ts';
import type { Transcript } from './page.ts';
import { first, type Variant } from './variant.ts';
import { switchVat } from './vat-switched.ts';
import { installation, type Services, startWorld, timezone, type World } from './world.ts';

export interface Played {
  /** The differences; empty if there are none. */
  differences: string[];
  /** Command lines and their output, by their names in docs/accountants/month-end.md. */
  transcript: Transcript;
  clinic: Clinic;
  /** Compares the reports with the clinic's records again, until `goOn` is called. */
  compareAgain(): Promise<string[]>;
  /** Plays what the page does not show: filed VAT returns, and VAT on prepayments. Adds to the differences. */
  goOn(): Promise<void>;
  stop(): Promise<void>;
}

const by = '--by "M. Virtanen"';

/**
 * Plays the month of the page. `say` is called with each step. The caller must stop the result; if this throws, everything is
 * already stopped.
 */
export async function playMonthEnd(
  services: Services,
  say: (line: string) => void,
  variant: Variant = first,
): Promise<Played> {
  const world = await startWorld(services, '2025-09-30 23:30', { variant });
  try {
    const play = new Play(world, say, variant);
    const { compareAgain, goOn } = await play.page();
    const { differences, transcript } = play;
    return { differences, transcript, clinic: world.sandbox.clinic, compareAgain, goOn, stop: world.stop };
  } catch (error) {
    await world.stop();
    throw error;
  }
}

class Play {
  readonly differences: string[] = [];
  readonly transcript: Transcript = new Map();
  readonly #world: World;
  readonly #say: (line: string) => void;
  readonly #variant: Variant;
  readonly #journal: Journal;

  constructor(world: World, say: (line: string) => void, variant: Variant) {
    this.#world = world;
    this.#say = say;
    this.#variant = variant;
    this.#journal = new Journal(world.sandbox.clinic, mappingData(world.mapping.text), variant);
  }

  async page(): Promise<Pick<Played, 'compareAgain' | 'goOn'>> {
    const story = await this.#october();
    const closed = await this.#close();
    const { forgotten } = await this.#late(story);
    await this.#reopen();
    const expected = (): Expected => ({
      ...{ closed, now: this.#figures(), asDated: [story.changed], redated: [forgotten] },
    });
    const compareAgain = () => compareReports(this.#world, expected(), this.#variant);
    await this.#after(compareAgain);
    return { compareAgain, goOn: () => this.#goOn(forgotten) };
  }

  async #goOn(forgotten: number): Promise<void> {
    this.#say('VAT returns are filed, and corrected for late documents');
    const filing = { world: this.#world, journal: this.#journal, sync: async () => void (await this.#run('sync')) };
    this.differences.push(...(await fileReturns(filing, forgotten)));
    this.differences.push(...(await compareBooks(this.#world, this.#journal, this.#variant, true)));
    this.#say('VAT on prepayments is switched on, and off again');
    this.differences.push(...(await switchVat(this.#world)));
  }

  /**
   * Plays October with a window at each week's end, the checklist before the month is over, and the practice's
   * corrections.
   */
  async #october(): Promise<Story> {
    const world = this.#world;
    this.#say('the history until September');
    await this.#run('migrate');
    await this.#run('sync');
    const story = await playOctober(world, async () => {
      this.#say('October: a window at the end of the week');
      await this.#run('sync');
    });
    this.#say('the first look at the checklist');
    await this.#show('checklist-first', `ledger close --through ${monthEnd} --dry-run`);
    await this.#show('problems', 'problems');
    correctOctober(world, story);
    world.setTime('2025-11-03 09:00');
    await this.#show('window', 'sync');
    await this.#show('no-problems', 'problems');
    return story;
  }

  /** Runs the reports, the checklist and the close. Returns the closed figures. */
  async #close(): Promise<SourceFigures> {
    this.#say('the reports before the close');
    await this.#show('vat', `report vat --month ${month}`);
    await this.#show('eu-sales', `report eu-sales --month ${month}`);
    await this.#show('receivables', `report receivables --as-of ${monthEnd}`);
    await this.#show('clearing', `report clearing --month ${month}`);
    await this.#prepayments();
    await this.#show('vouchers', `report vouchers --as-of ${monthEnd}`);
    await this.#show('reconcile', 'reconcile --complete');
    await this.#show('checklist', `ledger close --through ${monthEnd} --dry-run`);
    const closed = new SourceFigures(frozen(this.#world.sandbox.clinic), timezone);
    await this.#compare(() =>
      compareReports(this.#world, { closed, now: closed, asDated: [], redated: [] }, this.#variant),
    );
    this.#say('the checklist by a mapping that has gift cards as revenue');
    this.differences.push(...(await giftCardsAsRevenue(this.#world)));
    this.#say('the books are closed');
    await this.#show('close', `ledger close --through ${monthEnd} ${by} --yes`);
    this.#journal.close(monthEnd);
    return closed;
  }

  /**
   * Two uses of another client's prepayment in the same week leave the same unused amount, so the accountant decides.
   */
  async #prepayments(): Promise<void> {
    const line = `report prepayments --as-of ${monthEnd}`;
    const printed = await this.#show('prepayments', line);
    this.differences.push(...unmatchedDifferences(this.#world, printed));
    await this.#show('proposals', 'problems match');
    for (const id of unmatchedIn(printed)) {
      const { prepayment } = this.#world.sandbox.clinic.payment(id);
      const match = `problems match ${installation}/payment/${id} --prepayment ${prepayment}`;
      await this.#show('match', `${match} --reason "its receipt says so" ${by}`);
    }
    await this.#run('sync');
    await this.#show('prepayments-matched', line);
  }

  /** Two documents are dated in the closed month, and the accountant decides about them. */
  async #late({ changed }: Story): Promise<{ forgotten: number }> {
    const world = this.#world;
    this.#say('two late documents, and their decisions');
    world.setTime('2025-11-04 11:00');
    const forgotten = comeLate(world, changed);
    world.setTime('2025-11-04 12:00');
    await this.#show('late-window', 'sync');
    await this.#show('not-complete', 'reconcile --complete', 1);
    await this.#show('late-problems', 'problems');
    await this.#show('late', 'late');
    const decide = (id: number, how: string, reason: string) =>
      `late decide ${installation}/invoice/${id} ${how} --reason "${reason}" ${by}`;
    await this.#show('redate', decide(forgotten, '--redate', 'a forgotten visit; goes into November'));
    await this.#show('as-dated', decide(changed, '--as-dated', 'a wrong price; October is declared anew'));
    this.#journal.decide(`invoice/${forgotten}`, 'redate');
    this.#journal.decide(`invoice/${changed}`, 'as_dated');
    await this.#show('decided-window', 'sync');
    await this.#show('explain', `explain invoice ${forgotten}`);
    return { forgotten };
  }

  async #reopen(): Promise<void> {
    this.#say('the books are opened again, and closed again');
    const reason = '--reason "a wrong price on an invoice of October"';
    await this.#show('reopen', `ledger reopen --from 2025-10-30 ${reason} ${by} --yes`);
    this.#journal.reopen('2025-10-30');
    await this.#show('reopened-window', 'sync');
    await this.#show('no-late', 'late');
    await this.#show('close-again', `ledger close --through ${monthEnd} ${by} --yes`);
    this.#journal.close(monthEnd);
  }

  async #after(compare: () => Promise<string[]>): Promise<void> {
    this.#say('the reports after the second close');
    await this.#show('vat-again', `report vat --month ${month}`);
    await this.#show('vat-next', 'report vat --month 2025-11');
    await this.#show('complete', 'reconcile --complete');
    await this.#show('closes', 'ledger closes');
    const head = /[0-9a-f]{64}/;
    const verified = head.exec(await this.#show('verify', 'ledger verify'))?.[0];
    const books = await this.#show('export', `export --format hledger --from ${month}-01 --to ${monthEnd}`);
    if (verified === undefined || !books.includes(` head ${verified} `))
      this.differences.push(`ledger verify prints the head ${verified}, the export another one`);
    await this.#compare(compare);
  }

  /** Adds the entries of the window to the expected journal, by the facts that only the books record. */
  async #window(): Promise<void> {
    const { stdout } = await this.#world.run('problems --code prepayment_unmatched --json');
    const { documents } = JSON.parse(stdout) as { documents: { id: string }[] };
    const unmatched = new Set(documents.map(({ id }) => Number(id.split('/').at(-1))));
    const order = [...new Set((await exportedUnits(this.#world, ' --documents')).map(({ document }) => document))];
    this.#journal.window({ unmatched, order });
  }

  #figures(): SourceFigures {
    return new SourceFigures(this.#world.sandbox.clinic, timezone);
  }

  async #compare(compare: () => Promise<string[]>): Promise<void> {
    this.#say('each report beside the clinic’s own records');
    this.differences.push(...(await compare()));
    this.differences.push(...(await compareBooks(this.#world, this.#journal, this.#variant)));
  }

  /** Runs a command, keeps its output under a name, and returns it. */
  async #show(name: string, line: string, code = 0): Promise<string> {
    const printed = await this.#run(line, code);
    this.transcript.set(name, { line, printed });
    return printed;
  }

  async #run(line: string, code = 0): Promise<string> {
    const ran = await this.#world.run(line);
    if (ran.code !== code)
      this.differences.push(`${line} ended with ${ran.code}, not ${code}:\n${ran.stdout}${ran.stderr}`);
    if (line === 'sync') await this.#window();
    return ran.stdout;
  }
}
