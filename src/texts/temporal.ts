import { catalogue } from './catalogue.ts';

/** Summaries of activities in the Temporal UI. */
export const activityTexts = catalogue('temporal.activityTexts', {
  openWindow: 'take the lease, send the first request, open the window',
  openAndPull: 'take the lease, send the first request, open the window, pull the lists',
  pullInvoices: 'pull changed invoices',
  pullPrepayments: 'pull changed prepayments',
  pullPayments: 'pull new payments',
  pullRows: 'pull the rows of changed invoices',
  scanRows: 'pull all rows, in parallel to the other lists',
  completeRows: 'pull the rows that the scan left out',
  pullParts: 'pull again the parts of documents whose proofs failed',
  backfillStream: 'pull the list beside the live windows',
  post: 'judge and post documents',
  postInLoad: 'post what has been read so far',
  summarise: 'summarise days that are over',
  writeBack: 'write entry ids back',
  takeCensus: 'take the daily census',
  closeWindow: 'record the end, release the lease, request the delivery',
  failWindow: 'record the failure, release the lease',
  noteNotOpened: 'record why the window did not open',
  deliverSlice: 'deliver due units, match open items, write numbers back',
  holdDelivery: 'pause or resume the delivery',
  planReplay: 'check the request, compute its intervals',
  scrubSlice: 'read the next part of all records again',
});

/** The details and notes of workflows in the Temporal UI, as Markdown. */
export const workflowTexts = catalogue('temporal.workflowTexts', {
  activityWithList: ({ summary, list }: { summary: string; list: string }) => `${summary}: ${list}s`,
  error: ({ message, todo }: { message: string; todo: string }) => `**${message}** ${todo}`,
  ignoredSignal: ({ signal }: { signal: string }) =>
    `A signal \`${signal}\` was ignored: its input is not valid for this workflow.`,

  window: ({ number }: { number: number }) => `Window ${number}`,
  windowInterval: ({ number, from, to }: { number: number; from: string | null; to: string }) =>
    `Window ${number} · ${from ?? 'the beginning'} … ${to}`,
  windowState: (state: { installation: number; trigger: string; step: string; health: string }) =>
    `**Installation ${state.installation}** · ${state.trigger} · **${state.step}** · ${state.health}`,
  windowHeadings: '| pulled | posted | held | written back | requests | weight | waited for the rate budget |',
  pulled: (pulled: { invoices: number; rows: number; payments: number; prepayments: number }) =>
    `${pulled.invoices} invoices, ${pulled.rows} rows, ${pulled.payments} payments, ${pulled.prepayments} prepayments`,
  left: ({ left }: { left: string }) => `Left: ${left}`,

  attempt: ({ activity, attempt }: { activity: string; attempt: number }) => `${activity}: attempt ${attempt}`,
  trouble: ({ activity, trouble }: { activity: string; trouble: string }) => `${activity}: ${trouble}`,
  waitsForBudget: ({ activity }: { activity: string }) => `${activity} waits for the rate budget`,
  servedElsewhere: ({ installation, attempt }: { installation: number; attempt: number }) =>
    `This process does not serve installation ${installation}. Another process takes over attempt ${attempt}.`,

  delivery: ({ installation, health }: { installation: number; health: string }) =>
    `**Delivery of installation ${installation}** · ${health}`,
  deliveryHeadings: '| delivered | left | drafts | waiting for approval | refused | in doubt |',
  deliveryWaits: ({ message, todo }: { message: string; todo: string }) => `Waiting: ${message} What to do: ${todo}`,
  deliveryFailed: ({ times, reason }: { times: number; reason: string }) =>
    `Failed ${times === 1 ? 'once' : `${times} times in a row`}: ${reason}`,
  refused: 'Run `vetledger problems` to see which units the ERP refused, why, and what to do.',
  unapproved: 'Run `vetledger deliver --approve --through DATE` to approve the entries.',
  noReason: 'no reason was given',
  userOfTemporal: 'a user of the Temporal UI',

  replayInterval: (of: { installation: number; number: number; intervals: number }) =>
    `replay of installation ${of.installation}, interval ${of.number} of ${of.intervals}`,
  replayProgress: (of: { installation: number; done: number; intervals: number }) =>
    `**Installation ${of.installation}** · ${of.done} of ${of.intervals} intervals replayed`,
  intervalsLeftOut: ({ count }: { count: number }) =>
    `${count === 1 ? '1 more interval' : `${count} more intervals`}, because this one failed: run the replay again`,

  scrubState: ({ installation, state }: { installation: number; state: string }) =>
    `**Installation ${installation}** · ${state}`,
  scrubFailed: 'reading a part failed; the next activity continues from there',
});

/** Summaries and details of workflows and Schedules that the Temporal UI shows for their whole life. */
export const startedTexts = catalogue('temporal.startedTexts', {
  window: ({ kind, label }: { kind: string; label: string }) => `${kind} of installation ${label}`,
  triggered: ({ summary, trigger }: { summary: string; trigger: string }) => `${summary} (${trigger})`,
  windowDetails: ({ label }: { label: string }) =>
    `Pulls what changed in the practice software of installation **${label}**, posts it, and writes the entry ids back. The next window covers a failed one; see \`vetledger windows --failed\`.`,
  judgingDetails: 'Judges the records of the mirror again, and sends no request to the source.',
  replay: ({ installation }: { installation: number }) => `replay of installation ${installation}`,
  replayDetails: 'Reads windows again. It moves no cursor, and posts nothing twice.',
  scrub: ({ label }: { label: string }) => `scrub of installation ${label}`,
  scrubDetails: ({ label, days }: { label: string; days: number }) =>
    `Reads every record of installation **${label}** again within ${days} days, with the lowest priority, and compares it with the mirror. \`vetledger status\` shows its progress.`,
  delivery: ({ label }: { label: string }) => `delivery of installation ${label}`,
  deliveryDetails: ({ label }: { label: string }) =>
    `Sends the entries and daily summaries of installation **${label}** from the outbox to its ERP. It looks up units in doubt, and ends when nothing is due. \`vetledger status\` shows its progress; \`vetledger deliver pause\` pauses it.`,
  unserved: 'no process serves the installation',
  paused: ({ by, reason }: { by: string; reason: string }) => `paused by ${by}: ${reason}`,
  resumed: ({ by, reason }: { by: string; reason: string }) => `resumed by ${by}: ${reason}`,
});
