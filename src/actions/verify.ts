import { instant, integer, json, nullable, text } from '../db/columns.ts';
import { type Connection, maybeRow, rows } from '../db/rows.ts';
import type { InstallationId } from '../terms.ts';
import { type ActionLink, chainStart, linkHash, reasonHash } from './record.ts';

/** The first link that is not as it was written. */
export interface BrokenAction {
  /** Null where the chain's end, or a reason, is missing. */
  seq: number | null;
  /** Which action, in words. */
  entryId: string;
  message: string;
}

type Stored = ActionLink & { previousHash: string; hash: string };

/**
 * Walks the chain of an installation's actions and outcomes, or of those of the whole database (null), up to the first link that is not
 * as it was written. A reason is as it was given, or an erasure names it.
 */
export async function brokenAction(db: Connection, installation: InstallationId | null): Promise<BrokenAction | null> {
  const links = await linksOf(db, installation);
  const reasons = await reasonsOf(db, installation);
  const head = { seq: 0, hash: chainStart };
  const erased = new Set<number>();
  const withoutReason: number[] = [];
  for (const link of links) {
    const entryId = 'result' in link ? `the outcome of action ${link.actionId}` : `action ${link.actionId}`;
    const broken = (message: string) => ({ seq: link.seq, entryId, message });
    if (link.seq !== head.seq + 1)
      return broken(
        `link ${head.seq + 1} of the actions is missing, or there are two; the next one there is ${link.seq}`,
      );
    if (link.previousHash !== head.hash) return broken('it does not follow the link before it');
    if (link.hash !== linkHash(head.hash, installation, link)) return broken('its content is not what was recorded');
    Object.assign(head, { seq: link.seq, hash: link.hash });
    if ('result' in link) {
      for (const id of erasedBy(link.result)) erased.add(id);
      continue;
    }
    const given = reasons.get(link.actionId);
    if (given === undefined) withoutReason.push(link.actionId);
    else if (reasonHash(given.salt, given.reason) !== link.reasonHash)
      return broken('its reason is not what was recorded');
  }
  const noted = await maybeRow(
    db,
    { seq: integer, hash: text },
    'select seq, hash from action_head where installation is not distinct from ?',
    [installation],
  );
  if ((noted?.seq ?? 0) !== head.seq || (noted?.hash ?? chainStart) !== head.hash) {
    const message = `the chain of actions ends at link ${head.seq}, and ${noted?.seq ?? 'none'} was recorded last`;
    return { seq: null, entryId: 'the last action', message };
  }
  const lost = withoutReason.find((id) => !erased.has(id));
  if (lost === undefined) return null;
  return { seq: null, entryId: `action ${lost}`, message: 'its reason is missing, and no erasure names it' };
}

/** The actions whose reasons an erasure names in its result. */
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
