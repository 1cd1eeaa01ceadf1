import type { InstallationConfig } from '../../../config/load-config.ts';
import type { AuditedAction } from '../../../queries/audit.ts';
import { actionKindNames, auditStateNames as states, auditTexts as texts } from '../../../texts/console/audit.ts';
import { consoleTexts } from '../../../texts/console/console.ts';
import { columnTitles as columns } from '../../../texts/reports/columns.ts';
import { timeIn } from '../../../wording/words.ts';
import { html, local, type Node } from '../../html.ts';
import { choice, field } from '../../parts/fields.ts';
import { pageLinks } from '../../parts/pages.ts';
import { table } from '../../parts/table.ts';

interface Shown {
  installation: InstallationConfig;
  query: Readonly<Record<string, string>>;
  choices: { kinds: readonly string[]; people: readonly string[] };
  counts: readonly { kind: string; n: number }[];
  page: { rows: readonly AuditedAction[]; next: string | null };
}

/** The actions with their filter, their number by kind, and the links to other pages. */
export function actionsView({ installation, query, choices, counts, page }: Shown): Node {
  const at = timeIn(installation.timezone);
  const path = `/${installation.id}/audit`;
  const { after, csv, ...kept } = query;
  const all = { value: '', text: consoleTexts.all };
  const kinds = choices.kinds.map((value) => ({ value, text: kindName(value) }));
  const people = choices.people.map((value) => ({ value, text: value }));
  return html`<form method="get" class="filters">
      ${choice({ name: 'kind', label: texts.kind, value: query.kind ?? '', options: [all, ...kinds] })}
      ${choice({ name: 'person', label: texts.person, value: query.person ?? '', options: [all, ...people] })}
      ${field({ name: 'from', label: texts.from, type: 'date', value: query.from ?? '' })}
      ${field({ name: 'to', label: texts.to, type: 'date', value: query.to ?? '' })}
      <button>${consoleTexts.filter}</button>
    </form>
    ${table({
      columns: [{ title: texts.kind }, { title: columns.number, isNumber: true }],
      rows: counts.map(({ kind, n }) => [html`<a href=${local(path, { ...kept, kind })}>${kindName(kind)}</a>`, n]),
      total: [consoleTexts.total, counts.reduce((all, { n }) => all + n, 0)],
    })}
    ${table({
      columns: [
        { title: columns.link, isNumber: true },
        ...[texts.asked, texts.person, texts.kind, columns.reason, texts.state, texts.ended, texts.input].map(
          (title) => ({ title }),
        ),
      ],
      rows: page.rows.map((action) => [
        ...[action.seq, at(action.askedAt), action.person, kindName(action.kind)],
        action.reason ?? html`<span class="dim">${texts.erased}</span>`,
        states[action.state],
        action.endedAt && at(action.endedAt),
        html`<code>${clipped(action.input)}</code>`,
      ]),
    })}
    ${pageLinks(path, query, page.next)}`;
}

function kindName(kind: string): string {
  return Object.hasOwn(actionKindNames, kind) ? actionKindNames[kind as keyof typeof actionKindNames] : kind;
}

/** A request has the ids of all its documents. The file has the whole text. */
function clipped(text: string): string {
  return text.length <= 200 ? text : `${text.slice(0, 200)}…`;
}
