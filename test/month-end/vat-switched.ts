// VAT on prepayments is switched on after prepayments, uses and refunds are posted, and then off again. The books must
// follow the mapping each time.

import { Decimal } from 'decimal.js';
import { exported } from './compare.ts';
import type { World } from './world.ts';

const from = '2025-11-01';
const rate = '25.5';
const roles = ['prepayment_vat', 'vat', 'prepayment_liability'];

/** Plays some days of November. Returns the differences. */
export async function switchVat(world: World): Promise<string[]> {
  const differences: string[] = [];
  const compare = (what: string, got: unknown, asked: unknown) => {
    const [mine, theirs] = [JSON.stringify(got), JSON.stringify(asked)];
    if (mine !== theirs) differences.push(`${what}\n    books: ${mine}\n    asked: ${theirs}`);
  };
  const run = async (line: string, configuration?: string) => {
    const { code, stdout, stderr } = await world.run(`${line} --json`, configuration);
    if (code !== 0) differences.push(`${line} ended with ${code}:\n${stdout}${stderr}`);
    return JSON.parse(stdout);
  };
  const repost = async (configuration: string) => {
    const { installations } = await run('repost --all --yes', configuration);
    const { left, held, change_held, corrected } = installations[0].counts;
    return { left, held, change_held, corrected };
  };
  const nothing = { left: 0, held: 0, change_held: 0, corrected: 0 };
  const demo = world.mapping.text;
  const policy = `prepayment_vat: {at_receipt: ${from}, group: {name: "VAT 25.5 %", rate: ${rate}}}`;
  const withVat = demo
    .replace('rate: 25.5, kind: domestic}', 'rate: 25.5, kind: domestic, account: "2931"}')
    .replace('policies:\n', `policies:\n  ${policy}\n`);
  const [on, off] = [world.withMapping('vat-on', withVat), world.withMapping('vat-off', demo)];

  await playNovember(world, () => run('sync'));
  const before = await exported(world, roles);
  // One prepayment, two uses and a refund.
  compare('repost with VAT on prepayments', await repost(on.configuration), { ...nothing, corrected: 4 });
  compare('a second repost', await repost(on.configuration), nothing);
  compare('entries of the next window', (await run('sync', on.configuration)).windows[0].posted, 0);
  const after = await exported(world, roles);
  const owed = vatOfUnused(world);
  compare('prepayment_vat, by the unused amounts of the clinic', after.prepayment_vat, owed.toFixed(2));
  const vat = new Decimal(before.vat ?? 0).minus(owed).toFixed(2);
  compare('vat with that of prepayments', [after.vat, after.prepayment_liability], [vat, before.prepayment_liability]);
  const { equations } = (await run('reconcile', on.configuration)).installations[0];
  compare('E8', equations.E8.documents, []);

  await run(`mapping apply ${off.mapping} --reason "off again"`, off.configuration);
  compare('repost without', await repost(off.configuration), { ...nothing, corrected: 4 });
  compare('balances as before', await exported(world, roles), before);
  return differences;
}

/**
 * A client pays a prepayment of 200.00, uses it twice on an open invoice, and gets a part back. A window follows each
 * event.
 */
async function playNovember(world: World, window: () => Promise<unknown>): Promise<void> {
  const { clinic } = world.sandbox;
  const open = clinic.invoices
    .all()
    .find(({ status, client, due_sum }) => status === 3 && client !== null && new Decimal(due_sum).greaterThan(70));
  if (open === undefined || open.client === null) throw new Error('no invoice of the clinic is open');
  const { client, department, id } = open;
  world.setTime('2025-11-05 10:00');
  const prepayment = clinic.takePrepayment({ department, client, payment_type: 7, paid: '200.00', status: 'Ready' });
  await window();
  for (const [at, paid] of ['33.33', '36.40'].entries()) {
    world.setTime(`2025-11-06 1${at}:00`);
    clinic.applyPrepayment(prepayment.id, id, paid);
    await window();
  }
  world.setTime('2025-11-07 10:00');
  clinic.refundPrepayment(prepayment.id, '30.01', {});
  await window();
}

/** VAT × unused / paid of the prepayments since VAT is posted at receipt, from the clinic's records. */
function vatOfUnused({ sandbox: { clinic } }: World): Decimal {
  const left = clinic.prepayments.all().map(({ id, refunds, paid, unused_amount, created }) => {
    const day = new Date(created).toLocaleDateString('sv-SE', { timeZone: 'Europe/Helsinki' });
    if (refunds !== null || day < from) return new Decimal(0);
    const kept = clinic.quirks.refundLowersUnused ? [] : clinic.prepayments.all().filter((each) => each.refunds === id);
    const unused = kept.reduce((sum, refund) => sum.plus(refund.paid), new Decimal(unused_amount));
    const halfEven = (amount: Decimal) => amount.toDecimalPlaces(2, Decimal.ROUND_HALF_EVEN);
    const vat = halfEven(new Decimal(paid).times(rate).dividedBy(new Decimal(rate).plus(100)));
    return vat.minus(halfEven(vat.times(new Decimal(paid).minus(unused)).dividedBy(paid)));
  });
  return Decimal.sum(0, ...left);
}
