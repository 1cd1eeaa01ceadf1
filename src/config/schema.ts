import { z } from 'zod';
import { minorUnitDecimals } from '../domain/money.ts';
import { postingModes } from '../terms.ts';

/**
 * The configuration file as written, key by key. Descriptions, defaults and examples are those of docs/CLI.md, which is
 * generated from here. A value may come from the environment, and is text then: numbers are accepted as text.
 */
const text = z.string({ error: 'must be a text' }).min(1, 'must not be empty');

const number = z.union(
  [
    z.number(),
    z
      .string()
      .regex(/^-?\d+(\.\d+)?$/)
      .transform(Number),
  ],
  { error: 'must be a number' },
);

function positive(example: string) {
  return number.refine((value) => value > 0, `must be a number above 0, for example ${example}`);
}

const onlyFromEnvironment = `A secret: only as the name of an environment variable, \`\${NAME}\`.`;

const auth = z
  .strictObject({
    token: text.optional().describe(`Bearer token. ${onlyFromEnvironment}`),
    client_id: text.optional().describe('OAuth2 client id; with it a token is fetched and renewed by itself.'),
    client_secret: text.optional().describe(`OAuth2 client secret. ${onlyFromEnvironment}`),
  })
  .superRefine((value, context) => {
    const pair = [value.client_id, value.client_secret].filter((part) => part !== undefined).length;
    if (pair === (value.token === undefined ? 2 : 0)) return;
    context.addIssue({ code: 'custom', message: 'needs either token, or client_id and client_secret, and not both' });
  });

const installation = z.strictObject({
  id: number
    .refine((id) => Number.isSafeInteger(id) && id > 0, 'must be a whole number above 0')
    .describe('Installation id: the number in every address of its practice API.'),
  base_url: text
    .refine(isWebAddress, 'must be an http:// or https:// address without user, password, query or fragment')
    .transform((url) => url.replace(/\/+$/, ''))
    .describe('Address of the practice API, without the installation id.'),
  auth: auth.describe('How we sign in: `{token}`, or `{client_id, client_secret}`.'),
  timezone: text
    .refine(isTimezone, 'is not a time zone; write it like Europe/Helsinki')
    .describe('Time zone of the clinic: it decides which day a document belongs to.'),
  currency: text
    .refine(isCurrency, 'is not a currency code of ISO 4217; write it like EUR')
    .describe('Currency of every amount; its minor unit is the cent that everything is settled to.'),
  start_date: text
    .refine(isCalendarDate, 'is not a date; write it like 2026-01-31')
    .nullish()
    .describe('Cut-over: documents dated before it are mirrored and not posted. Absent: everything is posted.'),
  mapping: text.describe('Mapping file: from roles, revenue accounts, VAT groups and payment types to your accounts.'),
  erp: z
    .strictObject({
      kind: z.enum(['ledger'], { error: 'must be ledger' }).describe('`ledger`: the books in our own PostgreSQL only.'),
    })
    .default({ kind: 'ledger' })
    .describe('Where entries are delivered to.'),
  posting_mode: z
    .enum(postingModes, { error: `must be ${postingModes.join(' or ')}` })
    .default('document')
    .describe(
      'What goes to the general ledger: `document`, every document’s entry; `daily_summary`, one entry per day and department once the day is over. Entries keep the mode they were posted under.',
    ),
  rate_window_seconds: positive('60')
    .prefault(60)
    .describe('Length of the rolling window of the API rate limits; fractions allowed.'),
  overlap_seconds: number
    .refine((value) => value >= 0, 'must be 0 or more')
    .prefault(600)
    .describe('How far each window looks back before its watermark, for transactions that commit late.'),
  practice_api: z
    .record(z.string(), z.unknown())
    .default({})
    .describe(
      'What this installation does differently from mappings/practice-api.yaml (same layout, only the differences).',
    ),
});

export const configSchema = z.strictObject({
  installations: z
    .array(installation, { error: 'must be a list of installations' })
    .min(1, 'must name at least one installation')
    .describe('The installations of the practice software to synchronise.'),
  data_dir: text
    .default('.vetledger')
    .describe('Folder of embedded services and caches. The environment variable VETLEDGER_DATA_DIR overrides it.'),
  schedule: z
    .strictObject({
      every: text
        .refine((value) => secondsOf(value) !== null, 'must be a length of time such as 30s, 5m or 1h, 1s at least')
        .prefault('5m')
        .describe('How often `vetledger run` opens a window: a number with s, m or h.'),
    })
    .default({ every: '5m' })
    .describe('When windows run by themselves.'),
  database_url: z
    .string({ error: 'must be a text' })
    .refine((url) => url === '' || /^postgres(ql)?:\/\//.test(url), 'must begin with postgresql://')
    .nullish()
    .describe('PostgreSQL to use. Absent, or its variable unset: the embedded PostgreSQL under data_dir.'),
  temporal: z
    .strictObject({
      address: z
        .string({ error: 'must be a text' })
        .refine(
          (address) => address === '' || /^[^\s/:]+:\d{1,5}$|^\[.+\]:\d{1,5}$/.test(address),
          'must be host:port, for example 127.0.0.1:7233',
        )
        .nullish()
        .describe('Temporal server, host:port. Absent, or its variable unset: the embedded development server.'),
      namespace: text.default('default').describe('Temporal namespace.'),
      task_queue: text.default('vetledger').describe('Beginning of the names of our task queues.'),
    })
    .prefault({})
    .describe('The Temporal server.'),
  webhooks: z
    .strictObject({
      listen: text
        .refine((value) => addressOf(value) !== null, 'must be host:port, for example 127.0.0.1:8787')
        .prefault('127.0.0.1:8787')
        .describe('Address that `vetledger run` listens on, host:port; a proxy with TLS belongs in front of it.'),
      secret: text
        .regex(/^[A-Za-z0-9._-]{16,200}$/, 'must be 16 to 200 letters, digits, dots, hyphens and underscores')
        .describe(`Last part of the address that webhooks are sent to. ${onlyFromEnvironment}`),
    })
    .optional()
    .describe(
      'Receives the practice software’s webhooks for record changes at `/webhooks/<installation>/<secret>`: each opens a window now. Absent: off.',
    ),
  window_timeout_minutes: positive('30')
    .prefault(30)
    .describe('A window that is not closed by then has failed, and the next one covers it; fractions allowed.'),
});

export type ConfigFile = z.output<typeof configSchema>;

/** Seconds of a length of time such as `30s`, `5m`, `1h`; null when it is none, or under a second. */
export function secondsOf(value: string): number | null {
  const parts = /^(\d+(?:\.\d+)?)\s*([smh])$/.exec(value);
  if (!parts) return null;
  const seconds = Number(parts[1]) * { s: 1, m: 60, h: 3600 }[parts[2] as 's' | 'm' | 'h'];
  return seconds >= 1 ? seconds : null;
}

/** Host and port of `host:port` or `[IPv6]:port`; null when it is neither. */
export function addressOf(value: string): { host: string; port: number } | null {
  const parts = /^(?:\[([\da-f:.]+)\]|([^\s/:[\]]+)):(\d{1,5})$/i.exec(value);
  const port = Number(parts?.[3]);
  return parts && port <= 65_535 ? { host: (parts[1] ?? parts[2])!, port } : null;
}

/** Whether it is a real day, written `YYYY-MM-DD`. */
export function isCalendarDate(value: string): boolean {
  if (!/^\d{4}-\d{2}-\d{2}$/.test(value)) return false;
  const day = new Date(`${value}T00:00:00Z`);
  return !Number.isNaN(day.getTime()) && day.toISOString().startsWith(value);
}

function isWebAddress(value: string): boolean {
  if (!URL.canParse(value)) return false;
  const { protocol, username, password, search, hash } = new URL(value);
  return /^https?:$/.test(protocol) && username + password + search + hash === '';
}

function isTimezone(value: string): boolean {
  try {
    new Intl.DateTimeFormat('en', { timeZone: value });
    return /^[A-Za-z]/.test(value);
  } catch {
    return false;
  }
}

function isCurrency(value: string): boolean {
  try {
    minorUnitDecimals(value);
    return true;
  } catch {
    return false;
  }
}
