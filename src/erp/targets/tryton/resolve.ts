import type { ErpProblemCode } from '../../../domain/erp-problems.ts';
import { visible } from '../../../domain/text.ts';
import type { ErpEntry, ErpLine, ErpParty } from '../../entry.ts';
import type { RequestOptions } from '../../port.ts';
import type { EntryProblem, Resolved } from '../resolved.ts';
import type { ResolvedEntry, ResolvedLine } from './moves.ts';
import type { AnalyticName, Named, TrytonAccount, TrytonNames, TrytonParty, TrytonPeriod } from './names.ts';

/** Looks up everything that entries name. What Tryton has twice is a problem, and never guessed. */
export async function resolveEntries(
  entries: readonly ErpEntry[],
  options: { names: TrytonNames; companyId: number; request: RequestOptions },
): Promise<Resolved<ResolvedEntry>> {
  const { names, companyId, request } = options;
  const lines = entries.flatMap((entry) => entry.lines);
  const parties = lines.flatMap(({ party }) => (party === null ? [] : [party]));
  // One after the other: Tryton wants one request at a time.
  const known = {
    accounts: await names.accounts(new Set(lines.map(({ account }) => account)), request),
    journals: await names.journals(new Set(entries.map(({ journal }) => journal)), request),
    taxes: await names.taxes(new Set(lines.flatMap(({ vat }) => (vat === null ? [] : [vat.code]))), request),
    analytic: await names.analyticAccounts(new Set(lines.flatMap(analyticNames)), request),
    ours: await names.ourParties(new Set(parties.filter(isOurs).map(({ code }) => code)), request),
    theirs: await names.parties(new Set(parties.filter((party) => !isOurs(party)).map(({ code }) => code)), request),
    periods: await names.periods(request),
  };
  const found: Resolved<ResolvedEntry> = { entries: new Map(), problems: [], missingParties: new Map() };
  for (const entry of entries) {
    const resolver = new EntryResolver(entry, companyId, known, found.missingParties);
    const resolved = resolver.resolve();
    if (resolver.problem !== null) found.problems.push({ key: entry.key, ...resolver.problem });
    else if (resolved !== null) found.entries.set(entry.key, resolved);
  }
  return found;
}

function isOurs({ isOurs: ours }: ErpParty): boolean {
  return ours;
}

function analyticNames({ dimensions }: ErpLine): AnalyticName[] {
  return Object.entries(dimensions).map(([root, code]): AnalyticName => `${root}\n${code}`);
}

interface Known {
  accounts: Map<string, TrytonAccount[]>;
  journals: Map<string, Named[]>;
  taxes: Map<string, Named[]>;
  analytic: Map<string, Named[]>;
  ours: Map<string, TrytonParty[]>;
  theirs: Map<string, TrytonParty[]>;
  periods: TrytonPeriod[];
}

class EntryResolver {
  /** The first one. */
  problem: Pick<EntryProblem, 'code' | 'message'> | null = null;
  readonly #entry: ErpEntry;
  readonly #companyId: number;
  readonly #known: Known;
  readonly #missingParties: Map<string, ErpParty>;

  constructor(entry: ErpEntry, companyId: number, known: Known, missingParties: Map<string, ErpParty>) {
    this.#entry = entry;
    this.#companyId = companyId;
    this.#known = known;
    this.#missingParties = missingParties;
  }

  /** Null where something is in the way, or a party is still missing. */
  resolve(): ResolvedEntry | null {
    const { journal, lines } = this.#entry;
    const missing = new Map<string, ErpParty>();
    const period = this.#period();
    const journalId = this.#one(this.#known.journals.get(journal), 'erp_journal_unknown', 'journal', journal);
    const resolved = lines.map((line) => this.#line(line, missing));
    if (this.problem !== null) return null;
    for (const [code, party] of missing) this.#missingParties.set(code, party);
    if (period === null || journalId === null || missing.size > 0) return null;
    return { companyId: this.#companyId, periodId: period.id, journalId: journalId.id, lines: resolved };
  }

  #line(line: ErpLine, missing: Map<string, ErpParty>): ResolvedLine {
    const account = this.#account(line.account);
    if (account !== null && account.partyRequired !== (line.party !== null)) {
      this.#add(
        'erp_party_refused',
        account.partyRequired
          ? `Tryton’s account ${account.code} needs a party, and the line has none: turn "party required" off, or name its role among those with parties`
          : `Tryton’s account ${account.code} takes no party, and the line has ${line.party?.code}: turn "party required" on`,
      );
    }
    const tax =
      line.vat === null
        ? null
        : this.#one(this.#known.taxes.get(line.vat.code), 'erp_tax_unknown', 'tax', line.vat.code);
    return {
      accountId: account?.id ?? 0,
      partyId: line.party === null ? null : this.#party(line.party, missing),
      taxId: tax?.id ?? null,
      analyticIds: Object.entries(line.dimensions).map(([root, code]) => {
        const found = this.#known.analytic.get(`${root}\n${code}`);
        return this.#one(found, 'erp_dimension_unknown', `analytic account of ${visible(root)}`, code)?.id ?? 0;
      }),
      takesDueDate: account?.type?.receivable === true || account?.type?.payable === true,
    };
  }

  #account(code: string): TrytonAccount | null {
    const { date } = this.#entry;
    const found = this.#known.accounts.get(code) ?? [];
    const [account] = found;
    const named = `account ${visible(code)}`;
    if (account === undefined) return this.#add('erp_account_unknown', `Tryton has no ${named} in this company`);
    if (found.length > 1) {
      return this.#add(
        'erp_account_unknown',
        `Tryton has ${found.length} accounts with the code ${visible(code)}: change one’s code`,
      );
    }
    if (account.type === null)
      return this.#add('erp_account_unknown', `Tryton’s ${named} is a heading: it has no type`);
    if (account.isClosed) return this.#add('erp_account_unknown', `Tryton’s ${named} is closed`);
    if (account.from !== null && date < account.from) {
      return this.#add('erp_account_unknown', `Tryton’s ${named} takes lines from ${account.from} on only`);
    }
    if (account.through !== null && date > account.through) {
      return this.#add('erp_account_unknown', `Tryton’s ${named} takes lines up to ${account.through} only`);
    }
    if (account.hasSecondCurrency) {
      return this.#add('erp_account_unknown', `Tryton’s ${named} has a second currency, whose amount nobody knows`);
    }
    return account;
  }

  #party(party: ErpParty, missing: Map<string, ErpParty>): number | null {
    const found = (party.isOurs ? this.#known.ours : this.#known.theirs).get(party.code) ?? [];
    const [first] = found;
    const code = visible(party.code);
    if (first === undefined && party.isOurs) {
      missing.set(party.code, party);
      return null;
    }
    if (first === undefined) return this.#add('erp_party_refused', `Tryton has no party with the code ${code}`);
    if (found.length > 1) {
      const ids = found.map(({ id }) => id).join(', ');
      return this.#add(
        'erp_party_refused',
        `Tryton has ${found.length} parties with the ${party.isOurs ? 'identifier' : 'code'} ${code} (ids ${ids}): take it from all but one`,
      );
    }
    if (!first.isActive) {
      return this.#add(
        'erp_party_refused',
        `Tryton’s party with the ${party.isOurs ? 'identifier' : 'code'} ${code} is not active`,
      );
    }
    return first.id;
  }

  #period(): TrytonPeriod | null {
    const { date } = this.#entry;
    const period = this.#known.periods.find(({ from, through }) => from <= date && date <= through);
    if (period === undefined) return this.#add('erp_period_missing', `Tryton has no period for ${date}`);
    if (!period.isOpen)
      return this.#add('period_closed_in_erp', `Tryton’s period ${visible(period.name)} of ${date} is closed`);
    return period;
  }

  /** The only active record of a name. */
  #one(found: Named[] | undefined, code: ErpProblemCode, kind: string, name: string): Named | null {
    const [first] = found ?? [];
    if (first === undefined) return this.#add(code, `Tryton has no ${kind} ${visible(name)}`);
    if (found !== undefined && found.length > 1) {
      return this.#add(code, `Tryton has ${found.length} with the name or code ${visible(name)} (${kind}): rename one`);
    }
    if (!first.isActive) return this.#add(code, `Tryton’s ${kind} ${visible(name)} is not active, or takes no lines`);
    return first;
  }

  #add(code: ErpProblemCode, message: string): null {
    this.problem ??= { code, message };
    return null;
  }
}
