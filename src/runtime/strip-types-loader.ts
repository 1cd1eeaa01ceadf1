import { stripTypeScriptTypes } from 'node:module';

/**
 * A webpack loader that removes the types from a source file of the workflow bundle, as Node.js does with all other
 * source files. The SDK's default loader needs @swc/core, whose native part is an optional package that `npm ci
 * --omit=optional` leaves out.
 */
export default function stripTypes(source: string): string {
  return stripTypeScriptTypes(source);
}
