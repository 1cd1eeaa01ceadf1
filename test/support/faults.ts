// Mutants of the tested code: exported functions are replaced while modules load. This does not depend on the text of a
// source file. The compiler checks that a replaced function exists, with its parameters and result.

import { registerHooks } from 'node:module';

/** The replacement of an export, made from the module's exports at its first call. */
type Replacement = (real: never) => unknown;

export interface Fault {
  /** The URL of the module. */
  module: string;
  replacements: Record<string, Replacement>;
}

/** Declares faults in one module, whose type is given as `typeof import(…)`. */
export function faultsIn<Module extends object>(
  url: URL,
): (replacements: { [Name in keyof Module & string]?: (real: Module) => Module[Name] }) => Fault {
  return (replacements) => ({ module: url.href, replacements: Object.fromEntries(Object.entries(replacements)) });
}

const registry = Symbol.for('vetledger.test.faults');
const suffix = '?faulty';

/**
 * From now on, every module that this process loads imports the mutated functions. Calls within a module still use the
 * original ones. It can be called once per process, which should exist for this purpose only.
 */
export function injectFaults(faults: Fault[]): void {
  const byModule = new Map(faults.map((fault) => [fault.module, fault]));
  if (byModule.size < faults.length) throw new Error('two faults in one module: make them one');
  Object.assign(globalThis, { [registry]: byModule });
  registerHooks({
    resolve(specifier, context, nextResolve) {
      const resolved = nextResolve(specifier, context);
      const isOurs = byModule.has(resolved.url) && !context.parentURL?.endsWith(suffix);
      return isOurs ? { ...resolved, url: resolved.url + suffix } : resolved;
    },
    load(url, context, nextLoad) {
      const fault = url.endsWith(suffix) ? byModule.get(url.slice(0, -suffix.length)) : undefined;
      return fault ? { format: 'module', source: wrapperOf(fault), shortCircuit: true } : nextLoad(url, context);
    },
  });
}

/**
 * A module with the exports of the real one and the replacements. Exports are looked up late, because imports may be
 * circular.
 */
function wrapperOf({ module, replacements }: Fault): string {
  const url = JSON.stringify(module);
  const names = Object.keys(replacements);
  return `import * as real from ${url};
export * from ${url};
const { replacements } = globalThis[Symbol.for(${JSON.stringify(registry.description)})].get(${url});
const made = {};
function broken(name) {
  if (typeof real[name] !== 'function') throw new Error(${url} + ' exports no function ' + name);
  return (made[name] ??= replacements[name](real));
}
${names.map((name) => `export const ${name} = (...args) => broken('${name}')(...args);`).join('\n')}
`;
}
