import { instant, integer, json, nullable, text } from '../db/columns.ts';
import { type Connection, maybeRow, rows } from '../db/rows.ts';
import type { InstallationId } from '../terms.ts';
import { actionFindings, actionNames } from '../texts/findings/actions.ts';
import { type ActionLink, chainStart, linkHash, reasonHash } from './record.ts';

/** The first link of the chain that differs from what was recorded. */
export interface BrokenAction {
  /** The place in the chain. Null if the end of the chain or a reason is missing. */
  seq: number | null;
  /** Names the action, such as `action 12`. */
  entryId: string;
  message: string;
}

type Stored = ActionLink & { previousHash: string; hash: string };

/**
 * Checks the chain of an installation's actions and outcomes, or that of the whole database (null). Returns the first broken
 * link, or null. A missing reason is allowed only if an erasure names its action.
 */
export async function brokenAction(db: Connection, installation: InstallationId | null): Promise<BrokenAction | null> {
  const links = await linksOf(db, installation);
  const reasons = await reasonsOf(db, installation);
  const head = { seq: 0, hash: chainStart };
  const erased = new Set<number>();
  const withoutReason: number[] = [];
  for (const link of links) {
    const entryId =
      'result' in link ? actionNames.outcome({ id: link.actionId }) : actionNames.action({ id: link.actionId });
    const broken = (message: string) => ({ seq: link.seq, entryId, message });
    if (link.seq !== head.seq + 1)
      return broken(actionFindings.missingLink({ expected: head.seq + 1, found: link.seq }));
    if (link.previousHash !== head.hash) return broken(actionFindings.wrongPrevious);
    if (link.hash !== linkHash(head.hash, installation, link)) return broken(actionFindings.wrongContent);
    Object.assign(head, { seq: link.seq, hash: link.hash });
    if ('result' in link) {
      for (const id of erasedBy(link.result)) erased.add(id);
      continue;
    }
    const given = reasons.get(link.actionId);
    if (given === undefined) withoutReason.push(link.actionId);
    else if (reasonHash(given.salt, given.reason) !== link.reasonHash) return broken(actionFindings.wrongReason);
  }
  const recorded = await maybeRow(
    db,
    { seq: integer, hash: text },
    'select seq, hash from action_head where installation is not distinct from ?',
    [installation],
  );
  if ((recorded?.seq ?? 0) !== head.seq || (recorded?.hash ?? chainStart) !== head.hash) {
    const message = actionFindings.wrongEnd({ end: head.seq, recorded: recorded?.seq ?? null });
    return { seq: null, entryId: actionNames.last, message };
  }
  const lost = withoutReason.find((id) => !erased.has(id));
  if (lost === undefined) return null;
  return { seq: null, entryId: actionNames.action({ id: lost }), message: actionFindings.missingReason };
}

/** The ids of the actions whose reasons an erasure has deleted, from the erasure's result. */
function erasedBy(result: string): number[] {
  const { reasons }: { reasons?: number[] } = JSON.parse(result);
  return Array.isArray(reasons) ? reasons : [];
}

async function linksOf(db: Connection, installation: InstallationId | null): Promise<Stored[]> {
  const link = { seq: integer, actionId: integer, previousHash: text, hash: text };
  const actions = await rows(
    db,
    {
      ...{ ...link, kind: text, subject: text, input: json },
      ...{ shownHash: nullable(text), reasonHash: text, askedAt: instant },
    },
    `select seq, id as "actionId", previous_hash as "previousHash", hash, kind, subject, input, shown_hash as "shownHash",
       reason_hash as "reasonHash", asked_at as "askedAt"
     from action where installation is not distinct from ?`,
    [installation],
  );
  const outcomes = await rows(
    db,
    { ...link, result: json, endedAt: instant },
    `select seq, action_id as "actionId", previous_hash as "previousHash", hash, result, ended_at as "endedAt"
     from action_outcome where installation is not distinct from ?`,
    [installation],
  );
  return [...actions, ...outcomes].sort((a, b) => a.seq - b.seq);
}

async function reasonsOf(db: Connection, installation: InstallationId | null) {
  const found = await rows(
    db,
    { id: integer, salt: text, reason: text },
    `select r.action_id as id, r.salt, r.reason from action_reason r join action a on a.id = r.action_id
     where a.installation is not distinct from ?`,
    [installation],
  );
  return new Map(found.map(({ id, ...reason }) => [id, reason]));
}
