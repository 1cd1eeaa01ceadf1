// The package's entry. A checkout runs the TypeScript sources. A package contains compiled code, because Node.js strips
// no types under node_modules.
import { existsSync } from 'node:fs';

const entry = existsSync(new URL('./src/index.ts', import.meta.url)) ? './src/index.ts' : './dist/index.js';
export const { builtInApplications, describeApi, SandboxError, startFromCommand, startSandbox } = await import(entry);
