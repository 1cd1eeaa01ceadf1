// Renews logins and is killed before it stores the answer: `node killed-renewal.ts DATABASE_URL SERVER_URL KEY COMPANY…`. It prints
// a line when the answers have arrived.

import { openDatabase } from '../../../src/db/pool.ts';
import { secretKeyOf } from '../../../src/domain/secret-key.ts';
import { RotatingTokens } from '../../../src/erp/login/rotating-tokens.ts';
import { renewOnce } from '../../../src/erp/login/token-request.ts';
import { ErpHttp } from '../../../src/erp/targets/api/http.ts';
import { systemClock } from '../../../src/runtime/system-clock.ts';

const [databaseUrl = '', serverUrl = '', keyText = '', ...companies] = process.argv.slice(2);
const [db, key] = [openDatabase(databaseUrl), secretKeyOf(keyText)];
const log = { debug() {}, info() {}, warn() {} };
const transport = new ErpHttp({ url: serverUrl, timeoutSeconds: 5 }, 'ERP', log);
const client = { clientId: 'client-1', clientSecret: 'a secret of the client', sentAs: 'basic' as const, log };
let left = companies.length;
for (const company of companies) {
  const tokens = new RotatingTokens({
    ...{ erp: 'ERP', company, keys: key === null ? [] : [key], unusedDays: 60, db, clock: systemClock, log },
    ask: async (token) => {
      await renewOnce({ erp: 'ERP', transport, path: '/connect/token', ...client }, token);
      left -= 1;
      if (left === 0) console.info('answered');
      return new Promise(() => {});
    },
  });
  void tokens.headers({ signal: new AbortController().signal });
}
