import { Money } from '../domain/money.ts';
import { lookUpFindings, vatAccountTexts } from '../texts/findings/mapping.ts';
import { isUnmapped, rateText, vatAccount, vatGroupName } from './look-ups.ts';
import type { Mapping } from './schema.ts';

const same = 'same';
const rest = '*';

/**
 * Warnings about VAT groups whose documents will be held, from the mapping alone: before the first load, nothing shows which
 * groups the practice uses.
 */
export function vatAccountWarnings(mapping: Mapping): string[] {
  const only = onlyGroup(mapping);
  if (only !== null) return [vatAccountTexts.onlyOne({ group: only })];
  return [...new Set(groupsWithoutAccount(mapping))].map((group) => vatAccountTexts.noAccount({ group }));
}

/** The only VAT group with an account, in words. Null if there are more, or if the mapping has an account for the rest. */
function onlyGroup({ vat, vat_groups: lines, vat_rules: rules }: Mapping): string | null {
  if (vat === same || rules.length > 0) return null;
  const entries = Object.entries(vat).flatMap(([name, entry]) =>
    typeof entry === 'string' ? [{ name, rate: rest }] : Object.keys(entry).map((rate) => ({ name, rate })),
  );
  if (entries.some(({ name, rate }) => name === rest && rate === rest)) return null;
  const ofLines = lines.flatMap(({ group = [rest], rate, account }) =>
    account === undefined ? [] : group.flatMap((name) => rate.map((at) => ({ name: name ?? '', rate: at ?? '' }))),
  );
  const [first, ...more] = [...entries, ...ofLines];
  if (first === undefined || more.length > 0) return null;
  const { name, rate } = first;
  const at = rate === rest ? null : rateText(new Money(rate));
  if (name === rest) return vatAccountTexts.anyGroup({ rate: at ?? '' });
  return at === null ? vatAccountTexts.group({ name }) : lookUpFindings.vatGroup({ name, rate: at });
}

/** The VAT groups of `vat_groups` with VAT and without an account. */
function groupsWithoutAccount(mapping: Mapping): string[] {
  const { vat, vat_groups: lines } = mapping;
  const named = vat === same ? [] : Object.keys(vat);
  // The account of the rows is not known yet; `same` stands for it.
  const isHeld = (name: string | null, rate: Money, date: string | null) =>
    isUnmapped(vatAccount(mapping, { name, rate, accounts: [same], date }));
  return lines.flatMap(({ group, rate: rates, from, to }) =>
    rates.flatMap((written) => {
      if (written === null || written === '0') return [];
      const [rate, date] = [new Money(written), from ?? to ?? null];
      if (group === undefined)
        return [null, ...named].every((name) => isHeld(name, rate, date))
          ? [vatAccountTexts.anyGroup({ rate: rateText(rate) })]
          : [];
      return group.filter((name) => isHeld(name, rate, date)).map((name) => vatGroupName({ name, rate }));
    }),
  );
}
