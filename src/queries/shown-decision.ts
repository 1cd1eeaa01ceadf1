import { hashOfShown, type ShownChoice } from '../bookkeeping/shown-decision.ts';
import { addedEffects, type WeighedChoice, type WeighedDocument } from '../bookkeeping/weigh-decision.ts';
import { formatExact, type Money, sum } from '../domain/money.ts';
import { documentKinds } from '../terms.ts';

/** The effects of a decision as plain data, with its hash. Amounts are exact texts; debits are positive. */
export function shownDocument(decision: ShownChoice, choices: readonly WeighedChoice[]) {
  return { hash: hashOfShown(decision, choices), installations: choices.map(installationDocument) };
}

function installationDocument({ installation: { id, currency, decimals }, documents }: WeighedChoice) {
  const shown = (money: Money) => formatExact(money, decimals);
  const known = (of: readonly WeighedDocument[], key: 'amount' | 'vat') => of.flatMap((each) => each[key] ?? []);
  return {
    ...{ installation: id, currency },
    kinds: documentKinds.flatMap((kind) => {
      const of = documents.filter((each) => each.kind === kind);
      const vat = known(of, 'vat');
      if (of.length === 0) return [];
      return [
        {
          ...{ kind, documents: of.length, amount: shown(sum(known(of, 'amount'))) },
          vat: vat.length === 0 ? null : shown(sum(vat)),
        },
      ];
    }),
    documents: documents.map((each) => ({
      ...{ id: `${id}/${each.kind}/${each.id}`, code: each.code, date: each.date },
      ...{ amount: each.amount && shown(each.amount), vat: each.vat && shown(each.vat), day: each.day },
      ...(each.isReopened && { reopened: true }),
      ...(each.left === undefined ? {} : { left: each.left }),
    })),
    effects: [true, false].flatMap((posted) => {
      const effects = documents.filter(({ day }) => (day !== null) === posted).flatMap((each) => each.effects);
      return addedEffects(effects).map(({ account, isVat, vatPeriod, isLate, amount: by }) => ({
        ...{ posted, account, is_vat: isVat, vat_period: vatPeriod, late: isLate, amount: shown(by) },
      }));
    }),
  };
}

export type ShownDecision = ReturnType<typeof shownDocument>;
