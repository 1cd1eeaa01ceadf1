// The balances of books, computed with SQL alone: per document and account, with party, VAT group and rate, and
// original VAT period.
import { numeric, text } from '../../src/db/columns.ts';
import { type Connection, rows } from '../../src/db/rows.ts';
import { D } from '../simulation/oracle-cents.ts';

export interface Balances {
  /** All lines except shares of prepayments. They must be equal on every way to the same mapping. */
  exact: Map<string, D>;
  /** The lines of shares by document; each may differ by a minor unit. */
  shares: Map<string, D>;
  /** The lines of shares by account, VAT group and rate, and the VAT given back for each prepayment. */
  sums: Map<string, D>;
}

/** Balances over all entries, debit positive, without zero balances. */
export async function balancesOf(db: Connection, installation: number): Promise<Balances> {
  const found = await rows(
    db,
    { place: text, period: text, document: text, share: text, balance: numeric },
    `select concat_ws(' | ', l.account, l.party_code, l.vat_group, l.vat_rate::float8::text) as place,
       e.vat_period as period, e.kind || '/' || e.document_id as document,
       case when l.rule in ('R6', 'R7') and l.role in ('vat', 'prepayment_vat') then 'yes' else 'no' end as share,
       sum(case l.side when 'debit' then l.amount else -l.amount end) as balance
     from entry e join entry_line l on l.entry_id = e.id where e.installation = ? group by 1, 2, 3, 4`,
    [installation],
  );
  const given = await rows(
    db,
    { prepayment: text, balance: numeric },
    `select s.prepayment_id::text as prepayment, sum(s.vat) as balance from entry_share s join entry e on e.id = s.entry_id
     where e.installation = ? and not exists (select from entry r where r.reverses = e.id) group by 1`,
    [installation],
  );
  const balances: Balances = { exact: new Map(), shares: new Map(), sums: new Map() };
  const add = (to: Map<string, D>, key: string, balance: string) =>
    to.set(key, (to.get(key) ?? new D(0)).plus(balance));
  for (const { place, period, document, share, balance } of found) {
    if (share === 'yes') {
      add(balances.shares, `${document}: ${place} | ${period}`, balance);
      add(balances.sums, place, balance);
    } else add(balances.exact, `${document}: ${place} | ${period}`, balance);
  }
  for (const { prepayment, balance } of given) add(balances.sums, `given back of prepayment ${prepayment}`, balance);
  return balances;
}

/** The differences between the books of two ways. `unit` is the minor unit; `isAside` leaves out documents. */
export function differences(one: Balances, other: Balances, unit: string): string[] {
  const compare = (part: keyof Balances, allowed: string) => {
    const keys = new Set([...one[part].keys(), ...other[part].keys()]);
    return [...keys].flatMap((key) => {
      const [a, b] = [one[part].get(key) ?? new D(0), other[part].get(key) ?? new D(0)];
      return a.minus(b).abs().greaterThan(allowed) ? [`${key}: ${a.toFixed(2)} or ${b.toFixed(2)}`] : [];
    });
  };
  return [...compare('exact', '0'), ...compare('shares', unit), ...compare('sums', '0')];
}
