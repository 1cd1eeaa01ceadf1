import { catalogue } from '../catalogue.ts';

/** The delivery of an installation, as `status`, `sync` and `deliver` show it. */
export const deliveryTexts = catalogue('commands/delivery.deliveryTexts', {
  notDelivered: ({ entries, why }: { entries: string; why: string | null }) =>
    `${entries} not delivered yet${why === null ? '' : ` (${why})`}`,
  needApproval: ({ entries }: { entries: string }) => `${entries} waiting for \`vetledger deliver --approve\``,
  refused: ({ entries }: { entries: string }) => `${entries} refused (see \`vetledger problems\`)`,
  paused: ({ by, reason }: { by: string; reason: string }) => `paused by ${by}: ${reason}`,
  pausedAt: ({ by, reason, at }: Record<'by' | 'reason' | 'at', string>) => `paused by ${by} ${at}: ${reason}`,
  unanswered: ({ entries, when }: { entries: string; when: string }) =>
    `${entries} sent by a delivery that ended without an answer; looked up ${when}`,
  notBefore: ({ at }: { at: string }) => `not before ${at}`,
  byNextDelivery: 'by the next delivery',

  left: ({ left, oldest }: { left: number; oldest: string | null }) =>
    `${left} left${oldest === null ? '' : `, the oldest of ${oldest}`}`,
  inDoubt: ({ count }: { count: number }) => `${count} of them in doubt`,
  drafts: ({ drafts }: { drafts: string }) => `${drafts} for the accountant to post`,
  waiting: ({ count }: { count: number }) => `${count} waiting for approval`,
  fileWritten: ({ kind, at }: { kind: string; at: string }) => `the last file (${kind}) was written ${at}`,
  erpAnswered: ({ kind, at }: { kind: string; at: string }) => `the ERP (${kind}) last answered ${at}`,
  closedPeriods: ({ at }: { at: string }) => `; its closed periods are those of ${at}`,
  draftsSwept: ({ count }: { count: number }) =>
    `deleted drafts that the ERP created after their request timed out: ${count}`,
  failedSince: ({ at, message }: { at: string; message: string }) => `since then, ${at}: ${message}`,
});

/** The state of a general ledger unit in the outbox. */
export const unitStateTexts = catalogue('commands/delivery.unitStateTexts', {
  pending: 'waits for its delivery',
  sending: 'is being sent',
  uncertain: 'in doubt: it was sent, but the ERP gave no clear answer',
  drafted: 'is a draft in the ERP that the accountant has not posted yet',
  delivered: 'delivered',
  refused: 'refused',
  handed_over: 'written into a file',
  acknowledged: 'written into a file that was imported',
  cancelled_out: 'settled against its reversal: neither was sent',
  excluded: 'not delivered: excluded from the delivery',
  unapproved: 'waits for `vetledger deliver --approve`',
});

/** Facts of a unit in the ERP. */
export const unitTexts = catalogue('commands/delivery.unitTexts', {
  record: ({ id }: { id: string }) => `the ERP's record ${id}`,
  number: ({ number }: { number: string }) => `number ${number}`,
  dated: ({ date }: { date: string }) => `dated ${date} there`,
});

/** Results of `deliver` and its subcommands. */
export const deliverTexts = catalogue('commands/delivery.deliverTexts', {
  notApproved: 'Nothing was approved, and nothing was sent.',
  foreign: ({ installation, message, todo }: { installation: number; message: string; todo: string }) =>
    `installation ${installation}: ${message}. ${todo}`,
  waiting: ({ installation, kind, entries }: { installation: number; kind: string; entries: string }) =>
    `installation ${installation}, ${kind}: ${entries} for approval`,
  dated: ({ from, through }: { from: string; through: string }) => `, dated ${from} to ${through}`,
  approveQuestion: ({ through }: { through: string }) =>
    `Send the entries dated up to ${through}? Entries that the ERP has posted cannot be removed.`,
  dryRun: 'Dry run: nothing is sent.',
  barred: ({ installation, message, todo }: { installation: number; message: string; todo: string }) =>
    `Installation ${installation}: ${message}. Nothing is sent before this is solved: ${todo}`,
  toSend: ({ installation, entries, lacking }: { installation: number; entries: string; lacking: number }) =>
    `Installation ${installation}: ${entries} to send; ${lacking} of them wait, because the mapping is incomplete.`,
  inAddition: ({ waiting }: { waiting: string }) => ` In addition: ${waiting}.`,

  wasAcknowledged: ({ batch }: { batch: string }) => `Batch ${batch} was already acknowledged.`,
  acknowledged: ({ batch, file, entries }: Record<'batch' | 'file' | 'entries', string>) =>
    `Batch ${batch} (${file}) is acknowledged: ${entries}.`,

  retried: ({ entries }: { entries: string }) => `${entries} tried again.`,
  notRefused: ({ unit, state }: { unit: string; state: string }) => `${unit} was not refused: ${state}.`,

  toUndo: (of: { installation: number; withheld: number } & Record<'kind' | 'from' | 'to' | 'entries', string>) =>
    `installation ${of.installation}, ${of.kind}, ${of.from} to ${of.to}: ${of.entries} to reverse in the ERP, ${of.withheld} not sent yet, to be excluded from the delivery`,
  undoQuestion: 'Reverse them? The entries and their reversals stay in the ERP.',
  notUndone: 'Nothing was undone.',
});
