/** An entry as a reader finds it in a file. */
export interface ReadEntry {
  unit: string;
  key: string;
  date: string;
  /** Amounts from the file with a decimal point; debits are positive. */
  lines: { account: string; amount: string; description: string }[];
}

/** Converts a decimal text to whole hundredths without rounding. */
export function cents(amount: string): bigint {
  const parts = /^(-?)(\d+)(?:\.(\d{1,2}))?$/.exec(amount);
  if (!parts) throw new Error(`no amount: ${amount}`);
  const [, sign, whole, fraction = ''] = parts;
  const value = BigInt(whole! + fraction.padEnd(2, '0'));
  return sign === '-' ? -value : value;
}

/** The balance of each account, debit positive, without accounts whose balance is zero. */
export function balancesOf(lines: Iterable<{ account: string; amount: bigint }>): Record<string, bigint> {
  const balances: Record<string, bigint> = {};
  for (const { account, amount } of lines) balances[account] = (balances[account] ?? 0n) + amount;
  return Object.fromEntries(Object.entries(balances).filter(([, amount]) => amount !== 0n));
}
