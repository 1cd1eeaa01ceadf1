import { test } from 'vitest';
import type { Capabilities } from '../../../src/erp/capabilities.ts';
import { type ContractCase, ContractDelivery, type ContractSubject, contractCases } from './cases.ts';

/**
 * Declares the cases as tests. `begin` makes a new company for each. Cases that do not apply are skipped with their
 * reason, and so are those in `without`. `more`: cases of this ERP besides those of the contract. Of records with equal traits, only the first is tested. `isAlone` is true if the ERP can run only one case at
 * a time.
 */
export function contractSuite(
  capabilities: Capabilities,
  begin: () => Promise<ContractSubject>,
  {
    isLikeOneBefore = false,
    isAlone = false,
    without = [] as readonly string[],
    more = [] as readonly ContractCase[],
  } = {},
): void {
  const declare = isAlone ? test : test.concurrent;
  for (const [n, { name, doesNotApply, run }] of [...contractCases, ...more].entries()) {
    if (isLikeOneBefore && n > 0) return;
    const why =
      doesNotApply(capabilities) ?? (without.includes(name) ? 'an ERP that has the key makes no second draft' : null);
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
