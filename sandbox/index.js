// The package's entry. A checkout runs the sources as they are; a package has them compiled, because Node.js strips no types under
// node_modules.
import { existsSync } from 'node:fs';

const entry = existsSync(new URL('./src/index.ts', import.meta.url)) ? './src/index.ts' : './dist/index.js';
export const { builtInApplications, describeApi, SandboxError, startFromCommand, startSandbox } = await import(entry);
