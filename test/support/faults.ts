// Broken variants of the code under test: exported functions replaced while modules are loaded. Nothing depends on the text of
// a source file; the compiler checks that a replaced function exists and what it takes and gives.

import { registerHooks } from 'node:module';

/** An export's replacement, made from the module's whole exports when it is first called. */
type Replacement = (real: never) => unknown;

export interface Fault {
  /** The module's URL. */
  module: string;
  replacements: Record<string, Replacement>;
}

/** A maker of faults in one module; its type is given as `typeof import(…)`. */
export function faultsIn<Module extends object>(
  url: URL,
): (replacements: { [Name in keyof Module & string]?: (real: Module) => Module[Name] }) => Fault {
  return (replacements) => ({ module: url.href, replacements: Object.fromEntries(Object.entries(replacements)) });
}

const registry = Symbol.for('vetledger.test.faults');
const suffix = '?faulty';

/**
 * Has every module that this process loads from here on import the broken functions. Calls within a module still reach its
 * whole ones. Once per process; meant for a process forked for the purpose.
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

/** A module with the exports of the real one, but for those replaced. Its parts are looked up late: imports may be circular. */
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
