// Writes the due batches, and kills its process after a step. Arguments: database URL, configuration file, step.

import { loadConfig } from '../../../src/config/load-config.ts';
import { openDatabase } from '../../../src/db/pool.ts';
import { handOverSlice } from '../../../src/erp/targets/files/hand-over.ts';

const [, , url = '', file = '', at = ''] = process.argv;
const { installations } = await loadConfig(file, { PRACTICE_TOKEN: 'secret' });
const clock = { now: () => Date.now(), elapsed: () => performance.now(), sleep: async () => {} };
const ports = {
  ...{ db: openDatabase(url), databaseId: 'abc', installation: installations[0]!, holder: 'killed', clock },
  ...{ signal: new AbortController().signal, pause: async () => {}, onProgress: () => {} },
  log: { debug: () => {}, info: () => {}, warn: () => {} },
};
await handOverSlice(ports, {
  maxUnits: 2,
  onStep: (step) => {
    if (step === at) process.kill(process.pid, 'SIGKILL');
  },
});
