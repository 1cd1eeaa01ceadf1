// Installs the Temporal server if it is missing, and prints its path. Run: `node scripts/ensure-temporal.ts`.
import { resolve } from 'node:path';
import { temporalBinary } from '../src/embedded/temporal-binary.ts';
import { toUserError } from '../src/runtime/user-errors.ts';

try {
  const path = await temporalBinary({
    dataDir: resolve(process.env.VETLEDGER_DATA_DIR || '.vetledger'),
    progress: (line) => console.error(line),
    env: process.env,
  });
  console.log(path);
} catch (error) {
  const { message, todo } = toUserError(error);
  console.error(`error: ${message}\nwhat to do: ${todo}`);
  process.exitCode = 1;
}
