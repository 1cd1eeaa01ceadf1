import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { scriptedCalls } from './all.ts';
import type { OdooVersion, World } from './world.ts';

/**
 * What real servers answered, by the name of the script: `all`, or by version (`up to 18`, `later`: than 17). A script that is new
 * is measured by running it against each of them (`npx vitest run --config vitest.checks.config.ts test/erp/odoo/real`), which says what it answers.
 */
const measured = JSON.parse(readFileSync(new URL('./measured.json', import.meta.url), 'utf8')) as Record<
  string,
  Record<string, unknown>
>;

export const measuredNames = Object.keys(measured);

function measuredOf(name: string, version: OdooVersion): unknown {
  const by = measured[name] ?? {};
  const keys = [String(version), version === 17 ? '' : 'later', version === 19 ? '' : 'up to 18', 'all'];
  const found = keys.find((key) => key in by);
  if (found === undefined) throw new Error(`nothing was measured of «${name}» in ${version}`);
  return by[found];
}

/** Declares a test for each script of a version: what it tells is what was measured. */
export function declareScripts(version: OdooVersion, world: () => World): void {
  for (const { name, only, run } of scriptedCalls) {
    if (only !== undefined && !only.includes(version)) continue;
    test(name, async () => {
      // As JSON has it: what is undefined is not there.
      expect(JSON.parse(JSON.stringify(await run(world())))).toEqual(measuredOf(name, version));
    });
  }
}
