import { randomUUID } from 'node:crypto';
import { z } from 'zod';
import { approvalHours, askAction } from '../actions/asking.ts';
import type { ActedBy, ActionKind } from '../actions/record.ts';
import type { Db } from '../db/pool.ts';
import type { InstallationId } from '../terms.ts';
import { closeTexts } from '../texts/commands/closing.ts';
import type { CommandContext } from './context.ts';

/** The answer of a command that only asks, because another user must approve the action in the console. */
export const requestedAnswer = z.strictObject({
  requested: z.array(z.strictObject({ installation: z.number(), action: z.number() })),
});

export interface ApprovalRequest {
  installation: InstallationId;
  input: object;
  /** The hash of the effect that the command showed. */
  shownHash: string;
}

/** Asks for actions that another user must approve in the console, and says so. */
export async function requestApproval(
  context: CommandContext,
  db: Db,
  { kind, by }: { kind: ActionKind; by: ActedBy },
  requests: readonly ApprovalRequest[],
): Promise<void> {
  const requested = await db.transaction(async (trx) => {
    const asked: { installation: InstallationId; action: number }[] = [];
    for (const { installation, input, shownHash } of requests.toSorted((a, b) => a.installation - b.installation)) {
      const asking = { installation, kind, by, shownHash, input: { ...input, two_persons: true }, form: randomUUID() };
      asked.push({ installation, action: await askAction(trx, asking) });
    }
    return asked;
  });
  await context.result({ requested }, () =>
    requested.map((each) => closeTexts.requested({ ...each, hours: approvalHours })).join('\n'),
  );
}
