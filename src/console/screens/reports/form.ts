import { vatFormCountries } from '../../../config/vat-forms.ts';
import { splits } from '../../../ledger/account-days.ts';
import { type ReportKind, type ReportName, reports } from '../../../reports/index.ts';
import type { Period } from '../../../reports/report-sections.ts';
import { consoleTexts } from '../../../texts/console/console.ts';
import { reportFaults, reportFields } from '../../../texts/console/reports.ts';
import { columnTitles } from '../../../texts/reports/columns.ts';
import { html, type Node } from '../../html.ts';
import { choice as choiceField, field, problem } from '../../parts/fields.ts';
import type { Choice, Query } from './choice.ts';

/** The form with the fields of a report. A field without an entry has the value that the report takes by default. */
export function reportForm(name: ReportName, query: Query, choice: Choice, period: Period): Node {
  const kind: ReportKind = reports[name];
  const hidden = [
    ['section', choice.section],
    ['figure', choice.figure],
  ] as const;
  return html`${problem(choice.fault && reportFaults[choice.fault])}
  <form method="get" class="filters">
    ${hidden.map(([each, value]) => (value === null ? null : html`<input type="hidden" name=${each} value=${value} />`))}
    ${daysFields(kind, query, period)}
    ${name === 'account' ? field({ name: 'account', label: reportFields.account, value: choice.account ?? '', isRequired: true }) : null}
    ${kind.of === 'span' && !kind.isOfLines ? splitField(choice) : null}
    ${kind.of === 'span' ? recordedField(query) : null}
    ${name === 'vat' ? formField(choice) : null}
    ${field({ name: 'q', label: consoleTexts.search, type: 'search', value: choice.search })}
    <button>${consoleTexts.filter}</button>
  </form>`;
}

function daysFields({ of }: ReportKind, query: Query, { from, through }: Period): Node | null {
  const day = (name: string, label: string, value = query[name] ?? '') => field({ name, label, type: 'date', value });
  const month = (value: string) => field({ name: 'month', label: reportFields.month, type: 'month', value });
  if (of === 'start') return null;
  if (of === 'month') return month(query.month ?? (from ?? through).slice(0, 7));
  if (of === 'day') return day('as_of', reportFields.asOf, query.as_of ?? through);
  return html`${month(query.month ?? '')} ${day('from', reportFields.from)} ${day('to', reportFields.to)}
  ${day('as_of', reportFields.yearTo)}`;
}

function splitField({ split }: Choice): Node {
  const options = splits.map((value) => ({ value, text: columnTitles[value] }));
  return choiceField({
    ...{ name: 'by', label: reportFields.split, value: split ?? '' },
    options: [{ value: '', text: consoleTexts.no }, ...options],
  });
}

function recordedField(query: Query): Node {
  return field({
    name: 'recorded_by',
    label: reportFields.recordedBy,
    value: query.recorded_by ?? '',
    hint: reportFields.timeHint,
  });
}

function formField({ form }: Choice): Node {
  const options = vatFormCountries.map((value) => ({ value, text: value.toUpperCase() }));
  return choiceField({
    ...{ name: 'form', label: reportFields.form, value: form ?? '' },
    options: [{ value: '', text: consoleTexts.no }, ...options],
  });
}
