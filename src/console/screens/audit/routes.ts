import { recordedCloses } from '../../../ledger/close.ts';
import { booksHead } from '../../../ledger/head.ts';
import { lastSeal } from '../../../ledger/seals.ts';
import { filedReturns } from '../../../ledger/vat-returns.ts';
import { auditChoices, countActions, listActions } from '../../../queries/audit.ts';
import { chainVerdict } from '../../../reconcile/verdict.ts';
import { screenNames } from '../../../texts/console/console.ts';
import type { Node } from '../../html.ts';
import { csvFile, fileRows, numberAfter, pageOf, pageRows } from '../../parts/pages.ts';
import type { Answer, InstallationRequest, Route } from '../../route.ts';
import { signInsOf, usersOf } from '../../users/user-records.ts';
import { actionsView } from './actions-view.ts';
import { type AuditPart, readFilter, readPart } from './filter.ts';
import { auditView, closesView, returnsView, rightsView, signInsView } from './view.ts';

/** Can I prove it? */
export const auditRoutes: readonly Route[] = [
  {
    method: 'GET',
    path: '/:installation/audit',
    access: { who: 'read_books', in: 'installation' },
    audit: 'nothing',
    answer: show,
  },
];

async function show(request: InstallationRequest): Promise<Answer> {
  const { db, installation, query, now } = request;
  const { id } = installation;
  const part = readPart(query);
  if (query.csv !== undefined) return csvOf(request, part);
  const content = await contentOf(request, part);
  const shown = {
    ...{ installation, part, now },
    head: await booksHead(db, id),
    seal: await lastSeal(db, id),
    chains: await chainVerdict(db, id),
  };
  return { page: { title: () => screenNames.audit, body: () => auditView(shown, content()) } };
}

/** The chosen part of the screen. It is rendered later, in the language of the user. */
async function contentOf({ db, installation, query }: InstallationRequest, part: AuditPart): Promise<() => Node> {
  const { id } = installation;
  const after = numberAfter(query);
  const page = { after, limit: pageRows + 1 };
  if (part === 'closes') {
    const closes = await recordedCloses(db, id);
    return () => closesView(installation, closes);
  }
  if (part === 'returns') {
    const returns = await filedReturns(db, id);
    return () => returnsView(installation, returns);
  }
  if (part === 'rights') {
    const users = await usersOf(db, id);
    return () => rightsView(installation, users);
  }
  if (part === 'sign_ins') {
    const signIns = pageOf(await signInsOf(db, id, page), (each) => String(each.id));
    return () => signInsView(installation, query, signIns);
  }
  const filter = readFilter(query, installation.timezone);
  const shown = {
    ...{ installation, query },
    choices: await auditChoices(db, id),
    counts: await countActions(db, id, filter),
    page: pageOf(await listActions(db, id, filter, page), ({ seq }) => String(seq)),
  };
  return () => actionsView(shown);
}

async function csvOf({ db, installation, query }: InstallationRequest, part: AuditPart): Promise<Answer> {
  const { id, timezone } = installation;
  const name = `audit-${part}-${id}.csv`;
  const all = { after: null, limit: fileRows };
  if (part === 'closes') {
    const closes = await recordedCloses(db, id);
    const cells = closes.map((each) => [
      ...[each.seq, each.kind, each.through, each.at, each.by ?? null, each.second ?? null, each.reason ?? null],
    ]);
    return csvFile(name, ['seq', 'kind', 'closed_through', 'at', 'by', 'second', 'reason'], cells);
  }
  if (part === 'returns') {
    const returns = await filedReturns(db, id);
    const cells = returns.map((each) => [
      ...[each.period, each.version, each.from, each.through, each.filedAt, each.by, each.reason],
    ]);
    return csvFile(name, ['period', 'version', 'from', 'through', 'filed_at', 'by', 'reason'], cells);
  }
  if (part === 'rights') {
    const cells = (await usersOf(db, id)).map((each) => [each.name, each.role, each.until, each.isDisabled]);
    return csvFile(name, ['name', 'role', 'until', 'disabled'], cells);
  }
  if (part === 'sign_ins') {
    const cells = (await signInsOf(db, id, all)).map((each) => [each.at, each.name, each.outcome, each.address]);
    return csvFile(name, ['at', 'name', 'outcome', 'address'], cells);
  }
  const actions = await listActions(db, id, readFilter(query, timezone), all);
  const cells = actions.map((each) => [
    ...[each.seq, each.id, each.kind, each.person, each.reason, each.askedAt, each.endedAt, each.state, each.input],
  ]);
  return csvFile(name, ['seq', 'id', 'kind', 'person', 'reason', 'asked_at', 'ended_at', 'state', 'input'], cells);
}
