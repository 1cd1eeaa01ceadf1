import { signed } from '../domain/entry.ts';
import { type Money, sum, zero } from '../domain/money.ts';
import { deliveryFindings } from '../texts/findings/delivery.ts';
import { Balances } from './balances.ts';
import type { Capabilities } from './capabilities.ts';
import { computedTax, taxedParts, type VatRule } from './computed-vat.ts';
import type { ErpLine } from './erp-entry.ts';

/** The rule by which an ERP computes VAT. Null if entries contain VAT lines. */
export function vatRuleOf({ vat, lines: { decimals } }: Pick<Capabilities, 'vat' | 'lines'>): VatRule | null {
  return vat.mode === 'from_net' || vat.mode === 'from_gross'
    ? { mode: vat.mode, rounding: vat.rounding, decimals }
    : null;
}

/** Whether the ERP reports VAT only with the sale that it belongs to. */
export function needsSales({ vat }: Pick<Capabilities, 'vat'>): boolean {
  return vat.mode !== 'explicit_rows' && vat.mode !== 'tagged_rows';
}

/** The reason why VAT of these lines belongs to no sale of theirs. Null if all of it does. */
export function vatWithoutSale(lines: readonly ErpLine[]): string | null {
  for (const { vat, amount } of lines) {
    if (vat?.part === 'tax' && vat.base !== null)
      return deliveryFindings.vatWithoutSale({ code: vat.code, tax: amount.toFixed() });
  }
  return null;
}

/**
 * The lines to send to an ERP that computes VAT: no VAT lines, and the sales in such parts that the ERP computes
 * exactly the VAT of `lines`. Otherwise the reason why there are none. `mostParts` is for the sale with this index.
 */
export function sentLines(
  lines: readonly ErpLine[],
  rule: VatRule,
  mostParts: (index: number) => number,
): { lines: ErpLine[] } | { problem: string } {
  const parts = new Map<ErpLine, ErpLine[]>();
  const accounts = new Map<string, string>();
  const groups = Map.groupBy(
    lines.flatMap((line, index) => (line.vat === null ? [] : [{ line, vat: line.vat, index }])),
    ({ vat }) => groupOf(vat),
  );
  for (const [group, taxed] of groups) {
    const bases = taxed.filter(({ vat }) => vat.part === 'base');
    const taxes = taxed.filter(({ vat }) => vat.part === 'tax').map(({ line }) => line);
    const [{ vat } = { vat: null }] = taxed;
    if (vat === null) continue;
    const { code, rate } = vat;
    const tax = sum(taxes.map(signed));
    const [account = '', ...others] = new Set(taxes.map((line) => line.account));
    if (others.length > 0) {
      return { problem: deliveryFindings.vatOnAccounts({ code, accounts: [account, ...others].join(', ') }) };
    }
    if ((bases.length === 0 && !tax.isZero()) || taxes.some((line) => line.vat?.base != null)) {
      return { problem: deliveryFindings.vatWithoutSale({ code, tax: tax.abs().toFixed() }) };
    }
    accounts.set(group, account);
    const divided = taxedParts(
      bases.map(({ line, index }) => ({ net: signed(line), mostParts: mostParts(index) })),
      tax,
      rate ?? zero,
      rule,
    );
    if (divided === null) {
      const base = sum(bases.map(({ line }) => signed(line))).abs();
      return { problem: deliveryFindings.vatNotComputable({ code, base: base.toFixed(), tax: tax.abs().toFixed() }) };
    }
    for (const [index, { line }] of bases.entries()) {
      parts.set(
        line,
        (divided[index] ?? []).map(({ net, tax: own }) =>
          withAmount(line, rule.mode === 'from_net' ? net : net.plus(own)),
        ),
      );
    }
  }
  const sent = lines.flatMap((line) => parts.get(line) ?? (line.vat?.part === 'tax' ? [] : line));
  return isSame(expanded(sent, rule, accounts), lines) ? { lines: sent } : { problem: deliveryFindings.vatNotSame };
}

/** The lines that the ERP posts for sent lines. `accounts`: the VAT account of each code and rate. */
function expanded(sent: readonly ErpLine[], rule: VatRule, accounts: ReadonlyMap<string, string>): ErpLine[] {
  return sent.flatMap((line) => {
    if (line.vat === null) return line;
    const amount = signed(line);
    const tax = computedTax(amount, line.vat.rate ?? zero, rule);
    const account = accounts.get(groupOf(line.vat)) ?? '';
    const taxLine = { ...line, account, party: null, dimensions: {}, vat: { ...line.vat, part: 'tax' as const } };
    const base = rule.mode === 'from_net' ? line : withAmount(line, amount.minus(tax));
    return tax.isZero() ? base : [base, withAmount(taxLine, tax)];
  });
}

/** Whether both have the same amounts per account, party and dimensions, and the same base and VAT per code. */
function isSame(one: readonly ErpLine[], other: readonly ErpLine[]): boolean {
  const left = new Balances();
  const add = (line: ErpLine, amount: Money) => {
    const { account, party, dimensions, vat } = line;
    left.add(JSON.stringify([account, party?.code ?? null, Object.entries(dimensions).sort()]), amount);
    if (vat !== null) left.add(JSON.stringify([vat.code, vat.part]), amount);
  };
  for (const line of one) add(line, signed(line));
  for (const line of other) add(line, signed(line).negated());
  return left.areZero;
}

function withAmount(line: ErpLine, amount: Money): ErpLine {
  return { ...line, side: amount.isNegative() ? 'credit' : 'debit', amount: amount.abs() };
}

function groupOf({ code, rate }: NonNullable<ErpLine['vat']>): string {
  return JSON.stringify([code, rate?.toFixed() ?? null]);
}
