import { catalogue } from '../catalogue.ts';

/** A window, as `sync`, `replay` and `run` show it. */
export const windowTexts = catalogue('commands/windows.windowTexts', {
  ended: ({ installation, outcome }: Record<'installation' | 'outcome', string>) =>
    `Installation ${installation}: ${outcome}`,
  line: ({ installation, outcome }: Record<'installation' | 'outcome', string>) =>
    `installation ${installation} ${outcome}`,
  outcomes: { closed: 'window closed', failed: 'window FAILED', notOpened: 'the window could not be opened' },
  interval: ({ from, to }: { from: string; to: string }) => `${from} to ${to}`,
  beginning: 'the beginning',
  seeProblems: ({ documents }: { documents: string }) => `${documents} (see \`vetledger problems\`)`,
  counts: (of: Record<'seen' | 'pulled' | 'posted' | 'held' | 'writtenBack' | 'unconfirmed', number>) =>
    `${of.seen} seen, ${of.pulled} pulled, ${of.posted} posted, ${of.held} held, ${of.writtenBack} written back${of.unconfirmed > 0 ? `, ${of.unconfirmed} unconfirmed` : ''}`,
  todo: ({ todo }: { todo: string }) => `what to do: ${todo}`,
  head: ({ seq, hash }: { seq: number; hash: string }) => `head ${seq} ${hash}`,
  throttled: ({ times }: { times: number }) => `throttled ${times} times`,
  waited: ({ seconds }: { seconds: number }) => `waited ${seconds} s for the rate budget`,
});

/** Results of `vetledger windows`. */
export const windowListTexts = catalogue('commands/windows.windowListTexts', {
  noneFailed: 'No window failed.',
  none: 'No window has run yet; start with `vetledger sync`.',
  notCovered: 'nothing yet',
  todo: 'What to do',
  more: ({ count }: { count: number }) => ` and ${count} more`,
  noneRecorded: ({ installation }: { installation: number }) =>
    `Installation ${installation}: no window has recorded yet what it read.`,
  noGap: ({ installation, since }: { installation: number; since: string }) =>
    `Installation ${installation}: no gap since ${since}.`,
  gap: ({ installation, what, command }: { installation: number; what: string; command: string }) =>
    `Installation ${installation}: no window has read the ${what}. What to do: \`${command}\``,
  withIds: ({ list, from, to }: { list: string; from: number; to: number }) =>
    `${list} with ids above ${from} up to ${to}`,
  changed: ({ list, from, to }: Record<'list' | 'from' | 'to', string>) => `${list} changed from ${from} to ${to}`,
});

/** Questions and results of `vetledger replay`. */
export const replayTexts = catalogue('commands/windows.replayTexts', {
  omitted: ({ what }: { what: string }) => `omitted: ${what}`,
  nothing: 'Nothing to replay.',
  allCovered: 'Nothing to replay: every failed window is covered.',
  dryRun: 'Nothing was replayed: this was a dry run.',
  refused: 'Nothing was replayed.',
  question: 'Replay these windows now?',
  spans: ({ installation, spans }: { installation: number; spans: string }) =>
    `installation ${installation}: replays ${spans}`,
  cost: (of: Record<'requests' | 'time' | 'records', string> & { weight: number }) =>
    `cost: ${of.requests}, weight ${of.weight}, ${of.time} by the rate budget (${of.records})`,
  ofList: ({ requests, weight }: { requests: string; weight: number }) => `${requests}, weight ${weight}`,
  posted: ({ documents }: { documents: string }) => `${documents} posted`,
  corrected: ({ documents }: { documents: string }) => `${documents} corrected`,
  unchanged: 'nothing',
});

/** Notes of `vetledger run`. */
export const daemonTexts = catalogue('commands/windows.daemonTexts', {
  started: ({ installations, seconds }: { installations: string; seconds: number }) =>
    `vetledger: installations ${installations}, a window every ${seconds} s; Ctrl-C ends it`,
  notRead: 'no program reads stdout, so its events are dropped until a program reads it again',
  observing: ({ url }: { url: string }) => `metrics: ${url}/metrics; health: ${url}/healthz and ${url}/readyz`,
  listening: ({ url }: { url: string }) => `webhooks: POST ${url}/<installation>/<secret>`,
  forced: ({ seconds }: { seconds: number }) =>
    `some work did not end within ${seconds} s; the next daemon continues it`,
  notOpened: (of: { installation: number } & Record<'at' | 'message' | 'todo', string>) =>
    `${of.at}  installation ${of.installation} window NOT opened | ${of.message} | what to do: ${of.todo}`,
  delivered: (of: Record<'installation' | 'delivered' | 'refused' | 'left', number>) =>
    `installation ${of.installation} delivered ${of.delivered} | ${of.refused} refused, ${of.left} left`,
});

/** Notes of commands that run windows. */
export const runTexts = catalogue('commands/windows.runTexts', {
  ofInstallation: ({ installation, text }: { installation: number; text: string }) =>
    `installation ${installation}: ${text}`,
  longLoad: ({ minutes }: { minutes: number }) =>
    `The first load takes longer than window_timeout_minutes (${minutes}), which does not limit it. An interrupted first load continues later.`,
  limit: ({ time, list }: { time: string; list: string }) => `${time}: ${list} is the limit`,
  toLoad: ({ estimate, records }: { estimate: string; records: string }) => `${estimate} (${records} to load)`,
  matching: 'matching open items',
  timeLeft: ({ time }: { time: string }) => `${time} left`,
  deliveredTo: ({ installation, entries }: { installation: number; entries: string }) =>
    `Installation ${installation}: ${entries} delivered.`,
  progress: ({ step, done, all }: { step: string; done: number; all: number | null }) =>
    `${step}: ${done}${all === null ? '' : ` of ${all}`}`,
});

/** Notes of `vetledger dev`. */
export const devTexts = catalogue('commands/windows.devTexts', {
  stopped: 'everything is stopped; the next start continues from here',
  clinicStarting: 'sandbox clinic: starting',
  clinic: ({ url, token }: { url: string; token: string }) => `sandbox clinic: ${url} (token ${token})`,
  otherPort: 'the sandbox clinic got another port',
  workerStarting: 'worker: starting',
  firstSync: 'first sync: pulling the clinic’s history',
  delivering: 'delivery: sending what was posted to the ERP',
  clinicLives: ({ every }: { every: string }) =>
    `the clinic stays active; a window opens at each of its webhooks, and every ${every}; Ctrl-C ends it`,
  clinicDid: ({ event }: { event: string }) => `clinic: ${event}`,
  consoleLink: ({ name, link }: { name: string; link: string }) => `console, as ${name} (the link works once): ${link}`,
  consoleFailed: ({ reason }: { reason: string }) => `the console did not start: ${reason}`,
  apiUsed: ({ use }: { use: string }) => `API budget used: ${use}`,
  delivered: ({ entries }: { entries: string }) => `delivered to the ERP: ${entries}`,
  desktopClient: ({ url, database }: { url: string; database: string }) =>
    `${url}, database ${database}; its web client could not be installed, the desktop client (PyPI: tryton) works`,
  logIn: ({ accountant, admin, file }: Record<'accountant' | 'admin' | 'file', string>) =>
    `log in as ${accountant} (or ${admin}); the passwords are in ${file}`,
});
