import { catalogue } from '../catalogue.ts';

/** Lines of the checklist of `vetledger ledger close`. */
export const checklistTexts = catalogue('commands/closing.checklistTexts', {
  alreadyClosed: ({ installation, through }: { installation: number; through: string }) =>
    `Installation ${installation}: already closed through ${through}.`,
  title: ({ installation, through, until }: { installation: number; through: string; until: string | null }) =>
    `Installation ${installation}, to be closed through ${through} (${until === null ? 'nothing is closed yet' : `closed through ${until} until now`})`,
  ok: 'Nothing needs attention.',
  look: ({ word }: { word: string }) => `Check the lines with ${word} before you close.`,
  noWindow: 'last window: none has closed',
  lastWindow: ({ at }: { at: string }) => `last window: read the source up to ${at}`,
  notBeyond: ({ window, through }: { window: string; through: string }) =>
    `${window}, not beyond ${through}: run \`vetledger sync\``,
  held: ({ documents }: { documents: string }) => `held documents: ${documents}`,
  late: ({ documents }: { documents: string }) => `late documents (\`vetledger late\`): ${documents}`,
  drafts: ({ documents }: { documents: string }) => `invoices that are not final: ${documents}`,
  noRemarks: 'remarks: none',
  remarks: ({ count }: { count: number }) => `remarks: ${count} (\`vetledger problems --code CODE\` lists each)`,
  notDelivered: 'not in the ERP: nothing is delivered',
  undelivered: ({ entries }: { entries: string }) => `not in the ERP: ${entries}`,
  noDifferences: 'differences: none',
  differences: 'differences: `vetledger reconcile` lists them',
  clearing: ({ accounts }: { accounts: string }) => `clearing accounts: ${accounts}`,
  unused: ({ accounts }: { accounts: string }) => `unused prepayments: ${accounts}`,
  owed: ({ rows }: { rows: string }) => `revenue named as gift cards or prepayments: ${rows}`,
  owedRows: ({ rows }: { rows: string }) => `${rows} (see \`vetledger mapping check\`)`,
  namesUnknown: ({ rows }: { rows: string }) => `${rows}; the names of the accounts are unknown`,
  inDebit: ({ accounts }: { accounts: string }) => `liabilities in debit: ${accounts}`,
  none: 'none',
  noBalance: 'none has a balance',
  withBalance: ({ accounts }: { accounts: string }) => `${accounts} with a balance`,
  postedTo: ({ accounts }: { accounts: string }) => `posted to ${accounts}`,
  inForce: ({ entry }: { entry: string }) => `in the books as ${entry}`,
  more: ({ count }: { count: number }) => `… and ${count} more`,
});

/** The newest links of the hash chains. */
export const headTexts = catalogue('commands/closing.headTexts', {
  head: ({ seq, hash }: { seq: number; hash: string }) => `head: link ${seq}, ${hash}`,
  ofSummaries: ({ seq, hash }: { seq: number; hash: string }) => `; of the daily summaries: ${seq}, ${hash}`,
});

/** Questions and results of `ledger close`, `ledger closes` and `ledger reopen`. */
export const closeTexts = catalogue('commands/closing.closeTexts', {
  question: ({ installations, through }: { installations: string; through: string }) =>
    `Close the books of installation ${installations} through ${through}?`,
  notClosed: 'Nothing was closed.',
  wasClosed: ({ installation, through }: { installation: number; through: string }) =>
    `Installation ${installation}: was already closed through ${through} (\`vetledger ledger closes\` shows by whom); nothing is written.`,
  closed: ({
    installation,
    through,
    entries,
    by,
  }: { installation: number; entries: number } & Record<'through' | 'by', string>) =>
    `Installation ${installation}: closed through ${through}, after ${entries} entries; closed by ${by}.`,

  neverClosed: ({ installation }: { installation: number }) =>
    `Installation ${installation}: its books were never closed.`,
  closedThrough: ({ through }: { through: string }) => `closed through ${through}`,
  reopened: ({ through }: { through: string }) => `reopened; closed through ${through} since`,
  noName: 'no name recorded',

  willOpen: ({ installation, through, from }: { installation: number } & Record<'through' | 'from', string>) =>
    `Installation ${installation}: the books are closed through ${through}; this command opens them from ${from} on.`,
  filedOpen: ({ periods }: { periods: string }) =>
    `VAT returns are filed for ${periods}. What changes there needs a correction return.`,
  openQuestion: ({ installations }: { installations: string }) =>
    `Open the books of installation ${installations} again?`,
  notOpened: 'Nothing was opened.',
  opened: ({ installation, from, by, reason }: { installation: number } & Record<'from' | 'by' | 'reason', string>) =>
    `Installation ${installation}: open again from ${from} on, by ${by}: ${reason}`,
  requested: ({ installation, action, hours }: Record<'installation' | 'action' | 'hours', number>) =>
    `Installation ${installation}: action ${action} is requested. Another user approves it in the console at /${installation}/actions/${action} within ${hours} hours.`,
  lateStay: 'Late documents are not posted automatically: `vetledger late` lists them.',
});
