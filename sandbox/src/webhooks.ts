// Webhooks for record changes, as in the field notes: a POST with only the record's id, repeated until the answer is
// 200, at most ten times. Choices of the sandbox: the numbers of the triggers 1 client, 2 patient and 70 installation;
// the names client_id, patient_id, accountingreport_id, invoicerow_id, department_id and installation_id.
// `installation` is triggered by a new or changed definition of custom fields or entry of a code list, `extraFee` by a
// row that is added to a final invoice. A transaction sends one webhook per trigger and record. The webhooks of one
// record arrive in order, so a webhook waits for the earlier ones. The pause after attempt n is n seconds. A
// subscription sends eight at once, and drops webhooks while 10,000 wait.
import { z } from 'zod';
import type { Clinic } from './clinic.ts';
import type { World } from './outgoing.ts';
import { invoiceStatus } from './records.ts';
import type { ChangedRecord } from './store.ts';

/** The trigger types (field notes: Webhooks for record changes). */
export const triggers = {
  client: 1,
  patient: 2,
  invoice: 9,
  draft: 10,
  payment: 11,
  prepayment: 12,
  accountingReport: 14,
  rowDeleted: 23,
  extraFee: 60,
  departmentSettings: 63,
  installation: 70,
} as const;
/** The name of the only field in a trigger's webhook, which has the record's id. */
export const idFields: Readonly<Record<keyof typeof triggers, string>> = {
  client: 'client_id',
  patient: 'patient_id',
  invoice: 'invoice_id',
  draft: 'invoice_id',
  payment: 'invoicepayment_id',
  prepayment: 'unallocatedpayment_id',
  accountingReport: 'accountingreport_id',
  rowDeleted: 'invoicerow_id',
  extraFee: 'invoice_id',
  departmentSettings: 'department_id',
  installation: 'installation_id',
};
export type Trigger = (typeof triggers)[keyof typeof triggers];
export const triggerTypes: readonly Trigger[] = Object.values(triggers);

/** Subscriptions: receivers of webhooks for record changes. */
export const webhookTargets = z
  .array(
    z.strictObject({
      url: z.url({ protocol: /^https?$/ }),
      /** The default is `form`. */
      format: z.enum(['form', 'json']).optional(),
      /** The trigger types to send. The default is invoices, drafts, payments and prepayments. */
      triggers: z.array(z.literal(triggerTypes)).min(1).max(triggerTypes.length).readonly().optional(),
    }),
  )
  .max(20);

/** An address that receives events, with the trigger types to send to it. */
export type WebhookTarget = z.output<typeof webhookTargets>[number];

export interface WebhookCounts {
  /** Webhooks that were answered with 200. */
  delivered: number;
  /** Webhooks without a 200 after the last attempt. */
  givenUp: number;
  /** Webhooks that were not sent, because too many waited. */
  dropped: number;
  /** Webhooks that are not delivered yet. */
  waiting: number;
}

const accounting: readonly Trigger[] = [triggers.invoice, triggers.draft, triggers.payment, triggers.prepayment];
const maxAttempts = 10;
const pauseMs = 1_000;
const maxRunning = 8;
const maxWaiting = 10_000;

/** A webhook to send: its trigger, and its only field. */
interface Fired {
  trigger: Trigger;
  field: string;
  id: number;
}

/** Triggers by kind of record, if the kind alone decides the trigger. */
const byKind: Readonly<Record<string, keyof typeof triggers>> = {
  client: 'client',
  patient: 'patient',
  invoicepayment: 'payment',
  unallocatedpayment: 'prepayment',
  accountingreport: 'accountingReport',
  extra_fee: 'extraFee',
  department: 'departmentSettings',
};

/** Kinds of records that are settings of the installation. */
const ofInstallation = new Set(['custom_fields', 'species', 'breed', 'diagnosis', 'tag']);

const triggerOf = ({ kind, id, isDeleted }: ChangedRecord, clinic: Clinic): keyof typeof triggers | undefined => {
  if (isDeleted) return kind === 'invoicerow' ? 'rowDeleted' : undefined;
  if (ofInstallation.has(kind)) return 'installation';
  if (kind !== 'invoice') return byKind[kind];
  return clinic.invoices.get(id)?.status === invoiceStatus.draft ? 'draft' : 'invoice';
};

const firedBy = (changed: ChangedRecord, clinic: Clinic, installation: number): Fired | null => {
  const name = triggerOf(changed, clinic);
  if (name === undefined) return null;
  return { trigger: triggers[name], field: idFields[name], id: name === 'installation' ? installation : changed.id };
};

export class WebhookSender {
  readonly #clinic: Clinic;
  readonly #installation: number;
  readonly #world: World;
  readonly #counts: WebhookCounts = { delivered: 0, givenUp: 0, dropped: 0, waiting: 0 };
  #subscriptions: Subscription[] = [];

  constructor(clinic: Clinic, installation: number, world: World) {
    this.#clinic = clinic;
    this.#installation = installation;
    this.#world = world;
  }

  /** Replaces all subscriptions. Webhooks that wait for old subscriptions are dropped. */
  subscribe(targets: WebhookTarget | readonly WebhookTarget[] | null): void {
    this.stop();
    const all = targets === null ? [] : 'url' in targets ? [targets] : targets;
    this.#subscriptions = all.map((target) => new Subscription(target, this.#world, this.#counts));
  }

  /** Sends the webhooks of a transaction, without waiting for the answers. */
  send(changed: readonly ChangedRecord[]): void {
    if (this.#subscriptions.length === 0) return;
    const fired = new Map<string, Fired>();
    for (const record of changed) {
      const one = firedBy(record, this.#clinic, this.#installation);
      if (one) fired.set(`${one.trigger} ${one.id}`, one);
    }
    for (const one of fired.values()) for (const subscription of this.#subscriptions) subscription.add(one);
  }

  counts(): WebhookCounts {
    return { ...this.#counts };
  }

  stop(): void {
    for (const subscription of this.#subscriptions) subscription.stop();
  }
}

/**
 * The undelivered webhooks of one record for one subscription. The first one is being sent, or waits for its next
 * attempt.
 */
interface Line {
  key: string;
  webhooks: { trigger: Trigger; body: string }[];
  attempts: number;
}

class Subscription {
  readonly #target: WebhookTarget;
  readonly #world: World;
  readonly #counts: WebhookCounts;
  readonly #wanted: ReadonlySet<Trigger>;
  readonly #lines = new Map<string, Line>();
  /** Lines whose first webhook can be sent now. */
  readonly #ready: Line[] = [];
  readonly #timers = new Set<() => void>();
  readonly #stopped = new AbortController();
  #running = 0;
  #waiting = 0;

  constructor(target: WebhookTarget, world: World, counts: WebhookCounts) {
    this.#target = target;
    this.#world = world;
    this.#counts = counts;
    this.#wanted = new Set(target.triggers ?? accounting);
  }

  add({ trigger, field, id }: Fired): void {
    if (!this.#wanted.has(trigger)) return;
    if (this.#waiting >= maxWaiting) {
      this.#counts.dropped++;
      return;
    }
    this.#count(1);
    const body = this.#target.format === 'json' ? JSON.stringify({ [field]: id }) : `${field}=${id}`;
    const key = `${field} ${id}`;
    const line = this.#lines.get(key);
    if (line) {
      line.webhooks.push({ trigger, body });
      return;
    }
    const first = { key, webhooks: [{ trigger, body }], attempts: 0 };
    this.#lines.set(key, first);
    this.#ready.push(first);
    this.#sendReady();
  }

  stop(): void {
    this.#stopped.abort();
    for (const cancel of this.#timers) cancel();
    this.#count(-this.#waiting);
  }

  #count(change: number): void {
    this.#waiting += change;
    this.#counts.waiting += change;
  }

  #sendReady(): void {
    while (this.#running < maxRunning && !this.#stopped.signal.aborted) {
      const line = this.#ready.shift();
      if (!line) return;
      this.#running++;
      void this.#attempt(line);
    }
  }

  async #attempt(line: Line): Promise<void> {
    const type = this.#target.format === 'json' ? 'application/json' : 'application/x-www-form-urlencoded';
    const { trigger, body } = line.webhooks[0] as Line['webhooks'][number];
    const about = { kind: 'record_change', trigger, attempt: line.attempts + 1 } as const;
    const webhook = { url: this.#target.url, headers: { 'content-type': type }, body, about };
    const status = await this.#world.send(webhook, this.#stopped.signal).catch(() => 0);
    this.#running--;
    if (this.#stopped.signal.aborted) return;
    line.attempts++;
    if (status === 200) this.#counts.delivered++;
    else if (line.attempts >= maxAttempts) this.#counts.givenUp++;
    else this.#retryLater(line);
    if (status === 200 || line.attempts >= maxAttempts) this.#next(line);
    this.#sendReady();
  }

  #retryLater(line: Line): void {
    const cancel = this.#world.after(pauseMs * line.attempts, () => {
      this.#timers.delete(cancel);
      this.#ready.push(line);
      this.#sendReady();
    });
    this.#timers.add(cancel);
  }

  /** Continues with the record's next webhook. */
  #next(line: Line): void {
    this.#count(-1);
    line.webhooks.shift();
    line.attempts = 0;
    if (line.webhooks.length > 0) this.#ready.push(line);
    else this.#lines.delete(line.key);
  }
}
