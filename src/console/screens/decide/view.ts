import { decisionsFor } from '../../../bookkeeping/decide-late.ts';
import type { InstallationConfig } from '../../../config/load-config.ts';
import { formatExact, type Money } from '../../../domain/money.ts';
import { visibleIn } from '../../../domain/text.ts';
import { shown } from '../../../languages/language.ts';
import type { RemarkCount } from '../../../queries/remarks.ts';
import type { OpenItem, OpenSum, Options } from '../../../queries/to-decide.ts';
import { labels } from '../../../texts/commands/labels.ts';
import { lateTexts, weighedTexts } from '../../../texts/commands/results.ts';
import { consoleTexts, screenNames } from '../../../texts/console/console.ts';
import { decideFields, decideTexts as texts } from '../../../texts/console/decide.ts';
import { columnTitles as heads } from '../../../texts/reports/columns.ts';
import { codeSentence, codeWord, inWords, timeIn } from '../../../wording/words.ts';
import { type Content, html, local, type Node } from '../../html.ts';
import { documentLink } from '../../parts/document-link.ts';
import { lines } from '../../parts/facts.ts';
import { choice, field, problem } from '../../parts/fields.ts';
import { nextStep } from '../../parts/next-step.ts';
import { pageLinks } from '../../parts/pages.ts';
import { table } from '../../parts/table.ts';
import type { PageContent } from '../../route.ts';
import type { Rights } from '../../users/rights.ts';
import { deliveryForms } from '../actions/deliveries.ts';
import { type fields, itemParameter } from './filter.ts';

interface Shown {
  installation: InstallationConfig;
  query: Readonly<Record<string, string>>;
  /** Fields of the filter that cannot be read. */
  unread: readonly (typeof fields)[number][];
  /** The sums of all items that meet the filter. */
  sums: readonly OpenSum[];
  remarks: readonly RemarkCount[];
  rows: readonly OpenItem[];
  next: string | null;
  /** What each decision would do, by id. Null if the page has too many documents. */
  options: ReadonlyMap<string, Options> | null;
  rights: Rights;
}

export function decidePage(found: Shown): PageContent {
  const { installation, query, unread, sums, remarks, next } = found;
  const path = `/${installation.id}/decide`;
  return {
    title: () => screenNames.decide,
    body: () => {
      const names = unread.map((name) => decideFields[name]).join(', ');
      return html`${problem(unread.length === 0 ? null : texts.unread({ fields: names }))}
        ${filterForm(path, query)} ${sumTable(path, sums, found)}
        ${chosenForm(found, itemTable(found))} ${pageLinks(path, query, next)} ${remarkTable(path, remarks, found)}`;
    },
  };
}

function filterForm(path: string, query: Shown['query']): Node {
  const input = (name: keyof typeof decideFields, type: 'text' | 'search' | 'month' = 'text') =>
    field({ name, label: decideFields[name], type, value: query[name] ?? '' });
  return html`<form method="get" action=${local(path)} class="filters">
    ${input('q', 'search')} ${input('code')} ${input('month', 'month')} ${input('account')} ${input('department')}
    ${input('least')} ${input('most')}
    ${choice({
      ...{ name: 'decided', label: decideFields.decided, value: query.decided ?? '' },
      options: [
        { value: '', text: consoleTexts.all },
        { value: 'no', text: consoleTexts.no },
        { value: 'yes', text: consoleTexts.yes },
      ],
    })}
    <button>${consoleTexts.filter}</button>
  </form>`;
}

function sumTable(path: string, sums: readonly OpenSum[], { rights, installation: { id, decimals } }: Shown): Node {
  const text = (amount: Money | null) => (amount === null ? '' : formatExact(amount, decimals));
  const number = (title: string) => ({ title, isNumber: true });
  const codes = sums.map(({ code, kind, count, amount, vat, todos }) => [
    html`<a href=${local(path, { code })}>${codeSentence(code)}</a> <span class="id">${code}</span>`,
    ...[codeWord(kind), count, text(amount), text(vat)],
    lines(visibleIn(todos).map((todo) => nextStep(rights, id, todo))),
  ]);
  return table({
    columns: [
      { title: heads.code },
      { title: heads.kind },
      number(texts.count),
      number(heads.amount),
      number(heads.vat),
      { title: texts.todo },
    ],
    rows: codes,
    total: [consoleTexts.total, '', sums.reduce((all, { count }) => all + count, 0), '', '', ''],
    caption: texts.byCode,
    empty: texts.none,
  });
}

function remarkTable(
  path: string,
  remarks: readonly RemarkCount[],
  { rights, installation: { id } }: Shown,
): Node | null {
  if (remarks.length === 0) return null;
  return table({
    caption: texts.remarks,
    columns: [
      ...[{ title: heads.code }, { title: texts.count, isNumber: true }],
      ...[{ title: heads.amount, isNumber: true }, { title: texts.todo }],
    ],
    rows: remarks.map(({ code, count, amount, todo }) => [
      html`<a href=${local(path, { code })}>${codeSentence(code)}</a> <span class="id">${code}</span>`,
      ...[count, amount ?? '', nextStep(rights, id, todo)],
    ]),
  });
}

/** The list as a form: its boxes choose documents, and its buttons lead to the effect of what can be done about them. */
function chosenForm({ installation, query, sums, rows, rights }: Shown, list: Node | null): Node | null {
  const names = rows.flatMap(({ id }) => nameOf(id) ?? []);
  if (!rights.may('decide', installation.id) || list === null || names.length === 0) return list;
  const [late, retry] = [`/${installation.id}/actions/late`, `/${installation.id}/actions/retry`];
  const all = sums.reduce((count, each) => count + each.count, 0);
  return html`<form method="get" action=${local(late)}>
    ${list}
    <p>
      <button>${texts.decideChosen}</button>
      <button formaction=${local(retry)}>${texts.retryChosen}</button>
    </p>
    <p class="pages">
      ${canFilterLate(query) ? html`<a href=${local(late, query)}>${texts.decideAll}</a>` : null}
      ${Object.keys(query).length === 0 ? null : html`<a href=${local(retry, query)}>${texts.retryAll({ all })}</a>`}
    </p>
  </form>`;
}

/** Whether the form for decisions has the same filter. Its documents are undecided. */
function canFilterLate({ code = '', q = '', decided = '', [itemParameter]: item }: Shown['query']): boolean {
  return Object.hasOwn(decisionsFor, code) && q === '' && decided !== 'yes' && item === undefined;
}

/** The name of a document in a form, such as `invoice/1`. Null for what is no document, such as an entry that the ERP refused. */
function nameOf(id: string): string | null {
  return /^\d+\/((invoice|payment|prepayment)\/[1-9]\d{0,14})$/.exec(id)?.[1] ?? null;
}

/** Whether the item is an entry or a daily summary that the ERP refused. */
function isUnit({ id }: OpenItem): boolean {
  return id.split('/').length > 3;
}

function box({ id, document }: OpenItem): Node | null {
  const name = nameOf(id);
  return name === null ? null : html`<input type="checkbox" name=${name} value="1" aria-label=${shown(document)} />`;
}

function itemTable({ installation, rows, options, rights }: Shown): Node | null {
  if (rows.length === 0) return null;
  const decides = rights.may('decide', installation.id);
  const at = timeIn(installation.timezone);
  return table({
    caption: texts.documents,
    columns: [
      ...[{ title: heads.document }, { title: heads.date, isWhole: true }, { title: texts.age, isNumber: true }],
      ...[{ title: heads.code }, { title: heads.department }, { title: heads.customer }],
      ...[{ title: heads.amount, isNumber: true }, { title: heads.vat, isNumber: true }, { title: texts.reason }],
    ],
    rows: rows.map((item) => {
      const { id, document, number, date, ageDays, code, department, client, amount, vat, isPosted } = visibleIn(item);
      return [
        html`${decides ? box(item) : null} ${documentLink(installation.id, document)} ${number ?? ''}`,
        ...[date ?? labels.noDate, ageDays, code, department, client],
        amount !== null && isPosted && item.late !== null ? lateTexts.differsBy({ amount }) : (amount ?? ''),
        vat ?? '',
        html`${advice(item, options === null ? null : (options.get(id) ?? []), at, installation)}
          ${isUnit(item) ? deliveryForms.retry_delivery.link(rights, installation.id, { units: id }) : null}`,
      ];
    }),
  });
}

/** The problem of a document, the recorded decision, and the effect of each possible decision. */
function advice(
  item: OpenItem,
  options: Options | null,
  at: ReturnType<typeof timeIn>,
  installation: InstallationConfig,
): Node {
  const { message, decided } = visibleIn(item);
  const taken =
    decided &&
    lateTexts.decidedAs({
      ...{ decision: inWords(decided.decision), by: decided.by, reason: decided.reason },
      at: at(decided.at),
    });
  return html`${shown(message)}
  ${taken === null ? null : html`<p>${taken}</p>`}
  ${
    options === null
      ? effectLink(item, installation)
      : options.length === 0
        ? null
        : html`<details open>
          <summary>${texts.options}</summary>
          <dl>
            ${options.map(({ decision, weighed }) => html`<dt>${inWords(decision)}</dt><dd>${effects(decision, weighed, installation)}</dd>`)}
          </dl>
        </details>`
  }`;
}

function effectLink({ id, late }: OpenItem, installation: InstallationConfig): Node | null {
  if (late === null) return null;
  return html`<p><a href=${local(`/${installation.id}/decide`, { [itemParameter]: id })}>${texts.options}</a></p>`;
}

function effects(
  decision: Options[number]['decision'],
  weighed: Options[number]['weighed'],
  { decimals }: InstallationConfig,
): Content {
  if (weighed === null) return texts.changed;
  const { day } = weighed;
  return html`${lateTexts[decision]}; ${day === null ? texts.keptOut : weighedTexts.postedOn({ day })}
  ${lines(
    weighed.effects.map(({ account, isVat, vatPeriod, isLate, amount }) =>
      [
        `${account}${isVat ? labels.vatAccount : ''}`,
        formatExact(amount, decimals),
        `${heads.period} ${vatPeriod}${isLate ? labels.late : ''}`,
      ].join('  '),
    ),
  )}`;
}

/** The columns of the file. */
export const csvHeading = [
  ...['id', 'document', 'number', 'date', 'age_days', 'code', 'department', 'client', 'amount', 'vat'],
  ...['since', 'message', 'todo', 'decided', 'decided_by'],
];

export function csvCells(item: OpenItem): (string | number | Date | null)[] {
  const { id, document, number, date, ageDays, code, department, client, amount, vat, since, decided } = item;
  return [
    ...[id, document, number, date, ageDays, code, department, client, amount, vat, since],
    ...[item.message, item.todo, decided?.decision ?? null, decided?.by ?? null],
  ];
}
