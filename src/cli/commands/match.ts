import { setMatch } from '../../prepayments/decide.ts';
import { proposeMatches } from '../../prepayments/propose.ts';
import { chosenInstallations, installationOf } from '../../runtime/app.ts';
import { actedBy } from '../acting.ts';
import { type CommandContext, usageError } from '../context.ts';
import { type ProposedMatches, proposalsDocument, proposalsText } from '../render/match.ts';
import { withApp } from '../with-app.ts';

export interface MatchOptions {
  prepayment?: number[];
  none?: true;
  reason?: string;
  by?: string;
  installation?: number;
}

/** Proposes matches for the payments that have none; writes nothing. */
export function proposals(context: CommandContext, options: MatchOptions): Promise<number> {
  if (options.prepayment !== undefined || options.none || options.reason !== undefined) {
    throw usageError('Name the payment, for example 4711/payment/12.', 'problems match');
  }
  return withApp(context, { temporal: false }, async ({ db, config }) => {
    const found: ProposedMatches[] = [];
    for (const installation of chosenInstallations(config, options.installation)) {
      const { id, decimals } = installation;
      found.push({ installation: id, decimals, proposals: await proposeMatches(db, installation) });
    }
    await context.result(proposalsDocument(found), () => proposalsText(found));
    return 0;
  });
}

/** Says which prepayments a payment used, where the rules do not tell. The next window posts what comes of it. */
export function match(context: CommandContext, options: MatchOptions, id: string): Promise<number> {
  const { prepayment: prepayments = [], none = false, reason } = options;
  if (reason === undefined) throw usageError('Say with --reason how it is known.', 'problems match');
  const who = actedBy({ ...options, reason }, 'problems match');
  const parts = /^(\d{1,15})\/payment\/(\d{1,15})$/.exec(id);
  if (parts === null)
    throw usageError(`${id} is no id of a payment; they look like 4711/payment/12.`, 'problems match');
  if (none === prepayments.length > 0) {
    throw usageError('Name the prepayments with --prepayment ID, or say --none.', 'problems match');
  }
  if (new Set(prepayments).size < prepayments.length) {
    throw usageError('A prepayment is named twice.', 'problems match');
  }
  const [installation, payment] = [Number(parts[1]), Number(parts[2])];
  return withApp(context, { temporal: false }, async (app) => {
    installationOf(app.config, installation);
    const { clientId } = await app.db.transaction((trx) =>
      setMatch(trx, installation, { payment, prepayments, by: who.actedBy, reason: who.reason }),
    );
    const result = { payment: id, prepayments, client: clientId, by: who.actedBy, reason: who.reason };
    await context.result(result, () =>
      prepayments.length === 0
        ? `It is not known which prepayment ${id} used; it stands under the client of its invoice when first posted. The next window posts it so.`
        : `${id} used ${prepayments.map((each) => `prepayment ${each}`).join(' and ')} of ${clientId === null ? 'no client' : `client ${clientId}`}. The next window posts it so.`,
    );
    return 0;
  });
}
