import { z } from 'zod';
import { instant, integer, nullable, oneOf, storedJson, text } from '../db/columns.ts';
import { resultPages } from '../db/result-pages.ts';
import type { Connection } from '../db/rows.ts';
import { localTimeOf } from '../domain/dates.ts';
import { documentKinds } from '../terms.ts';
import { decidedTexts } from '../texts/reports/decisions.ts';
import { sectionTitles } from '../texts/reports/reports.ts';
import { columnsOf, type Item, type Listing, type ReportInput, type SectionShape } from './report-sections.ts';

const shape: SectionShape = {
  ...{ name: 'decisions', title: sectionTitles.decisions, keys: [], amounts: [] },
  facts: columnsOf('time', 'action', 'decision', 'by', 'reason', 'request'),
};

const request = storedJson('action.input', z.record(z.string(), z.unknown()));

/**
 * The decisions of people about the books from one instant to another (both included), in order, with a line for each
 * document. Pauses of windows and deliveries, and other actions of operation, are left out.
 */
export function decisions(db: Connection, input: ReportInput, times: { from: Date; to: Date }): Listing {
  return { shape, items: decidedItems(db, input, times), hasTotal: false };
}

async function* decidedItems(
  db: Connection,
  { id, timezone }: ReportInput,
  { from, to }: { from: Date; to: Date },
): AsyncGenerator<Item> {
  const found = resultPages(
    db,
    {
      ...{ time: instant, kind: text, by: text, reason: text, input: request },
      ...{ of: nullable(oneOf(documentKinds)), document: nullable(integer), decision: nullable(text) },
    },
    `select a.acted_at as time, a.kind, a.acted_by as by, a.reason, a.input, l.kind as of, l.document_id as document,
       l.decision
     from action_done a left join late_decision l on l.action_id = a.id
     where a.installation = ? and a.acted_at >= ? and a.acted_at <= ? and a.kind = any(?) order by a.id, l.id`,
    [id, from, to, Object.keys(decidedTexts)],
  );
  for await (const page of found) {
    for (const { time, kind, by, reason, input, of, document, decision } of page) {
      yield {
        ...{ keys: {}, amounts: {}, document: of === null ? '' : `${of} ${document}` },
        facts: {
          ...{ time: localTimeOf(time, timezone), action: decidedTexts[kind as keyof typeof decidedTexts], decision },
          // The documents of a decision have a line each.
          ...{ by, reason, request: of === null ? requestText(input) : null },
        },
      };
    }
  }
}

/** The fields of a request, such as `through: 2026-01-31`. Empty ones and the id of the form are left out. */
function requestText({ form: _, ...input }: Record<string, unknown>): string {
  return Object.entries(input)
    .filter(([, value]) => value !== null)
    .map(([name, value]) => `${name}: ${typeof value === 'string' ? value : JSON.stringify(value)}`)
    .join('; ');
}
