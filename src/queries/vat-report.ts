import type { InstallationConfig } from '../config/load-config.ts';
import type { Connection } from '../db/rows.ts';
import { localTimeOf } from '../domain/dates.ts';
import { labelOf } from '../domain/installation-name.ts';
import { formatMoney, zero } from '../domain/money.ts';
import type { VatForm } from '../mapping/vat-form.ts';
import { reports } from '../reports/index.ts';
import type { InstallationReport } from '../reports/installation-report.ts';
import { unusedWithoutVat } from '../reports/prepayments.ts';
import type { Section } from '../reports/report-sections.ts';
import { vatOfClaims } from '../reports/vat-of-claims.ts';
import { formSections, returnSections } from '../reports/vat-return-sections.ts';
import { reportTexts, vatReportTexts } from '../texts/reports/reports.ts';
import { prepaymentVatDifferences } from './prepayment-vat.ts';
import { outsideOf } from './report.ts';
import { type PreparedReturn, prepareReturn, type ReturnChoice, vatPeriodOfMonth } from './vat-returns.ts';

export interface VatChoice {
  /** `YYYY-MM` */
  month: string;
  choice: ReturnChoice;
  /** The form whose boxes are shown; null for none. */
  form: VatForm | null;
  /** Whether the report shows what would be filed. */
  isPreview: boolean;
}

export interface VatReport {
  report: InstallationReport;
  prepared: PreparedReturn;
}

/**
 * The VAT of the VAT period that contains a month, with the versions of its return. Call it in a transaction with one snapshot,
 * so that its figures agree.
 */
export async function vatReport(
  db: Connection,
  of: InstallationConfig,
  { month, choice, form, isPreview }: VatChoice,
): Promise<VatReport> {
  const { name, ...days } = await vatPeriodOfMonth(db, of, month);
  const prepared = await prepareReturn(db, of, { name, ...days }, choice);
  const sections = isPreview
    ? returnSections(prepared.period, prepared.view, { toFile: prepared.toFile, form })
    : [...boxes(form, prepared), ...(await reports.vat.make(db, of, days))];
  const outside = await outsideOf(db, of, reports.vat, days);
  const differences = await prepaymentVatDifferences(db, of);
  const unused = await unusedWithoutVat(db, of, days.through);
  const claimed = of.mapping.policies.vat_due === null ? zero : await vatOfClaims(db, of.id, days);
  const { period, versions, version, toFile, shown, obstacle, isClosed, view } = prepared;
  const amount = formatMoney(unused.amount, of.decimals);
  const prepaymentVat = of.mapping.policies.prepayment_vat;
  const report: InstallationReport = {
    ...{ report: 'vat', installation: of, period: days, of: 'month', recordedBy: null, outside },
    sections,
    headed: [
      ...versions.map((each) => () => vatReportTexts.filed({ ...each, at: localTimeOf(each.filedAt, of.timezone) })),
      ...(isPreview ? [() => vatReportTexts.toFile({ period: period.name, version })] : []),
    ],
    notes: [
      ...(prepaymentVat === 'listed' ? [] : [reportTexts.prepaymentVatLines]),
      ...(claimed.isZero()
        ? []
        : [vatReportTexts.ofClaims({ amount: formatMoney(claimed, of.decimals), currency: of.currency })]),
      ...(differences === null || differences.length === 0
        ? []
        : [
            [
              vatReportTexts.prepaymentVatDiffers({ installation: labelOf(of) }),
              ...differences.map(({ document, message }) => `  ${document}: ${message}`),
            ].join('\n'),
          ]),
      ...(unused.prepayments === 0
        ? []
        : [
            vatReportTexts.unusedPrepayments({
              ...{ count: unused.prepayments, amount, currency: of.currency, through: days.through },
              postedFrom: prepaymentVat === 'listed' ? null : prepaymentVat.from,
            }),
          ]),
      ...(versions.length > 0 && view.since.length > 0 && !isPreview
        ? [vatReportTexts.changedSince({ period: period.name })]
        : []),
      ...(isPreview ? [obstacle === null ? vatReportTexts.shown({ hash: shown }) : obstacle.message] : []),
    ],
    more: {
      vat_return: {
        ...{ period: period.name, is_closed: isClosed },
        filed: versions.map(({ version: n, filedAt, by: who, reason, shown: hash }) => ({
          ...{ version: n, filed_at: filedAt, by: who, reason, shown: hash },
        })),
        to_file: isPreview
          ? {
              ...{ version, shown, lines: toFile.length },
              late: [...new Set(toFile.flatMap(({ entry, isLate }) => (isLate ? [entry] : [])))],
              obstacle: obstacle && { code: obstacle.code, message: obstacle.message, todo: obstacle.todo },
            }
          : null,
      },
      unused_prepayments_without_vat: { prepayments: unused.prepayments, amount },
      ...(differences === null ? {} : { prepayment_vat_differences: differences }),
    },
  };
  return { report, prepared };
}

/** The boxes of a filed return; otherwise of the return as it would be filed now. */
function boxes(form: VatForm | null, { versions, view, toFile }: PreparedReturn): Section[] {
  if (form === null) return [];
  return formSections(form, versions.length > 0 ? view.filed : toFile);
}
