import { catalogue } from '../catalogue.ts';
import type { PlainError } from '../plain-error.ts';

/** A message of a check that found something wrong, with its next step. */
type Finding = Pick<PlainError, 'message' | 'todo'>;

/** What each check is about: the text before the result. */
export const checkNames = catalogue('commands/doctor.checkNames', {
  addresses: 'addresses of records',
  clock: 'clock',
  configuration: 'configuration',
  databaseRole: 'database role',
  erp: 'ERP',
  erpKey: 'ERP key',
  erpLogin: 'ERP login',
  filter: ({ filter, list }: { filter: string; list: string }) => `filter ${filter} on ${list}`,
  identity: 'identity',
  list: ({ list }: { list: string }) => `list of ${list}`,
  mail: 'mail',
  pageSize: 'default page size',
  postgres: 'PostgreSQL',
  postgresVersion: 'PostgreSQL version',
  practice: 'practice API',
  refunds: 'refunds of prepayments',
  scrub: 'scrub',
  searchAttributes: 'search attributes',
  secrets: 'secrets',
  settings: ({ department }: { department: number }) => `settings of department ${department}`,
  temporal: 'Temporal',
  webhooks: 'webhooks',
});

/** The lists of the practice API. */
export const listNames = catalogue('commands/doctor.listNames', {
  invoice: 'invoices',
  row: 'invoice rows',
  payment: 'payments',
  prepayment: 'prepayments',
});

/** Results of `vetledger doctor` on the practice API. The name of the check stands before each message. */
export const doctorPracticeTexts = catalogue('commands/doctor.doctorPracticeTexts', {
  records: ({ count }: { count: number }) => `${count} records`,

  clockUnknown: (): Finding => ({
    message:
      'the answers have no Date header, so the source’s clock is unknown; vetledger uses the database’s clock, less five minutes',
    todo: 'Keep the database’s clock synchronised (NTP), and ask the vendor to check the source’s clock.',
  }),
  clocksAgree: 'the source’s clock agrees with the database’s',
  clockWrong: ({ skew }: { skew: string }): Finding => ({
    message: `the source’s clock is ${skew} the database’s`,
    todo: 'Synchronise the wrong clock (NTP). No change is missed until then, because windows start at the earlier of the two times.',
  }),

  pageSizeUnknown: ({ expected }: { expected: number }) =>
    `unknown, because each list has only one page; vetledger uses ${expected}`,
  pageSizeOther: ({ sizes, expected }: { sizes: string; expected: number }): Finding => ({
    message: `${sizes}, but the configuration has ${expected}`,
    todo: 'Nothing: vetledger uses the page size that each list shows. If all lists have the same size, set practice_api.default_page_size to it.',
  }),
  pageSizeOf: ({ size, list }: { size: number; list: string }) => `${size} of ${list}`,

  filterHonoured: 'honoured',
  filterHonouredInstead: 'honoured; vetledger uses it in place of another filter',
  filterIgnored: ({ reason, without }: { reason: string | null; without: string }) =>
    `the server does not honour it: ${reason}${without}`,
  filterUntestable: ({ reason, before, without }: { reason: string | null; before: string; without: string }) =>
    `it cannot be tested now: ${reason}${before}${without}`,
  filterBefore: ({ verdict }: { verdict: string }) => `; the last test found it ${verdict}`,
  filterWithout: ({ without }: { without: string }) => `; without it ${without}`,
  rowChangesUnseen:
    'Correct rows by saving their invoice, too. vetledger does not see the change of a row if its posted invoice did not change.',
  filterNotNeeded: 'Nothing: windows work without it, but send more requests.',

  vatGroupsCheck: 'VAT groups of rows',
  vatGroupsKnown: 'each row names its VAT group',
  vatGroupsMissing: ({ without, rows }: { without: number; rows: number }): Finding => ({
    message: `${without} of ${rows} rows name no VAT group`,
    todo: 'Map these rows by rate: give `vat` the key "*" with a table by rate.',
  }),

  scrubOff: 'off (scrub_days: 0), so vetledger does not find changes that leave `modified` as it was',
  scrubCost: ({ days, requests, weight }: { days: number; requests: number; weight: number }) =>
    `reading every record once in ${days} days takes about ${requests} requests of weight ${weight} a day`,
  scrubLate: ({ cost, end }: { cost: string; end: string }) => `${cost}; the present pass ${end}, which is too late`,
  scrubEnds: ({ at }: { at: string }) => `ends about ${at} at its present rate`,
  scrubReadNothing: 'has read nothing yet',

  refundsUnknown: 'no record shows yet whether refunds lower unused_amount',
  refundsLower: 'refunds lower unused_amount',
  refundsKeep: 'refunds leave unused_amount as it was',
  refundsOther: ({ seen, lower }: { seen: string; lower: string }): Finding => ({
    message: `${seen}, but the configuration says the opposite`,
    todo: `Set practice_api.prepayment.refund_lowers_unused_amount to ${lower}.`,
  }),

  lockedBefore: ({ date }: { date: string }) => `locked before ${date}`,
  notLocked: 'no period is locked',
  lockUnreadable: 'vetledger cannot read its lock date',
  lockNeeded:
    'Give the application the permission to read department settings: policies.follow_source_lock needs them.',
  lockNotNeeded: 'Nothing, because policies.follow_source_lock is off.',

  otherInstallation: 'of another installation or another resource',
  noUsableId: 'without a usable id',
  strangers: (of: { count: number; all: number; list: string; what: string; position: number; why: string }) =>
    `${of.count} of ${of.all} ${of.list} are ${of.what}; record ${of.position}: ${of.why}`,
  hostsAgree: 'all records name the host of base_url',
  otherHosts: ({ hosts, own }: { hosts: string; own: string }): Finding => ({
    message: `the records name ${hosts}, but base_url names ${own}`,
    todo: 'Nothing, if there is a proxy between vetledger and the source. Otherwise check base_url.',
  }),

  owedCheck: 'revenue named as gift cards or prepayments',
  owedAsRevenue:
    'Correct the mapping, and run `vetledger repost --dry-run`. If the mapping is right, list it under `accepted`.',
  owed: ({ rows, net, what }: { rows: string; net: string; what: string }) => `${rows}, net ${net}: ${what}`,
  accountNamesUnknown: (): Finding => ({
    message: 'not checked, because the names of the accounts are unknown',
    todo: 'Give the application the permission to read account numbers.',
  }),
});

/** Results of `vetledger doctor` on the configuration, servers and ERP. */
export const doctorTexts = catalogue('commands/doctor.doctorTexts', {
  mail: ({ server, user, recipients }: { server: string; user: string | null; recipients: string }) =>
    `${server} ${user === null ? 'answers' : `accepts the login of ${user}`}; mail goes to ${recipients}`,
  mailRecipient: ({ address, kinds, installations }: Record<'address' | 'kinds' | 'installations', string>) =>
    `${address} (${kinds}; ${installations})`,
  allInstallations: 'all installations',
  someInstallations: ({ ids }: { ids: string }) => `installations ${ids}`,

  configurationValid: ({ file }: { file: string }) => `${file} and its mapping files are valid`,
  postgres: ({ version, which }: { version: string; which: string }) =>
    `version ${version}, ${which}; its schema is up to date`,
  fromUrl: 'set by database_url',
  embedded: ({ folder }: { folder: string }) => `embedded, in ${folder}`,
  postgresTooNew: ({ major, oldest, newest }: { major: number; oldest: number; newest: number }): Finding => ({
    message: `vetledger was tested with PostgreSQL ${oldest} to ${newest}, but not with ${major}`,
    todo: `Use PostgreSQL ${oldest} to ${newest} if possible.`,
  }),
  roleLimited: ({ role }: { role: string }) => `${role} cannot change or delete entries of the journal`,
  roleTooStrong: ({ role, rights }: { role: string; rights: string }): Finding => ({
    message: `${role}, the role of the program, ${rights}`,
    todo: 'Set migrate_database_url to the URL of this role, and database_url to the URL of a second role. Then run `vetledger migrate` (docs/operators/security.md, "Two database roles").',
  }),
  temporal: ({ address, namespace }: { address: string; namespace: string }) => `${address}, namespace ${namespace}`,
  registered: 'registered',
  registerAttributes:
    'Let an administrator register them. Until then, Temporal cannot search windows by installation and health.',
  latestWebhook: ({ at }: { at: string }) => `the latest arrived ${at}`,
  noWebhook: ({ installation }: { installation: number }) =>
    `none has arrived yet; the source must send them to /webhooks/${installation}/<secret> while \`vetledger run\` is running`,
  practiceUntried: (): Finding => ({
    message: 'not tried, because the rate budget is stored in PostgreSQL',
    todo: 'Repair PostgreSQL first.',
  }),
  counts: ({ ok, warnings, failed }: { ok: number; warnings: number; failed: number }) =>
    `${ok} ok, ${warnings} warnings, ${failed} failed`,

  erpAccepted: ({ kind, url, user, periods }: Record<'kind' | 'url' | 'user' | 'periods', string>) =>
    `${kind} at ${url} accepts ${user}${periods}; \`vetledger erp check\` tries the rest`,
  openPeriods: ({ open }: { open: number }) => `, ${open} open periods`,
  userOfKey: 'the user of its API key',
  keyExpired: ({ key, day }: { key: string; day: string }) => `the API user’s key ${key} expired on ${day}`,
  keyExpires: ({ key, day, days }: { key: string; day: string; days: number }) =>
    `the API user’s key ${key} expires on ${day}, in ${days} days`,
  loginEnds: ({ login, day, days }: { login: string; day: string; days: number }) =>
    `the login to ${login} ends on ${day} (${days} days) unless vetledger uses it before`,
  renewLogin: 'Start `vetledger run`, which uses the login daily. If it has ended, run `vetledger erp login`.',
  renewKey:
    'If vetledger uses this key, create a new one in the ERP, and put it into the secret that the configuration names.',
  folder: ({ folder }: { folder: string }) => `vetledger writes files into ${folder}`,
  unknownReason: 'unknown reason',
  folderUnwritable: ({ folder, reason }: { folder: string; reason: string }): Finding => ({
    message: `vetledger cannot write into the folder ${folder} (${reason})`,
    todo: 'Correct erp.folder, or the rights of the folder.',
  }),
  checkSignIn: 'Check erp.user and its password (or erp.api_key), and its rights.',
  checkAddress: 'Check that the ERP is up, and that erp.url, erp.database and erp.company are right.',
});
