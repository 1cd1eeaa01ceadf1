// biome-ignore-all lint/suspicious/noTemplateCurlyInString: the configuration's own way to name a variable
import { expect, test } from 'vitest';
import { loadConfig } from '../../src/config/load-config.ts';
import { folderOf } from '../cli/support.ts';
import { demoConfig } from '../support/demo-config.ts';

const env = { PRACTICE_TOKEN: 't', SMTP_PASSWORD: 'a long secret' };
const login = 'user: books, password: "${SMTP_PASSWORD}"';
const smtp = `{host: smtp.example, ${login}}`;
const anna = '{address: anna@clinic.example}';

function load(mail: string, more: NodeJS.ProcessEnv = {}) {
  const installation = { id: 4711, base_url: 'http://127.0.0.1:1' };
  const folder = folderOf({ 'vetledger.yaml': demoConfig([installation], { mail }) });
  return loadConfig(`${folder}/vetledger.yaml`, { ...env, ...more });
}
const mailOf = (server: string, recipients: string, from = 'books@clinic.example') =>
  `{smtp: ${server}, from: ${from}, recipients: [${recipients}]}`;

test('mail has safe defaults, and its password comes from the environment', async () => {
  expect((await load(mailOf(smtp, anna))).mail).toEqual({
    smtp: {
      ...{ host: 'smtp.example', port: 587, tls: 'starttls' },
      login: { user: 'books', password: 'a long secret' },
    },
    from: 'books@clinic.example',
    recipients: [
      {
        ...{ address: 'anna@clinic.example', installations: null, send: ['at_once', 'daily', 'monthly'] },
        ...{ names: false, language: 'en' },
      },
    ],
  });
  const implicit = await load(mailOf('{host: smtp.example, tls: implicit}', anna));
  expect(implicit.mail?.smtp).toEqual({ host: 'smtp.example', port: 465, tls: 'implicit', login: null });
});

test('without TLS, mail goes only to this machine, or where it is allowed', async () => {
  const plain = (host: string, more = '') => load(mailOf(`{host: ${host}, tls: none${more}}`, anna));
  await expect(plain('smtp.example')).rejects.toMatchObject({ code: 'insecure_connection' });
  expect((await plain('localhost')).mail?.smtp.tls).toBe('none');
  expect((await plain('smtp.example', ', allow_insecure: true')).mail?.smtp.tls).toBe('none');
});

test.each<[name: string, mail: string, message: string]>([
  [
    'a password in the file',
    mailOf('{host: smtp.example, user: books, password: hunter22}', anna),
    'mail.smtp.password',
  ],
  ['a login without a password', mailOf('{host: smtp.example, user: books}', anna), 'needs both user and password'],
  ['a host with a header', mailOf('{host: "smtp.example\\r\\nX: y"}', anna), 'mail.smtp.host'],
  ['no recipient', mailOf(smtp, ''), 'at least one recipient'],
  ['a recipient twice', mailOf(smtp, `${anna}, {address: Anna@clinic.example}`), 'a second time'],
  [
    'an unknown installation',
    mailOf(smtp, '{address: a@b.example, installations: [4711, 12]}'),
    'unknown installation 12',
  ],
  ['an unknown kind', mailOf(smtp, '{address: a@b.example, send: [weekly]}'), 'must be at_once, daily, monthly'],
  [
    'an address with a header',
    mailOf(smtp, '{address: "a@b.example\\r\\nBcc: c@d.example"}'),
    'must be a mail address',
  ],
  ['two addresses', mailOf(smtp, '{address: "a@b.example, c@d.example"}'), 'must be a mail address'],
  ['a sender with a name', mailOf(smtp, anna, '"Books <books@clinic.example>"'), 'mail.from must be a mail address'],
])('%s is refused', async (_, mail, message) => {
  await expect(load(mail)).rejects.toMatchObject({ exitCode: 2, message: expect.stringContaining(message) });
});
