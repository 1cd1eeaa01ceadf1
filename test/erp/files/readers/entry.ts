/** An entry as a reader finds it in a file. */
export interface ReadEntry {
  unit: string;
  key: string;
  date: string;
  /** Amounts as the file has them, with a point, debit positive. */
  lines: { account: string; amount: string; description: string }[];
}

/** Hundredths of a decimal text, exactly. */
export function cents(amount: string): bigint {
  const parts = /^(-?)(\d+)(?:\.(\d{1,2}))?$/.exec(amount);
  if (!parts) throw new Error(`no amount: ${amount}`);
  const [, sign, whole, fraction = ''] = parts;
  const value = BigInt(whole! + fraction.padEnd(2, '0'));
  return sign === '-' ? -value : value;
}

/** What entries post on each account, debit positive; accounts of zero are left out. */
export function balancesOf(lines: Iterable<{ account: string; amount: bigint }>): Record<string, bigint> {
  const balances: Record<string, bigint> = {};
  for (const { account, amount } of lines) balances[account] = (balances[account] ?? 0n) + amount;
  return Object.fromEntries(Object.entries(balances).filter(([, amount]) => amount !== 0n));
}
