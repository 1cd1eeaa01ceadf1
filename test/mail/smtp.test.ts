// Sending to a real mail server that fails in every way.

import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { checkMail } from '../../src/cli/doctor/mail.ts';
import type { Recipient, SmtpConfig } from '../../src/config/mail.ts';
import { MailError, sendLetter, trySmtp } from '../../src/mail/smtp.ts';
import { type Behaviour, login, type Mailbox, startMailbox } from './mailbox.ts';

let box: Mailbox;
beforeAll(async () => {
  box = await startMailbox();
});
afterAll(() => box?.stop());
beforeEach(() => {
  [box.behaviour, box.received] = ['works', []];
});

const letter = {
  ...{ from: 'books@clinic.example', to: 'anna@clinic.example', subject: 'ä'.repeat(150), text: '.\nFrom x\nöl\n' },
  ...{ messageId: '<1@clinic.example>', thread: '<t@clinic.example>', date: new Date('2026-09-16T12:00:00Z') },
};
const never = new AbortController().signal;
const smtp = (more: Partial<SmtpConfig> = {}): SmtpConfig => ({
  ...{ host: 'localhost', port: box.port, tls: 'starttls', login },
  ...more,
});
const failureOf = (sending: Promise<void>) =>
  sending.then(
    () => null,
    (error: unknown) => error,
  );

test('a mail arrives as it was written, over TLS, after a login', async () => {
  await sendLetter(smtp(), letter, never);
  expect(box.received).toMatchObject([{ to: ['anna@clinic.example'], text: letter.text, secure: true, user: 'books' }]);
});

test.each<[name: string, code: string, isOfMail: boolean, smtp: Partial<SmtpConfig>, behaviour: Behaviour]>([
  ['no server', 'smtp_unreachable', false, { port: 1 }, 'works'],
  ['an unknown host', 'smtp_unreachable', false, { host: 'nowhere.invalid' }, 'works'],
  ['a wrong password', 'smtp_login_refused', false, { login: { user: 'books', password: 'wrong' } }, 'works'],
  ['a certificate for another name', 'smtp_tls_failed', false, { host: '127.0.0.1' }, 'works'],
  ['TLS at once on a port without it', 'smtp_tls_failed', false, { tls: 'implicit' }, 'works'],
  ['a refused recipient', 'smtp_refused', true, {}, 'refuses'],
  ['a connection that breaks after the mail', 'smtp_unreachable', false, {}, 'drops'],
])('%s', async (_, code, isOfMail, more, behaviour) => {
  box.behaviour = behaviour;
  const error = await failureOf(sendLetter(smtp(more), letter, never));
  expect(error).toBeInstanceOf(MailError);
  expect(error).toMatchObject({ isOfMail, plain: { code } });
  const tried = await failureOf(trySmtp(smtp(more), never));
  // The server misbehaves only when it gets a mail, so a test of the login finds no fault.
  if (behaviour === 'works') expect(tried).toMatchObject({ plain: { code } });
  else expect(tried).toBeNull();
});

test.each([
  [
    'works',
    login,
    'ok',
    'accepts the login of books; mail goes to a@x.example (at_once; all installations), b@x.example (daily, monthly; installations 1, 2)',
  ],
  ['has a wrong password', { user: 'books', password: 'wrong' }, 'fail', 'refuses the login'],
])('doctor tries the login and says who gets mail: it %s', async (_, as, status, message) => {
  const recipients: Recipient[] = [
    { address: 'a@x.example', installations: null, send: ['at_once'], names: false, language: 'en' },
    { address: 'b@x.example', installations: [1, 2], send: ['daily', 'monthly'], names: false, language: 'en' },
  ];
  const mail = { smtp: smtp({ login: as }), from: 'books@clinic.example', recipients };
  const [check, ...more] = await checkMail({ mail }, never);
  expect(check).toMatchObject({ check: 'mail', status, message: expect.stringContaining(message) });
  expect(more).toEqual([]);
  expect(box.received).toEqual([]);
  expect(await checkMail({ mail: null }, never)).toEqual([]);
});

test('a server that refuses STARTTLS gets no password and no mail', async () => {
  const plain = await startMailbox({ tls: false });
  try {
    const error = await failureOf(sendLetter(smtp({ port: plain.port }), letter, never));
    expect(error).toMatchObject({ plain: { code: 'smtp_tls_failed' } });
    expect(plain.received).toEqual([]);
    await sendLetter(smtp({ port: plain.port, tls: 'none' }), letter, never);
    expect(plain.received).toMatchObject([{ secure: false }]);
  } finally {
    await plain.stop();
  }
});

test('a server that does not answer delays nothing after an end', async () => {
  box.behaviour = 'hangs';
  const began = performance.now();
  await expect(sendLetter(smtp(), letter, AbortSignal.timeout(300))).rejects.toThrow('timeout');
  expect(performance.now() - began).toBeLessThan(3000);
});
