// Runs the practice API as a process: `node sandbox-process.ts SETTINGS`. It saves every change to its file before it
// answers, so that a killed process continues from there. Orders arrive as messages.

import { type Faults, startSandbox } from '../../../sandbox/src/index.ts';

export interface SandboxSettings {
  port: number;
  seed: number;
  invoices: number;
  /** The file of the sandbox's records. */
  state: string;
  /** The difference of the sandbox's clock from the machine's. */
  clockAheadMs: number;
  lateCommitShare: number;
}

export type SandboxOrder =
  | { live: number }
  | { faults: Partial<Faults> }
  | { clockAheadMs: number }
  | { lateCommitShare: number }
  | { forgetWrites: number };

const settings = JSON.parse(process.argv[2] ?? '{}') as SandboxSettings;
let { clockAheadMs } = settings;
const sandbox = await startSandbox({
  ...{ port: settings.port, seed: settings.seed, invoices: settings.invoices, historyDays: 40 },
  ...{ stateFile: settings.state, durable: true, rateWindowSeconds: 1 },
  now: () => new Date(Date.now() + clockAheadMs),
  quirks: { lateCommitShare: settings.lateCommitShare, lateCommitMs: 700 },
});
const { clinic } = sandbox;

/** The number of writes of external_info that are answered with success but not stored, without a new `modified`. */
let forgetting = 0;
const merge = clinic.mergeExternalInfo.bind(clinic);
clinic.mergeExternalInfo = (id, changes) => {
  const { external_id = null } = clinic.prepayment(id).external_info;
  const written = merge(id, changes);
  if (forgetting > 0) {
    forgetting -= 1;
    setImmediate(() => {
      const now = clinic.prepayment(id);
      // The old object is restored, while the answer still shows the new one.
      clinic.commit(() =>
        clinic.updateQuietly(clinic.prepayments, now, { external_info: { ...now.external_info, external_id } }),
      );
    });
  }
  return written;
};

function obey(order: SandboxOrder): unknown {
  if ('live' in order) return sandbox.live(order.live).map(({ text }) => text);
  if ('faults' in order) return sandbox.setFaults(order.faults);
  if ('lateCommitShare' in order) return sandbox.setQuirks({ lateCommitShare: order.lateCommitShare });
  if ('forgetWrites' in order) {
    forgetting = order.forgetWrites;
    return null;
  }
  clockAheadMs = order.clockAheadMs;
  return null;
}

process.on('message', ({ serial, argument }: { serial: number; argument: SandboxOrder }) => {
  process.send?.({ serial, result: obey(argument) });
});
process.on('disconnect', () => process.exit(0));
process.send?.({ ready: true });
