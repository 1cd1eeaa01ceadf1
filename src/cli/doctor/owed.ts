import type { InstallationConfig } from '../../config/load-config.ts';
import { owedAsRevenueText } from '../../mapping/owed.ts';
import { findOwedAsRevenue } from '../../queries/owed-as-revenue.ts';
import { sourceUsage } from '../../queries/source-usage.ts';
import type { App } from '../../runtime/app.ts';
import { doctorPracticeTexts as texts } from '../../texts/commands/doctor.ts';
import { count } from '../../wording/words.ts';
import type { Check } from './check.ts';

/** Checks whether rows with names of gift cards, vouchers or prepayments are posted as revenue. */
export async function checkOwed(app: App, installation: InstallationConfig): Promise<Check[]> {
  const { id, mapping } = installation;
  const owed = await findOwedAsRevenue(app, installation, await sourceUsage(app.db, installation), mapping);
  const check = (status: Check['status'], message: string, todo: string | null): Check => {
    return { installation: id, check: texts.owedCheck, status, message, todo };
  };
  if (owed.found.length > 0) {
    return owed.found.map((each) => {
      const rows = count(each.rows, 'row');
      const message = texts.owed({ rows, net: each.net.toFixed(), what: owedAsRevenueText(each) });
      return check('warn', message, texts.owedAsRevenue);
    });
  }
  if (owed.names_known) return [check('ok', 'none', null)];
  const { message, todo } = texts.accountNamesUnknown();
  return [check('warn', message, todo)];
}
