import { visible } from '../../../domain/text.ts';
import type { Candidate } from '../../../queries/find-document.ts';
import type { InstallationId } from '../../../terms.ts';
import { consoleTexts, screenNames } from '../../../texts/console/console.ts';
import { documentsTexts as texts } from '../../../texts/console/documents.ts';
import { columnTitles as heads } from '../../../texts/reports/columns.ts';
import { codeWord, inWords } from '../../../wording/words.ts';
import { html, local } from '../../html.ts';
import { table } from '../../parts/table.ts';
import type { PageContent } from '../../route.ts';
import { documentPath } from './links.ts';

/** The search for a document, and the documents that the text names. */
export function searchPage(installation: InstallationId, text: string, found: readonly Candidate[]): PageContent {
  return {
    title: () => screenNames.documents,
    body: () =>
      html`<form method="get" action=${local(`/${installation}/documents`)} class="filters" role="search">
          <label class="field">
            <span>${texts.searched}</span>
            <input type="search" name="q" value=${text} maxlength="100" required size="40" />
          </label>
          <button>${consoleTexts.search}</button>
        </form>
        ${text === '' ? html`<p class="dim">${texts.hint}</p>` : results(installation, text, found)}`,
  };
}

function results(installation: InstallationId, text: string, found: readonly Candidate[]) {
  const [none, several] = [
    texts.none({ text: visible(text) }),
    texts.several({ text: visible(text), count: found.length }),
  ];
  return html`<p>${found.length === 0 ? none : several}</p>
  ${
    found.length === 0
      ? null
      : table({
          columns: [heads.document, heads.number, heads.date, heads.state].map((title) => ({ title })),
          rows: found.map((each) => [
            html`<a href=${documentPath(installation, each)}>${codeWord(each.kind)} ${each.id}</a>`,
            ...[visible(each.number ?? ''), each.documentDate, inWords(each.state)],
          ]),
        })
  }`;
}
