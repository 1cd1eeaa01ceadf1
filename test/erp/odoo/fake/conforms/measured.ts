import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { scriptedCalls } from './all.ts';
import type { OdooVersion, World } from './world.ts';

/**
 * The answers of real servers by the name of the script: `all`, or by version (`up to 18`, or `later` than 17). To
 * measure a new script, run it against each version (`npx vitest run --config vitest.checks.config.ts
 * test/erp/odoo/real`), which prints the answers.
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

/** Declares a test for each script of a version: its result must equal the measured one. */
export function declareScripts(version: OdooVersion, world: () => World): void {
  for (const { name, only, run } of scriptedCalls) {
    if (only !== undefined && !only.includes(version)) continue;
    test(name, async () => {
      // The result is compared in its JSON form, which omits undefined values.
      expect(JSON.parse(JSON.stringify(await run(world())))).toEqual(measuredOf(name, version));
    });
  }
}
