import { test } from 'vitest';
import type { Capabilities } from '../../../src/erp/capabilities.ts';
import { ContractDelivery, type ContractSubject, contractCases } from './cases.ts';

/**
 * Declares the cases as tests; `begin` makes a company of its own for each. Those that do not apply are skipped, and say why. Of a
 * record that is like one before in all that the cases differ by, only the first is tried. `isAlone`: the ERP takes one case at a time.
 */
export function contractSuite(
  capabilities: Capabilities,
  begin: () => Promise<ContractSubject>,
  { isLikeOneBefore = false, isAlone = false } = {},
): void {
  const declare = isAlone ? test : test.concurrent;
  for (const [n, { name, doesNotApply, run }] of contractCases.entries()) {
    if (isLikeOneBefore && n > 0) return;
    const why = doesNotApply(capabilities);
    if (why !== null) {
      test.skip(`${name} (does not apply: ${why})`);
      continue;
    }
    declare(name, async () => {
      const subject = await begin();
      try {
        await run(new ContractDelivery(subject), subject);
      } finally {
        await subject.close();
      }
    });
  }
}
