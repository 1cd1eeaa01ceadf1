import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { getCACertificates, setDefaultCACertificates } from 'node:tls';
import { SMTPServer } from 'smtp-server';

/**
 * The behaviour of the server. `refuses`: it refuses the recipient. `drops`: it accepts a mail and breaks the
 * connection before it answers. `hangs`: it never answers to a mail.
 */
export type Behaviour = 'works' | 'refuses' | 'drops' | 'hangs';

export interface Mailbox {
  port: number;
  /** The mails that the server has, as they were received. */
  received: Received[];
  behaviour: Behaviour;
  stop(): Promise<void>;
}

export interface Received {
  to: string[];
  raw: string;
  /** The unfolded header. */
  headers: Map<string, string>;
  text: string;
  secure: boolean;
  user: string | null;
}

export const login = { user: 'books', password: 'a long secret' };

/**
 * Starts a mail server on this machine that requires STARTTLS and a login. This process trusts its certificate. Without `tls` it offers no
 * STARTTLS.
 */
export async function startMailbox({ host = 'localhost', tls = true } = {}): Promise<Mailbox> {
  const { key, cert } = certificateOf(host);
  setDefaultCACertificates([...getCACertificates('default'), cert]);
  const box: Mailbox = { port: 0, received: [], behaviour: 'works', stop: async () => undefined };
  const server = new SMTPServer({
    ...{
      key,
      cert,
      disabledCommands: tls ? [] : ['STARTTLS'],
      allowInsecureAuth: !tls,
      authMethods: ['PLAIN', 'LOGIN'],
      closeTimeout: 100,
    },
    onAuth: ({ username, password }, _session, done) =>
      username === login.user && password === login.password
        ? done(null, { user: username })
        : done(new Error('535 wrong user or password')),
    onRcptTo: (_address, _session, done) =>
      box.behaviour === 'refuses' ? done(Object.assign(new Error('no such mailbox'), { responseCode: 550 })) : done(),
    onData: (stream, session, done) => {
      const chunks: Buffer[] = [];
      stream.on('data', (chunk: Buffer) => chunks.push(chunk));
      stream.on('end', () => {
        if (box.behaviour === 'hangs') return;
        const raw = Buffer.concat(chunks).toString();
        const to = session.envelope.rcptTo.map(({ address }) => address);
        box.received.push({ to, raw, ...partsOf(raw), secure: session.secure, user: session.user as string | null });
        if (box.behaviour === 'drops') for (const each of server.connections) each.close();
        else done();
      });
    },
  });
  server.on('error', () => undefined);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  box.port = (server.server.address() as { port: number }).port;
  box.stop = async () => {
    setDefaultCACertificates(getCACertificates('default').filter((each) => each.trim() !== cert.trim()));
    await new Promise<void>((resolve) => server.close(() => resolve()));
  };
  return box;
}

function certificateOf(host: string): { key: string; cert: string } {
  const folder = mkdtempSync(join(tmpdir(), 'vetledger-mail-'));
  try {
    const [key, cert] = [join(folder, 'key'), join(folder, 'cert')];
    execFileSync(
      'openssl',
      [
        ...['req', '-x509', '-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes', '-days', '36500'],
        ...['-keyout', key, '-out', cert, '-subj', `/CN=${host}`, '-addext', `subjectAltName=DNS:${host}`],
      ],
      { stdio: 'ignore' },
    );
    return { key: readFileSync(key, 'utf8'), cert: readFileSync(cert, 'utf8') };
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

function partsOf(raw: string): { headers: Map<string, string>; text: string } {
  const [head = '', ...body] = raw.split('\r\n\r\n');
  const lines = head.replace(/\r\n[ \t]+/g, ' ').split('\r\n');
  const headers = new Map(
    lines.map((line) => [line.slice(0, line.indexOf(':')).toLowerCase(), line.slice(line.indexOf(':') + 2)]),
  );
  const text = body.join('\r\n\r\n').replaceAll('\r\n', '\n');
  return { headers, text: headers.get('content-transfer-encoding') === 'quoted-printable' ? decoded(text) : text };
}

function decoded(text: string): string {
  const bytes = text
    .replace(/=\n/g, '')
    .replace(/=([\dA-F]{2})/g, (_, hex) => String.fromCharCode(Number.parseInt(hex, 16)));
  return Buffer.from(bytes, 'latin1').toString('utf8');
}
