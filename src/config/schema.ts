import { isIP } from 'node:net';
import { z } from 'zod';
import { isCalendarDate, isTimezone } from '../domain/dates.ts';
import { isCurrency } from '../domain/money.ts';
import { withoutEnd } from '../domain/text.ts';
import { postingModes, rawKeepings } from '../terms.ts';
import { apiKinds, erpKinds, fileFormats, fileKeys, isApiKind, odooProtocols, odooWithKey } from './erp.ts';
import { mail } from './mail-schema.ts';
import { flag, number, onlyFromEnvironment, parsed, positive, text } from './scalars.ts';
import { reconcile, schedule } from './schedule.ts';

function days(normally: number) {
  return number
    .refine((value) => Number.isInteger(value) && value >= 0, 'must be a whole number of days, or 0')
    .prefault(normally);
}

type Auth = { token: string } | { clientId: string; clientSecret: string };

const auth = z
  .strictObject({
    token: text.optional().describe(`Bearer token. ${onlyFromEnvironment}`),
    client_id: text.optional().describe('OAuth2 client id. vetledger then fetches and renews the token automatically.'),
    client_secret: text.optional().describe(`OAuth2 client secret. ${onlyFromEnvironment}`),
  })
  .transform(({ token, client_id: clientId, client_secret: clientSecret }, context): Auth => {
    if (token !== undefined && clientId === undefined && clientSecret === undefined) return { token };
    if (token === undefined && clientId !== undefined && clientSecret !== undefined) return { clientId, clientSecret };
    context.addIssue({ code: 'custom', message: 'needs either token, or client_id and client_secret, but not both' });
    return z.NEVER;
  });

const kinds = ['ledger' as const, ...apiKinds, ...fileFormats];
const quoted = (names: readonly string[]) => names.map((name) => `\`${name}\``).join(', ');
/** The keys of `erp` that not every kind has. */
const keysOfKinds = new Set(
  [...Object.values(erpKinds), odooWithKey, fileKeys].flatMap(({ needs, allows }) => [...needs, ...allows]),
);

const erp = z
  .strictObject({
    kind: z
      .enum(kinds, { error: `must be ${kinds.slice(0, -1).join(', ')} or ${kinds.at(-1)}` })
      .describe(
        `\`ledger\`: only the books in PostgreSQL. ${quoted(apiKinds)}: that ERP. ${quoted(fileFormats)}: files.`,
      ),
    url: text
      .refine(isWebAddress, 'must be an http:// or https:// address without user, password, query or fragment')
      .transform((url) => withoutEnd(url, '/'))
      .optional()
      .describe('Address of the ERP. Xero, Fortnox: needed only for a test server.'),
    database: text.optional().describe('Tryton, Odoo: name of the database.'),
    company: text
      .optional()
      .describe(
        'Name or id of the company; for Netvisor the business id, for Fortnox the tenant id. Default: the only one that the user may see.',
      ),
    user: text.optional().describe('Login of the API user.'),
    password: text.optional().describe(`Password of the API user; for Odoo also an API key. ${onlyFromEnvironment}`),
    api_key: text
      .optional()
      .describe(
        `Odoo 19: key of the API user for /json/2, instead of user and password. Procountor: key of the company. Netvisor: key of the API user. ${onlyFromEnvironment}`,
      ),
    client_id: text
      .optional()
      .describe('Procountor, Xero, Fortnox: id of the API client. Netvisor: id of the software partner.'),
    client_secret: text
      .optional()
      .describe(
        `Procountor, Xero, Fortnox: secret of the API client. Netvisor: key of the software partner. ${onlyFromEnvironment}`,
      ),
    redirect_url: text
      .refine(
        isRedirectAddress,
        'must be an address with a path that begins with https://, or with http:// on this machine',
      )
      .optional()
      .describe(
        'Xero: address to which it sends the browser at `vetledger erp login`, as registered for the app. Default: the client is a custom connection, which needs no login.',
      ),
    protocol: z
      .enum(odooProtocols, { error: 'must be jsonrpc or json2' })
      .optional()
      .describe('Odoo: `jsonrpc` (17 to 19) or `json2` (19). Default: `json2` with an api_key, otherwise `jsonrpc`.'),
    post: z
      .enum(['posted', 'draft'], { error: 'must be posted or draft' })
      .optional()
      .describe('`draft`: entries stay drafts until the accountant posts them. Default: `posted`.'),
    from: text
      .refine(isCalendarDate, 'is not a date; write it like 2026-01-31')
      .optional()
      .describe('Entries with an earlier date are not delivered.'),
    auto: flag.describe(
      'Whether the entries of a first load or backfill are delivered without `vetledger deliver --approve`.',
    ),
    owned_accounts: z
      .array(z.union([text, z.int().nonnegative().transform(String)]), { error: 'must be a list of accounts' })
      .optional()
      .describe('Accounts on which `reconcile --erp` reports entries that vetledger did not deliver.'),
    close_source_periods: flag.describe(
      'Whether a closed period of the ERP sets `financial_period_lock_date` in the practice software.',
    ),
    measured: text
      .optional()
      .describe('File that `vetledger erp probe` wrote. Its path is relative to the configuration file.'),
    timeout_seconds: positive('120')
      .optional()
      .describe('Time limit of a request to the ERP, in seconds. Default: 120.'),
    folder: text.optional().describe('Files: folder of the batches. Default: `erp` under data_dir.'),
    options: z
      .record(z.string(), z.union([text, z.number().transform(String), z.boolean().transform(String)]))
      .optional()
      .describe('Files: options of the format; docs/accountants/files.md lists them by kind.'),
  })
  .superRefine((erp, context) => {
    const isKeyed = erp.kind === 'odoo' && erp.protocol !== 'jsonrpc' && ('api_key' in erp || erp.protocol === 'json2');
    const ofApi = isKeyed ? odooWithKey : isApiKind(erp.kind) ? erpKinds[erp.kind] : fileKeys;
    const { needs, allows } = erp.kind === 'ledger' ? { needs: [], allows: [] } : ofApi;
    for (const key of needs) {
      if (key in erp) continue;
      context.addIssue({ code: 'custom', path: [key], message: `is required for kind ${erp.kind}` });
    }
    if (erp.kind === 'fortnox' && erp.company !== undefined && !/^\d{1,9}$/.test(erp.company)) {
      context.addIssue({ code: 'custom', path: ['company'], message: 'must be the number of the company (TenantId)' });
    }
    for (const key of keysOfKinds) {
      if (!(key in erp) || needs.includes(key) || allows.includes(key)) continue;
      const of = isKeyed ? 'odoo with an api_key' : erp.kind;
      context.addIssue({ code: 'custom', path: [key], message: `is not a key of kind ${of}` });
    }
  });

const installation = z.strictObject({
  id: number
    .refine((id) => Number.isSafeInteger(id) && id > 0, 'must be a whole number above 0')
    .describe('Installation id: the number in every address of the practice API.'),
  name: text
    .max(80, 'must have at most 80 characters')
    .optional()
    .describe(
      'Name for people, such as the name of the clinic. It is shown beside the id. Do not use the name of a person.',
    ),
  base_url: text
    .refine(isWebAddress, 'must be an http:// or https:// address without user, password, query or fragment')
    .transform((url) => withoutEnd(url, '/'))
    .describe('Address of the practice API, without the installation id.'),
  auth: auth.describe('How vetledger signs in: `{token}`, or `{client_id, client_secret}`.'),
  timezone: text
    .refine((name) => /^[A-Za-z]/.test(name) && isTimezone(name), 'is not a time zone; write it like Europe/Helsinki')
    .describe('Time zone of the clinic. It decides the day of a document.'),
  currency: text
    .refine(isCurrency, 'is not a currency code of ISO 4217; write it like EUR')
    .describe('Currency of every amount. Entries are rounded to its minor unit.'),
  start_date: text
    .refine(isCalendarDate, 'is not a date; write it like 2026-01-31')
    .nullish()
    .describe(
      'First day that is posted. Earlier documents are mirrored but not posted. Default: everything is posted.',
    ),
  mapping: text.describe(
    'Mapping file: it maps roles, revenue accounts, VAT groups and payment types to your accounts.',
  ),
  erp: erp.prefault({ kind: 'ledger' }).describe('Destination of the entries.'),
  posting_mode: z
    .enum(postingModes, { error: `must be ${postingModes.join(' or ')}` })
    .default('document')
    .describe(
      'What goes to the general ledger. `document`: the entry of each document. `daily_summary`: one entry per day and department, after the end of the day. A change does not affect posted entries.',
    ),
  fiscal_year_start_month: number
    .refine((month) => Number.isInteger(month) && month >= 1 && month <= 12, 'must be a month, from 1 to 12')
    .prefault(1)
    .describe('First month of the fiscal year. Voucher numbers restart in it (`2026-S-000001`).'),
  rate_window_seconds: positive('60')
    .prefault(60)
    .describe('Length of the rolling window of the API rate limits, in seconds. Fractions are allowed.'),
  overlap_seconds: number
    .refine((value) => value >= 0, 'must be 0 or more')
    .prefault(600)
    .describe(
      'Seconds before its cursor from which each window reads again. This finds records that the source committed late.',
    ),
  allow_insecure: flag.describe(
    'Whether `base_url` may begin with http:// on another machine. The token and the records are then sent unencrypted.',
  ),
  scrub_days: number
    .refine((value) => value >= 0, 'must be 0 or more')
    .prefault(30)
    .describe(
      'Days in which the scrub reads every record again in the background and compares it with the mirror. Fractions are allowed, 0 turns it off. `vetledger doctor` prints its cost.',
    ),
  scrub_min_share: number
    .refine((value) => value >= 0 && value <= 1, 'must be from 0 to 1')
    .prefault(0)
    .describe(
      'Share of the rate limits that the scrub uses even while other requests wait. With 0, it delays no other request.',
    ),
  clock_skew_limit_seconds: positive('60')
    .prefault(60)
    .describe(
      'Difference between the clocks of source and database, in seconds, above which windows, `status` and `doctor` warn. No record is missed because of it.',
    ),
  keep_raw: z
    .enum(rawKeepings, { error: `must be ${rawKeepings.join(' or ')}` })
    .default('mapped')
    .describe(
      'Which fields of a record the mirror stores. `mapped`: only the fields that vetledger reads, without patient names, addresses and free texts. `all`: the whole record. A change posts nothing.',
    ),
  practice_api: z
    .record(z.string(), z.unknown())
    .default({})
    .describe('Differences of this installation from mappings/practice-api.yaml, in the same layout.'),
});

const databaseUrl = z
  .string({ error: 'must be a text' })
  .refine((url) => url === '' || /^postgres(ql)?:\/\//.test(url), 'must begin with postgresql://');

/** The schema of the configuration file. docs/reference/CLI.md is generated from its descriptions and default values. */
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
          'Whether a changed mapping file is put in force by the next start or reload of `vetledger run`, and by commands that post. `false`: only `vetledger mapping apply` puts it in force.',
        ),
    })
    .prefault({})
    .describe('How mapping files are put in force. The database stores the mapping in force.'),
  schedule,
  reconcile,
  embedded: z
    .boolean({ error: 'must be true or false' })
    .default(false)
    .describe(
      'Whether an embedded server is used if the environment variable in `database_url` or `temporal.address` is unset or empty. If `false`, such a variable is an error: a forgotten variable must not start new books in an empty database.',
    ),
  allow_insecure: flag.describe(
    'Whether connections to other machines, including PostgreSQL, may be without TLS. Use it only on a private network, such as between containers of one machine.',
  ),
  database_url: databaseUrl.nullish().describe('URL of PostgreSQL. Default: the embedded PostgreSQL under data_dir.'),
  migrate_database_url: databaseUrl
    .nullish()
    .describe(
      'URL of the same database for its owner; only `vetledger migrate` uses it. The role of database_url then cannot change the journal. Default: one role does both, and `doctor` warns.',
    ),
  database_failover: z
    .enum(['refused', 'trusted'], { error: 'must be refused or trusted' })
    .default('refused')
    .describe(
      '`trusted`: a promoted standby of the same PostgreSQL server continues automatically. Use it only with synchronous replication, so that the standby has every commit. `refused`: it counts as a copy until `vetledger adopt --restored`.',
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
        .describe('Temporal server, host:port. Default: the embedded development server.'),
      namespace: text.default('default').describe('Temporal namespace.'),
      task_queue: text.default('vetledger').describe('Prefix of the names of vetledger’s task queues.'),
      api_key: text.optional().describe(`API key, sent over TLS. ${onlyFromEnvironment}`),
      tls: z
        .union(
          [
            z.boolean(),
            z.strictObject({
              server_name: text.optional().describe('Name in the server’s certificate, if it differs from `address`.'),
              server_ca_cert_path: text
                .optional()
                .describe('PEM file of the certificate authorities. Default: those of the system.'),
              client_cert_path: text.optional().describe('PEM file of the client certificate (mutual TLS).'),
              client_key_path: text.optional().describe('PEM file of the key of the client certificate.'),
            }),
          ],
          {
            error:
              'must be true, false, or a table of server_name, server_ca_cert_path, client_cert_path, client_key_path',
          },
        )
        .optional()
        .describe('TLS: `true`, `false` or a table. Default: on with an `api_key`, otherwise off.'),
      allow_insecure: flag.describe('Whether a server on another machine may be used without TLS.'),
    })
    .prefault({})
    .describe('The Temporal server.'),
  export: z
    .strictObject({
      names: z
        .enum(['receivables', 'all'])
        .default('receivables')
        .describe(
          'On which lines `vetledger export` writes the names of private persons. `receivables`: on lines of receivables and prepayments. `all`: on every line with a party. Parties with a VAT number are always named.',
        ),
    })
    .prefault({})
    .describe('What `vetledger export` writes.'),
  seal_key: text
    .optional()
    .describe(
      `Ed25519 private key (PEM) that seals the books: after each window that posted, at each \`ledger close\` and in exports. \`ledger verify --public-key\` checks the seals. ${onlyFromEnvironment}`,
    ),
  secret_key: text
    .optional()
    .describe(
      `Key that encrypts the logins to ERPs in the database: 32 bytes in base64, as \`openssl rand -base64 32\` prints them. ${onlyFromEnvironment}`,
    ),
  old_secret_key: text
    .optional()
    .describe(`The key before a change of \`secret_key\`. It only decrypts. ${onlyFromEnvironment}`),
  two_persons: flag.describe('Whether `ledger close` and `ledger reopen` require a second person (`--second`).'),
  webhooks: z
    .strictObject({
      listen: text
        .transform(parsed(addressOf, 'must be host:port, for example 127.0.0.1:8787'))
        .prefault('127.0.0.1:8787')
        .describe('Address on which `vetledger run` listens, host:port. Put a proxy with TLS in front of it.'),
      secret: text
        .regex(/^[A-Za-z0-9._-]{16,200}$/, 'must be 16 to 200 letters, digits, dots, hyphens and underscores')
        .describe(`Last part of the webhook address. ${onlyFromEnvironment}`),
    })
    .optional()
    .describe(
      'Receives the webhooks of the practice software at `/webhooks/<installation>/<secret>`. Each webhook opens a window immediately. Default: off.',
    ),
  metrics: z
    .strictObject({
      listen: text
        .transform(parsed(addressOf, 'must be host:port, for example 127.0.0.1:9464'))
        .prefault('127.0.0.1:9464')
        .describe('Address of `/metrics`, `/healthz` and `/readyz` of `vetledger run`, host:port.'),
      temporal_listen: text
        .transform(parsed(addressOf, 'must be host:port, for example 127.0.0.1:9465'))
        .optional()
        .describe('Address of the `/metrics` of the Temporal SDK, host:port. Default: off.'),
      backup: z
        .boolean({ error: 'must be true or false' })
        .default(true)
        .describe('Whether the age of the last backup is shown. Set `false` if you make backups without backup.sh.'),
    })
    .optional()
    .describe(
      'Metrics for Prometheus and health checks for a supervisor. They contain no personal data and no secrets. Default: off.',
    ),
  mail: mail.optional(),
  console: z
    .strictObject({
      listen: text
        .transform(parsed(addressOf, 'must be host:port, for example 127.0.0.1:8095'))
        .prefault('127.0.0.1:8095')
        .describe('Address on which `vetledger console` listens, host:port. Put a proxy with TLS in front of it.'),
      database_url: databaseUrl
        .optional()
        .describe(
          'URL of the database for the role of the console, which reads the books and cannot change them. `vetledger migrate` creates the role. Required with a `database_url`.',
        ),
      hosts: z
        .array(text)
        .default([])
        .describe(
          'Names under which users reach the console, such as books.clinic.example. Others are refused. `localhost` and loopback addresses are always accepted.',
        ),
      trusted_proxies: z
        .array(text.refine(isNetwork, 'must be an IP address or a network, such as 10.0.0.5 or 10.0.0.0/24'))
        .default([])
        .describe('Addresses of proxies whose `X-Forwarded-For` and `X-Forwarded-Proto` are believed.'),
      temporal_ui: text
        .transform(parsed(webAddressOf, 'must be an address that begins with https:// or http://, without a query'))
        .optional()
        .describe(
          'Address of the Temporal UI for links to workflows, such as https://temporal.clinic.example. Default: no links.',
        ),
      oidc: z
        .strictObject({
          issuer: text
            .refine(isWebAddress, 'must be an http:// or https:// address without user, password, query or fragment')
            .describe('Issuer of the provider, exactly as its tokens name it.'),
          client_id: text.describe('Id of the console at the provider.'),
          client_secret: text.describe(`Secret of the console at the provider. ${onlyFromEnvironment}`),
        })
        .optional()
        .describe(
          'An OpenID Connect provider through which users sign in. Default: users sign in with passwords only.',
        ),
      passwords: flag.default(true).describe('Whether users sign in with passwords. `false` needs `oidc`.'),
    })
    .refine(({ oidc, passwords }) => passwords || oidc !== undefined, {
      path: ['passwords'],
      message: 'may be false only with oidc',
    })
    .optional()
    .describe('The console in the browser, which runs as a separate process. Default: off, except in `dev`.'),
  retention: z
    .strictObject({
      window_days: days(365).describe('Windows. The latest window of an installation stays.'),
      version_days: days(365).describe(
        'Replaced versions of records. Versions from which an entry was posted stay as evidence.',
      ),
      walk_days: days(30).describe('States of unfinished reads of lists that no process continued.'),
      daemon_days: days(30).describe('Daemon processes without a heartbeat since then.'),
    })
    .prefault({})
    .describe(
      'Retention in days; 0 keeps everything. `vetledger run` deletes older data once a day. The journal is never deleted.',
    ),
  window_timeout_minutes: positive('30')
    .prefault(30)
    .describe(
      'Time limit of a window in minutes; fractions are allowed. A window that takes longer fails, and the next one covers it. A first load fails only if it makes no progress for this time.',
    ),
});

export type ConfigFile = z.output<typeof configSchema>;

/** Whether a browser can be sent to the address, and the address has one spelling only. */
function isRedirectAddress(value: string): boolean {
  if (!URL.canParse(value)) return false;
  const { protocol, hostname, pathname, search, hash, href } = new URL(value);
  const isSafe =
    protocol === 'https:' || (protocol === 'http:' && ['localhost', '127.0.0.1', '[::1]'].includes(hostname));
  return isSafe && pathname !== '/' && `${search}${hash}` === '' && href === value;
}

/** Reads the address of a web page without a user, a query and a fragment. Returns it without a slash at its end. */
export function webAddressOf(value: string): string | null {
  if (!URL.canParse(value)) return null;
  const { protocol, username, password, search, hash, href } = new URL(value);
  const isPlain = ['https:', 'http:'].includes(protocol) && `${username}${password}${search}${hash}` === '';
  return isPlain ? href.replace(/\/+$/, '') : null;
}

/** Reads `host:port` or `[IPv6]:port`. Null if the text is neither. */
export function addressOf(value: string): { host: string; port: number } | null {
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

/** The keys of the configuration as data, for the documentation and for the error of an unknown key. */
export function configKeys(): ConfigKey {
  return z.toJSONSchema(configSchema, { io: 'input', unrepresentable: 'any' }) as ConfigKey;
}

/** Whether a text is an IP address, or a network with at least one fixed bit, such as 10.0.0.0/24. */
function isNetwork(value: string): boolean {
  const [address = '', bits, ...rest] = value.split('/');
  const most = isIP(address) === 4 ? 32 : 128;
  if (isIP(address) === 0 || rest.length > 0) return false;
  return bits === undefined || (/^[1-9]\d{0,2}$/.test(bits) && Number(bits) <= most);
}
