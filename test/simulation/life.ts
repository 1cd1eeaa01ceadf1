// One random life: a clinic, two installations that see it in different windows and orders, and an oracle for each.
import { Rng } from '../../sandbox/src/rng.ts';
import { addDays } from '../../sandbox/src/zone.ts';
import { act } from './actions.ts';
import { Broken } from './broken.ts';
import { settingOf, WatchedClinic } from './clinic.ts';
import { type Conditions, conditionsOf, firstMapping, onDay, vatFrom } from './conditions.ts';
import { Installation, type Post, sameBooks } from './installation.ts';

export interface LifeOptions {
  seed: number;
  steps: number;
  /** The posting core, or a mutant of it. */
  post: Post;
  /** Called with each step, for `--verbose`. */
  onStep?: (step: number, text: string) => void;
  /** Skips the checks of judgements, lines and orders, so that only the sums over the books are checked. */
  equationsOnly?: boolean;
  /** Each full check also compares the verdict of src/reconcile. */
  reconcile?: boolean;
}

export interface LifeSummary {
  documents: number;
  entries: number;
  judgements: number;
  problems: Record<string, number>;
  states: Record<string, number>;
  proved: { E2: number; E3: number; E8: number };
}

/** A check failed. Seed and step reproduce it. */
export class LifeFailure extends Error {
  override readonly name = 'LifeFailure';
  readonly seed: number;
  readonly step: number;
  readonly equation: string;

  constructor(seed: number, step: number, events: string[], cause: Broken, details: string) {
    const shown = events.map((event) => `  ${event}`).join('\n');
    super(`seed ${seed}, step ${step}\n${cause.message}\nwhat happened last:\n${shown}\n${details}`, { cause });
    this.seed = seed;
    this.step = step;
    this.equation = cause.equation;
  }
}

const minuteMs = 60_000;
const fullEvery = 50;

/** Runs `steps` steps of a seed. Throws LifeFailure at the first failed check. */
export function live({
  seed,
  steps,
  post,
  onStep,
  equationsOnly = false,
  reconcile = false,
}: LifeOptions): LifeSummary {
  const setting = settingOf(seed);
  const clinic = new WatchedClinic(setting);
  const rng = new Rng(seed, 'events');
  const first = new Installation(clinic, new Rng(seed, 'windows A'), post, equationsOnly);
  const second = new Installation(clinic, new Rng(seed, 'windows B'), post, equationsOnly);
  const both = [first, second];
  let conditions = conditionsOf(setting, {
    mapping: firstMapping(setting),
    closedThrough: null,
    locks: new Map(),
    startDate: setting.startDate,
    today: clinic.today(),
  });
  const events: string[] = [];
  for (let step = 1; step <= steps; step++) {
    const tell = (text: string) => {
      events.push(`${step}: ${text}`);
      if (events.length > 12) events.shift();
      onStep?.(step, text);
    };
    try {
      clinic.pass(rng.int(1, 1200) * minuteMs);
      conditions = onDay(conditions, clinic.today());
      if (rng.chance(setting.closesOften ? 0.12 : 0.06)) {
        // Both installations first post everything under the old conditions, so that their books are equal when the new
        // conditions begin.
        for (const one of both) one.window(conditions, 'whole');
        const change = changedConditions(conditions, clinic, rng);
        conditions = conditionsOf(setting, change.conditions);
        tell(change.text);
        for (const one of both) one.conditionsChanged();
        if (rng.chance(0.6)) {
          tell('posted anew by the mapping');
          for (const one of both) one.repost(conditions);
        }
      } else tell(act(clinic, rng));
      if (rng.chance(0.12)) for (const one of both) for (const text of one.decide()) tell(text);
      for (const one of both) one.step(conditions);
      if (step % fullEvery === 0 || step === steps) {
        for (const one of both) one.window(conditions, 'whole');
        for (const one of both) one.fullCheck(conditions, reconcile);
        if (!equationsOnly) sameBooks(first, second);
      }
    } catch (error) {
      if (!(error instanceof Broken)) throw error;
      const details = both.map((one, at) => `installation ${'AB'[at]}:\n${one.describe(error.documents)}`).join('\n');
      throw new LifeFailure(
        seed,
        step,
        events,
        error,
        `${JSON.stringify({ ...setting, quirks: undefined })}\n${details}`,
      );
    }
  }
  return first.summary();
}

/**
 * Changes conditions: closes the books, locks the source, removes a part of the mapping for a while, or changes an
 * account.
 */
function changedConditions(now: Conditions, clinic: WatchedClinic, rng: Rng): { conditions: Conditions; text: string } {
  const { mapping } = now;
  const { closesOften } = clinic.setting;
  const whole = firstMapping(clinic.setting);
  const role = rng.pick(Object.keys(whole.roles));
  const today = clinic.today();
  const [text, changes] = rng.weighted<() => [string, Partial<Conditions>]>([
    [
      () => {
        const through = addDays(today, -rng.int(5, 40));
        const later = now.closedThrough === null || through > now.closedThrough ? through : now.closedThrough;
        return [`books closed through ${later}`, { closedThrough: later }];
      },
      closesOften ? 16 : 3,
    ],
    [
      () => {
        if (now.closedThrough === null) return ['nothing is closed', {}];
        // The books are reopened from a day in the closed time, or completely.
        const through = rng.chance(0.5) ? null : addDays(now.closedThrough, -rng.int(1, 20));
        return [`books opened again after ${through ?? 'nothing'}`, { closedThrough: through }];
      },
      closesOften ? 16 : 3,
    ],
    [
      () => {
        const department = rng.pick([11, 12, 13]);
        const lock = addDays(today, -rng.int(3, 40));
        clinic.department(department).financial_period_lock_date = lock;
        return [`department ${department} locked before ${lock}`, { locks: new Map(now.locks).set(department, lock) }];
      },
      3,
    ],
    [
      () => [`the mapping lacks roles.${role}`, { mapping: { ...mapping, roles: { ...mapping.roles, [role]: '' } } }],
      3,
    ],
    [
      () => [
        `roles.${role} is ${whole.roles[role]}9`,
        { mapping: { ...mapping, roles: { ...mapping.roles, [role]: `${whole.roles[role]}9` } } },
      ],
      2,
    ],
    [
      () => [
        'roles.prepayment_vat is 24019',
        { mapping: { ...mapping, roles: { ...mapping.roles, prepayment_vat: '24019' } } },
      ],
      clinic.setting.prepaymentVatFrom === null ? 0 : 4,
    ],
    [
      () => {
        const policy = rng.pick([
          'listed',
          vatFrom(addDays(today, -rng.int(0, 90)), rng.pick(['25.5', '14', '10'])),
        ] as const);
        const { prepayment_vat: _, ...policies } = mapping.policies;
        const text = policy === 'listed' ? policy : `at receipt from ${policy.at_receipt} at ${policy.group?.rate} %`;
        return [
          `VAT on prepayments: ${text}`,
          { mapping: { ...mapping, policies: { ...policies, prepayment_vat: policy } } },
        ];
      },
      // The group of a prepayment has no account.
      mapping.vat === 'same' ? 0 : 6,
    ],
    [() => ['the mapping lacks most revenue accounts', { mapping: { ...mapping, revenue: { '3000': '4000' } } }], 1],
    [() => ['the mapping lacks most VAT groups', { mapping: { ...mapping, vat: { 'VAT 14 %': '2932' } } }], 1],
    [() => ['the mapping lacks the cash customer', { mapping: { ...mapping, cash_customer: null } }], 1],
    [() => ['the mapping is whole again', { mapping: whole }], 8],
  ])();
  return { conditions: { ...now, ...changes }, text };
}
