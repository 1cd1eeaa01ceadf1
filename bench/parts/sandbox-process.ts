// Runs the sandbox in a separate process: the parent (parts/sandbox.ts) forks this file and sends it messages.
import { type Quirks, startSandbox } from '../../sandbox/src/index.ts';
import { countsOf, fillClinic } from './clinic.ts';
import { lateEvent } from './late-clinic.ts';

export interface SandboxSettings {
  invoices: number;
  rateWindowSeconds: number;
  latencyMs: number;
  quirks?: Partial<Quirks>;
  /** The interval and the duration of events in the clinic, after the message `liveLate`. */
  late?: { everyMs: number; endsAfterMs: number };
}

/**
 * The requests that the source granted to an action, in order: milliseconds since the epoch, weight since the last
 * mark, number of 429s.
 */
export interface Mark {
  at: number;
  action: string;
  requests: number;
  weight: number;
  throttled: number;
}

const traceEveryMs = 5;

const settings = JSON.parse(process.argv[2]!) as SandboxSettings;
const sandbox = await startSandbox({
  invoices: 0,
  rateWindowSeconds: settings.rateWindowSeconds,
  latencyMs: settings.latencyMs,
  quirks: settings.quirks ?? {},
});
const { clinic } = sandbox;
fillClinic(clinic, settings.invoices);

let marks: Mark[] = [];
let before = sandbox.stats().byAction;
function trace(): void {
  const now = sandbox.stats().byAction;
  for (const [action, { requests, weight, throttled }] of Object.entries(now)) {
    const old = before[action] ?? { requests: 0, weight: 0, throttled: 0 };
    if (requests === old.requests && throttled === old.throttled) continue;
    const since = {
      requests: requests - old.requests,
      weight: weight - old.weight,
      throttled: throttled - old.throttled,
    };
    marks.push({ at: Date.now(), action, ...since });
  }
  before = now;
}
setInterval(trace, traceEveryMs);

let living: NodeJS.Timeout | null = null;
const orders: Record<string, (argument: number) => unknown> = {
  /** Returns the marks since the last call. */
  marks: () => {
    trace();
    const taken = marks;
    marks = [];
    return taken;
  },
  counts: () => countsOf(clinic),
  /** Creates a final invoice that is committed at once. */
  invoice: () => {
    const { id } = clinic.createInvoice({
      client: clinic.clients.all()[0]!.id,
      rows: [{ sum: '80.00', vat_percentage: '25.50', account_number: '3000' }],
    });
    return id;
  },
  live: (events) => sandbox.live(events).length,
  /** Starts events in the late-commit clinic, for the time in the settings. */
  liveLate: () => {
    const { everyMs, endsAfterMs } = settings.late!;
    let serial = 0;
    living = setInterval(() => lateEvent(clinic, serial++), everyMs);
    setTimeout(() => clearInterval(living!), endsAfterMs);
  },
  /** Every record with its `modified`, including changes that lists do not show yet. */
  truth: () => ({
    invoice: versionsOf(clinic.invoices.all()),
    invoicerow: versionsOf(clinic.invoiceRows.all()),
    invoicepayment: versionsOf(clinic.invoicePayments.all()),
    unallocatedpayment: versionsOf(clinic.prepayments.all()),
  }),
};

function versionsOf(records: readonly { id: number; modified: number }[]): [number, number][] {
  return records.map(({ id, modified }) => [id, modified]);
}

process.on('message', ({ order, argument, serial }: { order: string; argument: number; serial: number }) => {
  process.send!({ serial, result: orders[order]!(argument) });
});
process.on('disconnect', () => process.exit(0));
process.send!({
  ready: true,
  url: sandbox.url,
  installation: sandbox.installation,
  token: sandbox.token,
  counts: countsOf(clinic),
});
