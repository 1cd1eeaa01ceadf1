// The accountant closes October in the ERP after vetledger has posted and before it has delivered. The VAT reports must
// still equal the ERP's returns.

import { fileURLToPath } from 'node:url';
import { fromEnvironment } from '../support/demo-config.ts';
import { frozen, SourceFigures } from '../support/source-figures.ts';
import { figures, type OdooBooks, type Return, startOdooBooks } from './erp-world.ts';
import { type Services, startWorld, timezone, type World } from './world.ts';

const mapping = fileURLToPath(new URL('../../mappings/odoo-demo.yaml', import.meta.url));
const installation = 4712;
const [october, november] = ['2025-10', '2025-11'];
const [visit, other] = [
  { sum: '120.00', vat_percentage: '25.5', account_number: '3000', name: 'Operation' },
  { sum: '50.00', vat_percentage: '14', account_number: '3110', name: 'Bandages' },
];
const by = '--reason "October is declared" --by "M. Virtanen"';

/** Plays this in a clinic with new books. Returns the differences. */
export async function closedInErp(services: Services): Promise<string[]> {
  const odoo = await startOdooBooks();
  const { url, database, user, password } = odoo;
  const login = `url: "${url}", database: ${database}, user: ${user}, password: ${fromEnvironment('ERP_PASSWORD')}`;
  try {
    const world = await startWorld(services, '2025-10-31 18:00', {
      sandbox: { installation, seed: 5, invoices: 25, historyDays: 30 },
      settings: { mapping, erp: `{kind: odoo, ${login}, auto: true}` },
      env: { ERP_PASSWORD: password },
    });
    try {
      return await new ClosedInErp(world, odoo).play();
    } finally {
      await world.stop();
    }
  } finally {
    await odoo.stop();
  }
}

interface Figure {
  code: string;
  base: string;
  tax: string;
  entry?: string;
}

class ClosedInErp {
  readonly #differences: string[] = [];
  readonly #world: World;
  readonly #odoo: OdooBooks;

  constructor(world: World, odoo: OdooBooks) {
    this.#world = world;
    this.#odoo = odoo;
  }

  async play(): Promise<string[]> {
    await this.#run('migrate', 0, '');
    const invoices = this.#sell();
    this.#world.setTime('2025-10-31 20:00');
    await this.#run('sync');
    this.#compare('all of October is in the ERP', await this.#complete(0), true);
    const unsent = await this.#changeUnsent(invoices);
    const declared = this.#odoo.taxReturn(october);
    await this.#becomesLate(declared, unsent);
    const redated = await this.#decide();
    await this.#afterwards(declared, unsent, redated);
    await this.#file(declared, unsent);
    return this.#differences;
  }

  /** Creates unpaid invoices of the day. Returns their ids. */
  #sell(): number[] {
    const { clinic } = this.#world.sandbox;
    const client = clinic.clients.all().find(({ customer_type: type }) => type === 0)!.id;
    const sell = () => clinic.createInvoice({ department: 11, client, rows: [visit, other] }).id;
    return [sell(), sell(), sell()];
  }

  /**
   * Changes undelivered invoices: one is voided, one gets another price, one another rate, and a visit is invoiced
   * late. Returns the effect, computed from the clinic's records.
   */
  async #changeUnsent([voided = 0, cheaper = 0, mistaken = 0]: number[]): Promise<Return> {
    const { clinic } = this.#world.sandbox;
    const before = new SourceFigures(frozen(clinic), timezone);
    await this.#run(`deliver pause ${by}`);
    this.#world.setTime('2025-11-03 09:00');
    clinic.voidInvoice(voided);
    clinic.updateRow(clinic.invoiceRows.of(cheaper)[0]!.id, {
      ...{ sum: '80.0000', sum_vat: '20.4000', sum_total: '100.4000' },
    });
    clinic.updateRow(clinic.invoiceRows.of(mistaken)[0]!.id, {
      ...{ vat_percentage: '14.00', sum_vat: '16.8000', sum_total: '136.8000' },
      vat_group: clinic.vatGroups.find(({ name }) => name === 'VAT 14 %')!,
    });
    const { client } = clinic.invoice(voided);
    const { id: forgotten } = clinic.createInvoice({
      ...{ department: 11, client, invoice_date: '2025-10-30', rows: [other] },
    });
    this.#world.setTime('2025-11-03 11:00');
    await this.#run('sync');
    this.#compare('complete while entries are not sent', await this.#complete(1), false);
    const changes = new SourceFigures(clinic, timezone).vatChanges(before, [voided, cheaper, mistaken, forgotten]);
    return returnOf([...changes].map(([group, sums]) => ({ code: codeOf(group), ...sums })));
  }

  /** The accountant closes and declares October in the ERP. Then delivery continues. */
  async #becomesLate(declared: Return, unsent: Return): Promise<void> {
    this.#odoo.close('2025-10-31');
    await this.#run('deliver resume --by "M. Virtanen"');
    await this.#run('deliver');
    this.#compare('the ERP’s return of October, after the delivery', this.#odoo.taxReturn(october), declared);
    const { vat, late, cancelled_out: settled } = await this.#vat(october);
    this.#compare('report vat of October, before the decision', returnOf(vat), declared);
    this.#compare('late items of October, before the decision', returnOf(late), unsent);
    this.#compare('settled unsent, before the decision', settled, undefined);
    this.#compare('complete while entries are late', await this.#complete(1), false);
  }

  /** Redates all late entries. Returns the entries of October that this settles. */
  async #decide(): Promise<string[]> {
    const { late } = (await this.#run('late list')) as { late: { id: string }[] };
    // The late entries are reversals of three invoices, two of their new entries, and the entry of the new invoice.
    this.#compare('late entries', late.length, 6);
    const ids = late.map(({ id }) => id).join(' ');
    const { redated } = (await this.#run(`late decide ${ids} --redate ${by}`)) as {
      redated: { unit: string; reversal: string }[];
    };
    await this.#run('deliver');
    return redated.flatMap(({ unit, reversal }) => [unit, reversal]).toSorted();
  }

  async #afterwards(declared: Return, unsent: Return, redated: string[]): Promise<void> {
    this.#compare('the ERP’s return of October, afterwards', this.#odoo.taxReturn(october), declared);
    const { vat, late, cancelled_out: settled } = await this.#vat(october);
    this.#compare('report vat of October, after the decision', returnOf(vat), declared);
    this.#compare('late items of October, after the decision', returnOf(late), {});
    this.#compare('settled unsent, by entry', [...new Set(settled?.map(({ entry }) => entry))].toSorted(), redated);
    this.#compare('settled unsent, together', returnOf(settled), {});
    const next = await this.#vat(november);
    const both = returnOf([...(next.vat ?? []), ...(next.late ?? [])]);
    this.#compare('report vat of November', both, this.#odoo.taxReturn(november));
    this.#compare('late items of November', returnOf(next.late), unsent);
    const sent = redated.filter((unit) => this.#odoo.references().some((reference) => reference.includes(` ${unit} `)));
    this.#compare('settled entries in the ERP', sent, []);
    this.#compare('complete once all is decided and sent', await this.#complete(0), true);
  }

  /**
   * October is filed as declared, and a correction return takes what was redated. Entries that were cancelled out are in neither, but
   * the VAT accounts of the month still tie.
   */
  async #file(declared: Return, unsent: Return): Promise<void> {
    const corrected = figures([...Object.entries(declared), ...Object.entries(unsent)]);
    const moved = total(declared);
    const steps = [
      { options: '--take-late none', filed: declared, late: unsent, elsewhere: {} },
      { options: '--correction', filed: corrected, late: {}, elsewhere: unsent },
    ];
    for (const { options, filed, late, elsewhere } of steps) {
      await this.#markFiled(options);
      const report = await this.#vat(october);
      const what = `report vat of October, filed with ${options}`;
      this.#compare(what, returnOf(report.filed), filed);
      this.#compare(`${what}: changed since`, returnOf(report.since), {});
      this.#compare(`${what}: late items`, returnOf(report.late), late);
      this.#compare(
        `${what}: cancelled out`,
        [report.cancelled_out?.length !== 0, returnOf(report.cancelled_out)],
        [true, {}],
      );
      const accounts = figures((report.accounts ?? []).map(({ tax }) => ['tax', tax]));
      this.#compare(`${what}: the VAT accounts`, accounts.tax, moved);
      this.#compare(`${what}: November`, returnOf((await this.#vat(november)).taken_elsewhere), elsewhere);
    }
  }

  async #markFiled(options: string): Promise<void> {
    const line = `report vat --month ${october} --mark-filed ${options}`;
    const { installations } = (await this.#run(`${line} --dry-run`)) as {
      installations: { vat_return: { to_file: { shown: string } } }[];
    };
    await this.#run(`${line} --shown ${installations[0]?.vat_return.to_file.shown} ${by}`);
  }

  async #complete(code: number): Promise<boolean> {
    const { complete } = (await this.#run('reconcile --erp --complete', code)) as { complete: boolean };
    return complete;
  }

  async #vat(month: string): Promise<Record<string, Figure[] | undefined>> {
    const { installations } = (await this.#run(`report vat --month ${month}`)) as {
      installations: { sections: Record<string, { figures: Figure[] }> }[];
    };
    const sections = Object.entries(installations[0]?.sections ?? {});
    return Object.fromEntries(sections.map(([name, section]) => [name, section.figures]));
  }

  async #run(line: string, code = 0, json = ' --json'): Promise<unknown> {
    const ran = await this.#world.run(`${line}${json}`);
    if (ran.code !== code)
      this.#differences.push(`${line} ended with ${ran.code}, not ${code}:\n${ran.stdout}${ran.stderr}`);
    return json === '' ? null : JSON.parse(ran.stdout);
  }

  #compare(what: string, got: unknown, asked: unknown): void {
    const [mine, theirs] = [JSON.stringify(got), JSON.stringify(asked)];
    if (mine !== theirs) this.#differences.push(`closed in the ERP: ${what}\n    got:   ${mine}\n    asked: ${theirs}`);
  }
}

/** A section in the form of the ERP's return. */
const returnOf = (section: Figure[] = []): Return =>
  figures(section.flatMap(({ code, base, tax }) => [[`${code} base`, base] as const, [`${code} tax`, tax] as const]));

/** The tax of a return. */
const total = (of: Return): string | undefined =>
  figures(Object.entries(of).flatMap(([name, amount]) => (name.endsWith(' tax') ? [['tax', amount] as const] : [])))
    .tax;

/** The name of the tax in Odoo for a VAT group of the clinic. */
const codeOf = (group: string) => `${group.split(' ').at(-1)}%`;
