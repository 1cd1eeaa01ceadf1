// practice-api: Accounting report. The specification does not show its fields; the sandbox chose these.
import { z } from 'zod';
import { crudRoutes } from '../http/crud.ts';
import { amount, answer, day, id, time, url } from '../http/fields.ts';
import type { AccountingReport } from '../records.ts';

export const accountingReportRoutes = crudRoutes<AccountingReport, z.ZodObject>({
  name: 'accountingreport',
  noun: 'accounting report',
  section: 'Accounting reports, account numbers, alternative payers, alternative pricings',
  permission: 'Financial: End of day and accounting reports',
  table: ({ clinic }) => clinic.accountingReports,
  record: answer({
    ...{ id: id(), url: url(), created: time(), modified: time(), department: url(), date: day() },
    ...{ invoices: z.int(), total: amount(), total_vat: amount(), total_with_vat: amount() },
  }),
  wire: ({ wire }, report) => wire.accountingReport(report),
});
