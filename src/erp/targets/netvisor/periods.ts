import type { ErpPeriods } from '../../port.ts';
import { elementIn, elementsIn, textIn, textOrNone, type XmlElement } from '../api/xml.ts';
import { dateIn } from './form.ts';

const locks = [
  ['accountingperiodlockdate', 'general'],
  ['vatperiodlockdate', 'vat'],
  ['purchaselockdate', 'purchase'],
] as const;

/** The accounting periods, and the days up to which they, VAT and purchases are locked. Throws FormError. */
export function periodsIn(root: XmlElement): ErpPeriods {
  const list = elementIn(root, 'accountingperiodlist');
  const information = elementIn(list, 'periodlockinformation');
  // The documentation and recorded answers have the periods in different places.
  const periods = [...elementsIn(list, 'period'), ...elementsIn(information, 'period')];
  return {
    periods: periods.map((period) => ({
      from: dateIn(textIn(period, 'begindate')),
      through: dateIn(textIn(period, 'enddate')),
      ...{ isOpen: true, kind: 'general' },
    })),
    lockedThrough: locks.flatMap(([name, kind]) => {
      const text = textOrNone(information, name);
      return text === '' ? [] : [{ kind, date: dateIn(text) }];
    }),
  };
}
