// The demo configuration for tests, scripts and benchmarks: installations of one kind of clinic, each with its
// differences.

import { fileURLToPath } from 'node:url';

/** Settings of vetledger.yaml by name. A value is written unchanged, so it may be any YAML on one line. */
export type Settings = Record<string, string | number>;

export interface DemoInstallation extends Settings {
  id: number;
  base_url: string;
}

export const demoMapping = fileURLToPath(new URL('../../mappings/demo.yaml', import.meta.url));

/** A value that is read from the environment. */
export const fromEnvironment = (name: string) => `"\${${name}}"`;

/**
 * The text of a vetledger.yaml with these installations and settings. An installation without a mapping gets the
 * demo's.
 */
export function demoConfig(installations: DemoInstallation[], settings: Settings = {}): string {
  const common = {
    auth: `{token: ${fromEnvironment('PRACTICE_TOKEN')}}`,
    timezone: 'Europe/Helsinki',
    currency: 'EUR',
    mapping: demoMapping,
  };
  const one = ({ id, base_url, ...others }: DemoInstallation) =>
    `  - ${linesOf({ id, base_url, ...common, ...others }).join('\n    ')}\n`;
  return `installations:\n${installations.map(one).join('')}${linesOf(settings).join('\n')}\n`;
}

const linesOf = (settings: Settings) => Object.entries(settings).map(([name, value]) => `${name}: ${value}`);
