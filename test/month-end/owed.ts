// Gift cards that a mapping posts as revenue: the checklist of the close lists them until the mapping accepts them.

import { Decimal } from 'decimal.js';
import { giftCardAccount } from '../../sandbox/src/catalogue.ts';
import { monthEnd } from './compare.ts';
import { installation, type World } from './world.ts';

const checklist = `ledger close --through ${monthEnd} --dry-run`;
const ruleOfGiftCards = / {2}- when: \{account: "2411"\}\n {4}role: gift_card_liability\n/;

/** Compares the checklist under three mappings, without posting. Returns the differences. */
export async function giftCardsAsRevenue(world: World): Promise<string[]> {
  const { clinic } = world.sandbox;
  const sold = clinic.invoiceRows
    .all()
    .filter(
      ({ invoice, account_number }) => account_number === giftCardAccount && clinic.invoice(invoice).status === 3,
    );
  const net = sold.reduce((all, { sum }) => all.plus(sum), new Decimal(0)).toFixed();
  const demo = world.mapping.text;
  const asRevenue = demo.replace(ruleOfGiftCards, '');
  if (asRevenue === demo) return ['the demo mapping has no rule for gift cards'];
  const wrong = world.withMapping('gift-cards-as-revenue', asRevenue);
  const accepting = world.withMapping('accepting', `${asRevenue}accepted: {"${giftCardAccount}": taxed at sale}\n`);
  const printed = async (line: string) => (await world.run(line)).stdout;
  const checklistBy = async (mapping: string) => {
    await world.run(`mapping apply ${mapping} --installation ${installation} --reason "to look at"`);
    return printed(checklist);
  };
  const rows = `${sold.length} ${sold.length === 1 ? 'row' : 'rows'}`;
  const expected: [printed: string, text: string][] = [
    [await checklistBy(world.mapping.path), 'ok    revenue named as gift cards or prepayments: none'],
    [await checklistBy(wrong.mapping), `LOOK  revenue named as gift cards or prepayments: ${rows}`],
    [await checklistBy(accepting.mapping), 'ok    revenue named as gift cards or prepayments: none'],
    [await printed(`mapping check ${wrong.mapping}`), `(${rows}, net ${net})`],
  ];
  await checklistBy(world.mapping.path);
  return expected
    .filter(([text, part]) => !text.includes(part))
    .map(([text, part]) => `gift cards as revenue: no "${part}" in\n${text}`);
}
