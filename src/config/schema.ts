import { z } from 'zod';
import { isCalendarDate, isTimezone } from '../domain/dates.ts';
import { isCurrency } from '../domain/money.ts';
import { withoutEnd } from '../domain/text.ts';
import { postingModes, rawKeepings } from '../terms.ts';
import { fileFormats, odooProtocols } from './erp.ts';
import { number, parsed, positive, text } from './scalars.ts';
import { reconcile, schedule } from './schedule.ts';

function days(normally: number) {
  return number
    .refine((value) => Number.isInteger(value) && value >= 0, 'must be a whole number of days, or 0')
    .prefault(normally);
}

const onlyFromEnvironment = `A secret: only as the name of an environment variable, \`\${NAME}\`, or of a file, \`\${file:PATH}\`.`;

type Auth = { token: string } | { clientId: string; clientSecret: string };

const auth = z
  .strictObject({
    token: text.optional().describe(`Bearer token. ${onlyFromEnvironment}`),
    client_id: text.optional().describe('OAuth2 client id; with it a token is fetched and renewed by itself.'),
    client_secret: text.optional().describe(`OAuth2 client secret. ${onlyFromEnvironment}`),
  })
  .transform(({ token, client_id: clientId, client_secret: clientSecret }, context): Auth => {
    if (token !== undefined && clientId === undefined && clientSecret === undefined) return { token };
    if (token === undefined && clientId !== undefined && clientSecret !== undefined) return { clientId, clientSecret };
    context.addIssue({ code: 'custom', message: 'needs either token, or client_id and client_secret, and not both' });
    return z.NEVER;
  });

/** A switch, off by default; from the environment it is a text. */
const flag = z
  .union([z.boolean(), z.enum(['true', 'false']).transform((word) => word === 'true')], {
    error: 'must be true or false',
  })
  .default(false);

const erp = z
  .strictObject({
    kind: z
      .enum(['ledger', 'tryton', 'odoo', ...fileFormats], { error: 'must be ledger, tryton, odoo, csv, sie4 or datev' })
      .describe(
        '`ledger`: the books in our own PostgreSQL only. `tryton`, `odoo`: a server of that ERP. `csv`, `sie4`, `datev`: files.',
      ),
    url: text
      .refine(isWebAddress, 'must be an http:// or https:// address without user, password, query or fragment')
      .transform((url) => withoutEnd(url, '/'))
      .optional()
      .describe('Address of the ERP.'),
    database: text.optional().describe('Tryton, Odoo: name of its database.'),
    company: text.optional().describe('Name or id of the company; absent: the only one that the user may see.'),
    user: text.optional().describe('Login of the API user.'),
    password: text.optional().describe(`Its password; for Odoo an API key does as well. ${onlyFromEnvironment}`),
    api_key: text
      .optional()
      .describe(`Odoo 19: key of the API user for /json/2, instead of user and password. ${onlyFromEnvironment}`),
    protocol: z
      .enum(odooProtocols, { error: 'must be jsonrpc or json2' })
      .optional()
      .describe('Odoo: `jsonrpc` (17 to 19) or `json2` (19). Default: `json2` with an api_key, otherwise `jsonrpc`.'),
    post: z
      .enum(['posted', 'draft'], { error: 'must be posted or draft' })
      .optional()
      .describe('`draft`: entries are left as drafts for the accountant to post. Default `posted`.'),
    from: text
      .refine(isCalendarDate, 'is not a date; write it like 2026-01-31')
      .optional()
      .describe('Entries dated before it are not delivered.'),
    auto: flag.describe(
      'Whether what a first load or a backfill brings is delivered without `vetledger deliver --approve`.',
    ),
    owned_accounts: z
      .array(z.union([text, z.int().nonnegative().transform(String)]), { error: 'must be a list of accounts' })
      .optional()
      .describe('Accounts on which `reconcile --erp` reports entries that are not ours.'),
    close_source_periods: flag.describe(
      'Whether a period that is closed in the ERP sets the practice software’s `financial_period_lock_date`.',
    ),
    timeout_seconds: positive('120').optional().describe('How long a request to the ERP may take. Default 120.'),
    folder: text.optional().describe('Files: folder of the batches. Default `erp` under data_dir.'),
    options: z
      .record(z.string(), z.union([text, z.number().transform(String), z.boolean().transform(String)]))
      .optional()
      .describe('Files: what the format needs beside the books; docs/accountants/files.md lists it by kind.'),
  })
  .superRefine((erp, context) => {
    const missing = (keys: string[]) => keys.filter((key) => !(key in erp));
    const isKeyed = erp.kind === 'odoo' && erp.protocol !== 'jsonrpc' && ('api_key' in erp || erp.protocol === 'json2');
    const needed: Record<string, string[]> = {
      tryton: ['url', 'database', 'user', 'password'],
      odoo: isKeyed ? ['url', 'database', 'api_key'] : ['url', 'database', 'user', 'password'],
    };
    for (const key of missing(needed[erp.kind] ?? [])) {
      context.addIssue({ code: 'custom', path: [key], message: `is needed for kind ${erp.kind}` });
    }
    const api = ['url', 'database', 'company', 'user', 'password', 'post', 'owned_accounts', 'timeout_seconds'];
    const keyed = ['url', 'database', 'company', 'api_key', 'protocol', 'post', 'owned_accounts', 'timeout_seconds'];
    const files = ['folder', 'options'];
    const own: Record<string, readonly string[]> = {
      ledger: [],
      tryton: api,
      odoo: isKeyed ? keyed : [...api, 'protocol'],
    };
    for (const key of new Set([...api, ...keyed, ...files])) {
      if (!(key in erp) || (own[erp.kind] ?? files).includes(key)) continue;
      const of = erp.kind === 'odoo' && isKeyed ? 'odoo with an api_key' : erp.kind;
      context.addIssue({ code: 'custom', path: [key], message: `is not a key of kind ${of}` });
    }
  });

const installation = z.strictObject({
  id: number
    .refine((id) => Number.isSafeInteger(id) && id > 0, 'must be a whole number above 0')
    .describe('Installation id: the number in every address of its practice API.'),
  name: text
    .max(80, 'must have at most 80 characters')
    .optional()
    .describe('What people call it, such as the name of the practice; shown wherever its id is. Not a person’s name.'),
  base_url: text
    .refine(isWebAddress, 'must be an http:// or https:// address without user, password, query or fragment')
    .transform((url) => withoutEnd(url, '/'))
    .describe('Address of the practice API, without the installation id.'),
  auth: auth.describe('How we sign in: `{token}`, or `{client_id, client_secret}`.'),
  timezone: text
    .refine((name) => /^[A-Za-z]/.test(name) && isTimezone(name), 'is not a time zone; write it like Europe/Helsinki')
    .describe('Time zone of the clinic: it decides which day a document belongs to.'),
  currency: text
    .refine(isCurrency, 'is not a currency code of ISO 4217; write it like EUR')
    .describe('Currency of every amount; its minor unit is the cent that everything is settled to.'),
  start_date: text
    .refine(isCalendarDate, 'is not a date; write it like 2026-01-31')
    .nullish()
    .describe('Cut-over: documents dated before it are mirrored and not posted. Absent: everything is posted.'),
  mapping: text.describe('Mapping file: from roles, revenue accounts, VAT groups and payment types to your accounts.'),
  erp: erp.prefault({ kind: 'ledger' }).describe('Where entries are delivered to.'),
  posting_mode: z
    .enum(postingModes, { error: `must be ${postingModes.join(' or ')}` })
    .default('document')
    .describe(
      'What goes to the general ledger: `document`, every document’s entry; `daily_summary`, one entry per day and department once the day is over. Entries keep the mode they were posted under.',
    ),
  fiscal_year_start_month: number
    .refine((month) => Number.isInteger(month) && month >= 1 && month <= 12, 'must be a month, from 1 to 12')
    .prefault(1)
    .describe('The month that the fiscal year begins with: voucher numbers begin again with it (`2026-S-000001`).'),
  rate_window_seconds: positive('60')
    .prefault(60)
    .describe('Length of the rolling window of the API rate limits; fractions allowed.'),
  overlap_seconds: number
    .refine((value) => value >= 0, 'must be 0 or more')
    .prefault(600)
    .describe('How far each window looks back before its watermark, for transactions that commit late.'),
  allow_insecure: flag.describe(
    'Whether `base_url` may begin with http:// though it is not on this machine: the token and the records then go over the network in clear.',
  ),
  scrub_days: number
    .refine((value) => value >= 0, 'must be 0 or more')
    .prefault(30)
    .describe(
      'Days in which the daemon reads every record of the practice API once more, in the background, and compares it with the mirror; fractions allowed, 0 turns it off. `vetledger doctor` prints what it costs.',
    ),
  scrub_min_share: number
    .refine((value) => value >= 0 && value <= 1, 'must be from 0 to 1')
    .prefault(0)
    .describe(
      'The share of the rate limits that this reading takes even while other requests wait. 0: no other request waits longer for it.',
    ),
  clock_skew_limit_seconds: positive('60')
    .prefault(60)
    .describe(
      'How far the source’s clock may differ from the database’s before windows, `status` and `doctor` say so. Nothing is missed for it.',
    ),
  keep_raw: z
    .enum(rawKeepings, { error: `must be ${rawKeepings.join(' or ')}` })
    .default('mapped')
    .describe(
      'What the mirror keeps of each record: `mapped`, the fields that vetledger reads, and no other, such as names of patients, addresses and free texts; `all`, the record as it was sent. Changing it posts nothing.',
    ),
  practice_api: z
    .record(z.string(), z.unknown())
    .default({})
    .describe(
      'What this installation does differently from mappings/practice-api.yaml (same layout, only the differences).',
    ),
});

const databaseUrl = z
  .string({ error: 'must be a text' })
  .refine((url) => url === '' || /^postgres(ql)?:\/\//.test(url), 'must begin with postgresql://');

/** The schema of the configuration file. docs/reference/CLI.md is generated from its descriptions and defaults. */
export const configSchema = z.strictObject({
  installations: z
    .array(installation, { error: 'must be a list of installations' })
    .min(1, 'must name at least one installation')
    .describe('The installations of the practice software to synchronise.'),
  data_dir: text
    .default('.vetledger')
    .describe('Folder of embedded services and caches. The environment variable VETLEDGER_DATA_DIR overrides it.'),
  mapping: z
    .strictObject({
      follow_file: z
        .union([z.boolean(), z.enum(['true', 'false']).transform((word) => word === 'true')], {
          error: 'must be true or false',
        })
        .default(true)
        .describe(
          'Whether a mapping file with another content is put in force by the next start or reload of `vetledger run`, and by `sync` and its kin. `false`: it is a proposal, which `vetledger mapping apply` puts in force.',
        ),
    })
    .prefault({})
    .describe('How mapping files are put in force; the mapping in force is kept in the database.'),
  schedule,
  reconcile,
  embedded: z
    .boolean({ error: 'must be true or false' })
    .default(false)
    .describe(
      'Whether the embedded servers are used where the environment variable that `database_url` or `temporal.address` names is unset or empty. Without it, such a variable is an error: a forgotten one must not begin new books in an empty database.',
    ),
  allow_insecure: flag.describe(
    'Whether connections to other machines may be without TLS: PostgreSQL’s (sslmode below `require`), and all others, too. Only for a network that is yours alone, such as that between containers of one machine.',
  ),
  database_url: databaseUrl.nullish().describe('PostgreSQL to use. Absent: the embedded PostgreSQL under data_dir.'),
  migrate_database_url: databaseUrl
    .nullish()
    .describe(
      'The same database as its owner, for `vetledger migrate` alone; database_url is then the runtime role, which cannot change the journal. Absent: one role does both, and `doctor` warns.',
    ),
  database_failover: z
    .enum(['refused', 'trusted'], { error: 'must be refused or trusted' })
    .default('refused')
    .describe(
      '`trusted`: a standby of the same PostgreSQL that was promoted (a newer timeline) goes on without a person; only for a standby that has every commit (synchronous replication). `refused`: it looks like a copy until `vetledger adopt --restored`.',
    ),
  temporal: z
    .strictObject({
      address: z
        .string({ error: 'must be a text' })
        .refine(
          (address) => address === '' || /^[^\s/:]+:\d{1,5}$|^\[.+\]:\d{1,5}$/.test(address),
          'must be host:port, for example 127.0.0.1:7233',
        )
        .nullish()
        .describe('Temporal server, host:port. Absent: the embedded development server.'),
      namespace: text.default('default').describe('Temporal namespace.'),
      task_queue: text.default('vetledger').describe('Beginning of the names of our task queues.'),
      api_key: text.optional().describe(`API key, sent over TLS. ${onlyFromEnvironment}`),
      tls: z
        .union(
          [
            z.boolean(),
            z.strictObject({
              server_name: text
                .optional()
                .describe('Name that the certificate is for, where it is not that of `address`.'),
              server_ca_cert_path: text
                .optional()
                .describe('File of the certificates that sign the server’s, PEM. Absent: those of the system.'),
              client_cert_path: text.optional().describe('File of our certificate, PEM (mutual TLS).'),
              client_key_path: text.optional().describe('File of its key, PEM.'),
            }),
          ],
          {
            error:
              'must be true, false, or a table of server_name, server_ca_cert_path, client_cert_path, client_key_path',
          },
        )
        .optional()
        .describe('TLS: `true`, or a table; with `api_key` it is on unless it is `false`.'),
      allow_insecure: flag.describe('Whether a server that is not on this machine may be used without TLS.'),
    })
    .prefault({})
    .describe('The Temporal server.'),
  export: z
    .strictObject({
      names: z
        .enum(['receivables', 'all'])
        .default('receivables')
        .describe(
          'On which lines `vetledger export` writes the names of private persons: `receivables`, on those of receivables and prepayments; `all`, on every line that has a party. Parties with a VAT number are named everywhere.',
        ),
    })
    .prefault({})
    .describe('What `vetledger export` writes.'),
  seal_key: text
    .optional()
    .describe(
      `Ed25519 private key, PEM, that seals the books at the end of each window that posted, at each \`ledger close\` and in exports; \`ledger verify --public-key\` checks the seals. ${onlyFromEnvironment}`,
    ),
  two_persons: flag.describe('Whether closing and reopening the books needs a second person, named by `--second`.'),
  webhooks: z
    .strictObject({
      listen: text
        .transform(parsed(addressOf, 'must be host:port, for example 127.0.0.1:8787'))
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
  metrics: z
    .strictObject({
      listen: text
        .transform(parsed(addressOf, 'must be host:port, for example 127.0.0.1:9464'))
        .prefault('127.0.0.1:9464')
        .describe('Address that `vetledger run` serves `/metrics`, `/healthz` and `/readyz` on, host:port.'),
      temporal_listen: text
        .transform(parsed(addressOf, 'must be host:port, for example 127.0.0.1:9465'))
        .optional()
        .describe('Address that the Temporal SDK serves its own `/metrics` on, host:port. Absent: nowhere.'),
      backup: z
        .boolean({ error: 'must be true or false' })
        .default(true)
        .describe('Whether the age of the last backup is shown. `false`: the books are backed up without backup.sh.'),
    })
    .optional()
    .describe(
      'Metrics for Prometheus, and whether the daemon lives and is ready, for a supervisor. They hold no personal data and no secret. Absent: off.',
    ),
  retention: z
    .strictObject({
      window_days: days(365).describe('Windows; the latest of an installation stays.'),
      version_days: days(365).describe(
        'Versions of records that newer ones replaced; those that an entry was posted from stay, as evidence.',
      ),
      walk_days: days(30).describe('States of walks that nobody went on with.'),
      daemon_days: days(30).describe('Processes that were last heard of so long ago.'),
    })
    .prefault({})
    .describe(
      'For how many days is kept what grows; 0: for ever. `vetledger run` removes the rest once a day. The journal stays.',
    ),
  window_timeout_minutes: positive('30')
    .prefault(30)
    .describe(
      'A window that is not closed by then has failed, and the next one covers it; fractions allowed. A first load is given up only where nothing of it succeeds for so long.',
    ),
});

export type ConfigFile = z.output<typeof configSchema>;

/** Host and port of `host:port` or `[IPv6]:port`; null when it is neither. */
function addressOf(value: string): { host: string; port: number } | null {
  const parts = /^(?:\[([\da-f:.]+)\]|([^\s/:[\]]+)):(\d{1,5})$/i.exec(value);
  const port = Number(parts?.[3]);
  const host = parts?.[1] ?? parts?.[2];
  return host !== undefined && port <= 65_535 ? { host, port } : null;
}

function isWebAddress(value: string): boolean {
  if (!URL.canParse(value)) return false;
  const { protocol, username, password, search, hash } = new URL(value);
  return /^https?:$/.test(protocol) && username + password + search + hash === '';
}

/** A key of the configuration, with the keys below it. */
export interface ConfigKey {
  description?: string;
  default?: unknown;
  required?: string[];
  properties?: Record<string, ConfigKey>;
  items?: ConfigKey;
}

/** The keys of the configuration as data, for the documentation and for hints. */
export function configKeys(): ConfigKey {
  return z.toJSONSchema(configSchema, { io: 'input', unrepresentable: 'any' }) as ConfigKey;
}
