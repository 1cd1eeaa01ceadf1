import type { ErpProblemCode } from '../../../domain/erp-problems.ts';
import { visible } from '../../../domain/text.ts';
import type { ErpEntry, ErpLine, ErpParty } from '../../entry.ts';
import type { RequestOptions } from '../../port.ts';
import type { EntryProblem, Resolved } from '../resolved.ts';
import type { ResolvedEntry, ResolvedLine } from './moves.ts';
import type { AnalyticName, Named, OdooAccount, OdooNames } from './names.ts';
import type { OdooTax, TaxBook } from './taxes.ts';

/** Looks up everything that entries name. What Odoo has twice is a problem, and never guessed. */
export async function resolveEntries(
  entries: readonly ErpEntry[],
  options: { names: OdooNames; request: RequestOptions },
): Promise<Resolved<ResolvedEntry>> {
  const { names, request } = options;
  const lines = entries.flatMap((entry) => entry.lines);
  const parties = lines.flatMap(({ party }) => (party === null ? [] : [party]));
  const codesOf = (areOurs: boolean) =>
    new Set(parties.filter(({ isOurs }) => isOurs === areOurs).map(({ code }) => code));
  // One after the other: one request at a time is under way per company.
  const known: Known = {
    accounts: await names.accounts(new Set(lines.map(({ account }) => account)), request),
    journals: await names.journals(new Set(entries.map(({ journal }) => journal)), request),
    taxes: lines.some(({ vat }) => vat !== null) ? await names.taxes(request) : null,
    analytic: await names.analyticAccounts(new Set(lines.flatMap(analyticNames)), request),
    ours: await names.ourParties(codesOf(true), request),
    theirs: await names.parties(codesOf(false), request),
  };
  const found: Resolved<ResolvedEntry> = { entries: new Map(), problems: [], missingParties: new Map() };
  for (const entry of entries) {
    const resolver = new EntryResolver(entry, known, found.missingParties);
    const resolved = resolver.resolve();
    if (resolver.problem !== null) found.problems.push({ key: entry.key, ...resolver.problem });
    else if (resolved !== null) found.entries.set(entry.key, resolved);
  }
  return found;
}

function analyticNames({ dimensions }: ErpLine): AnalyticName[] {
  return Object.entries(dimensions).map(([plan, code]): AnalyticName => `${plan}\n${code}`);
}

interface Known {
  accounts: Map<string, OdooAccount[]>;
  journals: Map<string, Named[]>;
  taxes: TaxBook | null;
  analytic: Map<string, Named[]>;
  ours: Map<string, Named[]>;
  theirs: Map<string, Named[]>;
}

/** Odoo computes with binary numbers: an amount of so many digits survives them. */
const mostDigits = 15;

class EntryResolver {
  /** The first one. */
  problem: Pick<EntryProblem, 'code' | 'message'> | null = null;
  readonly #entry: ErpEntry;
  readonly #known: Known;
  readonly #missingParties: Map<string, ErpParty>;

  constructor(entry: ErpEntry, known: Known, missingParties: Map<string, ErpParty>) {
    this.#entry = entry;
    this.#known = known;
    this.#missingParties = missingParties;
  }

  /** Null where something is in the way, or a party is still missing. */
  resolve(): ResolvedEntry | null {
    const { journal, lines } = this.#entry;
    const missing = new Map<string, ErpParty>();
    const found = this.#one(this.#known.journals.get(journal), 'erp_journal_unknown', 'journal', journal);
    const resolved = lines.map((line) => this.#line(line, found, missing));
    if (this.problem !== null) return null;
    for (const [code, party] of missing) this.#missingParties.set(code, party);
    if (found === null || missing.size > 0) return null;
    return { journalId: found.id, lines: resolved };
  }

  #line(line: ErpLine, journal: Named | null, missing: Map<string, ErpParty>): ResolvedLine {
    if (line.amount.precision(true) > mostDigits) {
      this.#add(
        'erp_refused',
        `Odoo cannot hold the amount ${line.amount.toFixed()}: it has more than ${mostDigits} digits`,
      );
    }
    return {
      accountId: this.#account(line.account, journal)?.id ?? 0,
      partyId: line.party === null ? null : this.#party(line.party, missing),
      tax: line.vat === null ? null : this.#tax(line.vat.code, line.vat.part),
      analyticIds: Object.entries(line.dimensions).map(([plan, code]) => {
        const found = this.#known.analytic.get(`${plan}\n${code}`);
        return this.#one(found, 'erp_dimension_unknown', `analytic account of ${visible(plan)}`, code)?.id ?? 0;
      }),
    };
  }

  #account(code: string, journal: Named | null): OdooAccount | null {
    const found = this.#known.accounts.get(code) ?? [];
    const [account] = found;
    const named = `account ${visible(code)}`;
    if (account === undefined) return this.#add('erp_account_unknown', `Odoo has no ${named} in this company`);
    if (found.length > 1) {
      return this.#add(
        'erp_account_unknown',
        `Odoo has ${found.length} accounts with the code ${visible(code)}: change one’s code`,
      );
    }
    if (!account.isActive) return this.#add('erp_account_unknown', `Odoo’s ${named} is deprecated or archived`);
    if (account.currencyId !== null) {
      return this.#add('erp_account_unknown', `Odoo’s ${named} has a currency of its own, whose amount nobody knows`);
    }
    if (journal !== null && account.journalIds.length > 0 && !account.journalIds.includes(journal.id)) {
      return this.#add(
        'erp_account_unknown',
        `Odoo’s ${named} may not be used in the journal ${visible(this.#entry.journal)}`,
      );
    }
    return account;
  }

  #tax(name: string, part: 'base' | 'tax'): OdooTax | null {
    const found = this.#known.taxes?.named(name) ?? [];
    const [tax] = found;
    const named = `tax ${visible(name)}`;
    const add = (message: string) => this.#add('erp_tax_unknown', message);
    if (tax === undefined) return add(`Odoo has no ${named} on sales in this company`);
    if (found.length > 1)
      return add(`Odoo has ${found.length} taxes on sales with the name ${visible(name)}: rename one`);
    if (!tax.isActive) return add(`Odoo’s ${named} is archived`);
    if (tax.fault !== null) return add(`Odoo’s ${named} ${tax.fault}`);
    // Its amount line tells the base, too, where no tag does.
    const needsAmount = part === 'tax' || tax.invoice.baseTags.length === 0 || tax.refund.baseTags.length === 0;
    if (needsAmount && (tax.invoice.amountLineId === null || tax.refund.amountLineId === null)) {
      return add(
        `Odoo’s ${named} has no line for its whole amount in its distribution: map a tax that has one, of 100 %`,
      );
    }
    return tax;
  }

  #party(party: ErpParty, missing: Map<string, ErpParty>): number | null {
    const found = (party.isOurs ? this.#known.ours : this.#known.theirs).get(party.code) ?? [];
    const [first] = found;
    const code = visible(party.code);
    if (first === undefined && party.isOurs) {
      missing.set(party.code, party);
      return null;
    }
    if (first === undefined) return this.#add('erp_party_refused', `Odoo has no partner with the reference ${code}`);
    if (found.length > 1) {
      const ids = found.map(({ id }) => id).join(', ');
      return this.#add(
        'erp_party_refused',
        `Odoo has ${found.length} partners with the reference ${code} (ids ${ids}): take it from all but one`,
      );
    }
    if (!first.isActive) return this.#add('erp_party_refused', `Odoo’s partner with the reference ${code} is archived`);
    return first.id;
  }

  /** The only active record of a name. */
  #one(found: Named[] | undefined, code: ErpProblemCode, kind: string, name: string): Named | null {
    const [first] = found ?? [];
    if (first === undefined) return this.#add(code, `Odoo has no ${kind} ${visible(name)}`);
    if (found !== undefined && found.length > 1) {
      return this.#add(code, `Odoo has ${found.length} with the code ${visible(name)} (${kind}): rename one`);
    }
    if (!first.isActive) return this.#add(code, `Odoo’s ${kind} ${visible(name)} is archived`);
    return first;
  }

  #add(code: ErpProblemCode, message: string): null {
    this.problem ??= { code, message };
    return null;
  }
}
