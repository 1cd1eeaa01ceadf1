import { expect, test } from 'vitest';
import { plainErrorOf } from '../../../src/erp/deliver/delivery-errors.ts';
import { ErpError } from '../../../src/erp/port.ts';
import { useLogins } from '../../../src/windows/use-logins.ts';
import { FakeXero } from '../xero/fake.ts';

const toLogIn = /^Run `vetledger erp login`\. Delivery then continues automatically\.$/;

test.each([
  ['erp_login_needed', 'erp_login_needed', toLogIn],
  ['erp_login_unreadable', 'erp_login_unreadable', /^Set `secret_key`, or `old_secret_key`/],
  [undefined, 'erp_login_refused', /^Run `vetledger erp check`/],
])('a delivery that waits because of %s says what to do', (problem, code, todo) => {
  const error = new ErpError('auth', 'why', problem === undefined ? {} : { problem });
  const plain = plainErrorOf(error, { kind: 'xero', url: 'https://api.xero.com', id: '' });
  expect(plain).toMatchObject({ code, message: expect.stringMatching(/xero at https:\/\/api\.xero\.com.*: why$/) });
  expect(plain.todo).toMatch(todo);
});

test('the daemon uses each login, also after another one failed', async () => {
  const { config } = new FakeXero({ now: () => 0 });
  const xero = (id: number, redirectUrl: string | null) => ({ id, erp: { ...config, redirectUrl } });
  const installations = [xero(1, 'http://localhost/x'), xero(2, null), xero(3, 'http://localhost/x')];
  const [used, warned]: [number[], unknown[]] = [[], []];
  const app = {
    config: { installations },
    delivery: {
      target: ({ id }: { id: number }) => ({
        periods: async () => {
          used.push(id);
          if (id === 1) throw new ErpError('auth', 'no login', { problem: 'erp_login_needed' });
        },
      }),
    },
    log: { warn: (fields: { installation: number }) => warned.push(fields.installation) },
  };
  await useLogins(app as never, new AbortController().signal);
  expect({ used, warned }).toEqual({ used: [1, 3], warned: [1] });
});
