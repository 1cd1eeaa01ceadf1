import type { InstallationConfig } from '../../../config/load-config.ts';
import { currentLanguage } from '../../../languages/language.ts';
import type { RecordedClose } from '../../../ledger/close.ts';
import type { BooksHead } from '../../../ledger/head.ts';
import type { lastSeal } from '../../../ledger/seals.ts';
import type { FiledReturn } from '../../../ledger/vat-returns.ts';
import type { chainVerdict } from '../../../reconcile/verdict.ts';
import { closeTexts } from '../../../texts/commands/closing.ts';
import { signInNames, auditTexts as texts } from '../../../texts/console/audit.ts';
import { roleNames } from '../../../texts/console/console.ts';
import { columnTitles as columns } from '../../../texts/reports/columns.ts';
import { checksInWords, timeIn } from '../../../wording/words.ts';
import { type Content, html, local, type Node } from '../../html.ts';
import { facts } from '../../parts/facts.ts';
import { pageLinks } from '../../parts/pages.ts';
import { table } from '../../parts/table.ts';
import { ago } from '../../parts/times.ts';
import type { GrantedUser, RecordedSignIn } from '../../users/user-records.ts';
import { type AuditPart, auditParts } from './filter.ts';

interface Shown {
  installation: InstallationConfig;
  part: AuditPart;
  head: BooksHead;
  seal: Awaited<ReturnType<typeof lastSeal>>;
  chains: Awaited<ReturnType<typeof chainVerdict>>;
  now: Date;
}

/** What proves the books, above the chosen part. */
export function auditView(of: Shown, content: Node): Node {
  const { installation, part, head } = of;
  const path = `/${installation.id}/audit`;
  const fields: [string, Content][] = [
    [texts.head, html`<code>${texts.headText(head)}</code>`],
    [texts.summaries, html`<code>${texts.summariesText({ seq: head.summaries, hash: head.summaryHash })}</code>`],
    [texts.verified, verifiedText(of)],
    [texts.seal, sealText(of)],
  ];
  return html`${facts(fields)}
    <p class="dim">${texts.verifiedNote}</p>
    <nav aria-label=${texts.parts}>
      ${auditParts.map(
        (each) =>
          html`<a href=${local(path, { part: each })} aria-current=${each === part ? 'page' : undefined}>${texts.partNames[each]}</a>`,
      )}
    </nav>
    <section>${content}</section>`;
}

/** Each view would read all links, so the screen shows the stored result of the last check, with its age. */
function verifiedText({ chains, now, installation }: Shown): Content {
  if (chains === null) return html`<span class="dim">${texts.notChecked}</span>`;
  const { checkedAt, failing } = chains;
  const at = `${timeIn(installation.timezone)(checkedAt)}, ${ago(checkedAt, now, currentLanguage())}`;
  if (failing.length === 0) return texts.noFailure({ at });
  return html`<span class="needed">${texts.failure({ failing: checksInWords(failing), at })}</span>`;
}

function sealText({ seal, installation }: Shown): Content {
  if (seal === null) return html`<span class="dim">${texts.noSeal}</span>`;
  return texts.sealText({ n: seal.n, seq: seal.seq, at: timeIn(installation.timezone)(seal.sealed_at) });
}

/** The closes and reopenings, the newest first, each with its stored checklist. */
export function closesView({ id, timezone }: InstallationConfig, closes: readonly RecordedClose[]): Node {
  const at = timeIn(timezone);
  return html`${table({
    columns: [
      { title: columns.link, isNumber: true },
      ...[columns.time, columns.action, columns.by, texts.second, columns.reason, texts.checklist].map((title) => ({
        title,
      })),
    ],
    rows: closes
      .toReversed()
      .map((close) => [
        ...[close.seq, at(close.at)],
        close.kind === 'close' ? closeTexts.closedThrough(close) : closeTexts.reopened(close),
        ...[close.by ?? closeTexts.noName, close.second ?? '', close.reason ?? ''],
        close.checklist == null ? '' : checklistView(close.checklist),
      ]),
  })}
  ${pageLinks(`/${id}/audit`, { part: 'closes' }, null)}`;
}

/** A checklist as it was stored. It can be long, so it opens on demand. */
function checklistView(checklist: unknown): Node {
  return html`<details><summary>${texts.stored}</summary><pre>${JSON.stringify(checklist, null, 1)}</pre></details>`;
}

export function returnsView({ id, timezone }: InstallationConfig, returns: readonly FiledReturn[]): Node {
  const at = timeIn(timezone);
  const titles = [columns.period, columns.version, columns.from, columns.to, texts.filed, columns.by, columns.reason];
  return html`${table({
    columns: titles.map((title) => ({ title })),
    rows: returns
      .toReversed()
      .map(({ period, version, from, through, filedAt, by, reason }) => [
        html`<a href=${local(`/${id}/reports/vat`, { month: through.slice(0, 7) })}>${period}</a>`,
        ...[version, from, through, at(filedAt), by, reason],
      ]),
  })}
  ${pageLinks(`/${id}/audit`, { part: 'returns' }, null)}`;
}

export function rightsView({ id }: InstallationConfig, users: readonly GrantedUser[]): Node {
  return html`${table({
    columns: [texts.person, texts.role, texts.until, texts.state].map((title) => ({ title })),
    rows: users.map(({ name, role, until, isDisabled }) => [
      ...[name, roleNames[role], until],
      isDisabled ? texts.disabled : '',
    ]),
  })}
  ${pageLinks(`/${id}/audit`, { part: 'rights' }, null)}`;
}

export function signInsView(
  { id, timezone }: InstallationConfig,
  query: Readonly<Record<string, string>>,
  { rows, next }: { rows: readonly RecordedSignIn[]; next: string | null },
): Node {
  const at = timeIn(timezone);
  return html`${table({
    columns: [columns.time, texts.person, texts.outcome, texts.address].map((title) => ({ title })),
    rows: rows.map((each) => [at(each.at), each.name, signInNames[each.outcome], each.address]),
  })}
  ${pageLinks(`/${id}/audit`, query, next)}`;
}
