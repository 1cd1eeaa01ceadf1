import { Option } from 'commander';
import { z } from 'zod';
import { formatMoney, type Money } from '../../domain/money.ts';
import { setMatch } from '../../prepayments/decide.ts';
import { type Candidate, type Proposal, proposeMatches } from '../../prepayments/propose-matches.ts';
import * as answer from '../../queries/answer.ts';
import { chosenInstallations, installationOf } from '../../runtime/app.ts';
import type { InstallationId } from '../../terms.ts';
import { labels } from '../../texts/commands/labels.ts';
import { matchTexts } from '../../texts/commands/results.ts';
import { usageTexts } from '../../texts/commands/usage.ts';
import { count } from '../../wording/words.ts';
import { actedBy, statedBy } from '../acting.ts';
import { by, type Definition, installation, option, wholeNumber } from '../command.ts';
import { type CommandContext, usageError } from '../context.ts';
import { withApp } from '../with-app.ts';

interface Options {
  prepayment?: number[];
  none?: true;
  reason?: string;
  by?: string;
  installation?: number;
}

const candidates = z.array(
  z.strictObject({
    prepayment: z.number(),
    client: z.number().nullable(),
    amount: answer.amount,
    received_on: answer.date.nullable(),
  }),
);

export const command: Definition<Options> = {
  description:
    'Without a payment: lists the prepayments that each unmatched payment may have used, its client’s prepayments first, with the command that sets the match. Nothing is written. In --json, `proposed` contains the client’s prepayments that cover the payment, and `others` contains those of other clients. With a payment: sets the match. The next window then reverses what is posted under another client and posts it again. The decision is stored with name, reason and time. Unmatched payments have the remark prepayment_unmatched, which `vetledger reconcile` lists.',
  options: [
    option('--prepayment <id>', 'id of a prepayment that it used, in the practice software (repeatable)', repeated),
    new Option('--none', 'remove the match: the prepayment is unknown'),
    new Option('--reason <text>', 'how you know it (required with a payment)'),
    by,
    installation,
  ],
  examples: [
    ['vetledger problems match', 'proposals for unmatched payments'],
    ['vetledger problems match 4711/payment/12 --prepayment 7 --reason "receipt 881"', 'it used prepayment 7'],
    ['vetledger problems match 4711/payment/12 --none --reason "prepayment 8 was wrong"', 'the prepayment is unknown'],
  ],
  answer: z.union([
    z.strictObject({
      proposals: z.array(
        z.strictObject({
          payment: z.string(),
          invoice: z.number().nullable(),
          client: z.number().nullable(),
          amount: answer.amount,
          used_on: answer.date.nullable(),
          proposed: candidates,
          others: candidates,
        }),
      ),
    }),
    z.strictObject({
      payment: z.string(),
      prepayments: z.array(z.number()),
      client: z.number().nullable(),
      by: z.string(),
      reason: z.string(),
    }),
  ]),
  run: (context, options, [payment]) =>
    payment === undefined ? proposals(context, options) : match(context, options, payment),
};

function repeated(value: string, before: number[] = []): number[] {
  return [...before, wholeNumber(value)];
}

/** Proposes matches for the payments that have none; writes nothing. */
function proposals(context: CommandContext, options: Options): Promise<number> {
  if (options.prepayment !== undefined || options.none || options.reason !== undefined) {
    throw usageError(usageTexts.namePayment, 'problems match');
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

/** Sets which prepayments a payment used. The next window posts the resulting corrections. */
function match(context: CommandContext, options: Options, id: string): Promise<number> {
  const { prepayment: prepayments = [], none = false, reason } = options;
  if (reason === undefined) throw usageError(usageTexts.matchReason, 'problems match');
  const stated = statedBy({ ...options, reason }, 'problems match');
  const parts = /^(\d{1,15})\/payment\/(\d{1,15})$/.exec(id);
  if (parts === null) throw usageError(usageTexts.noPayment({ text: id }), 'problems match');
  if (none === prepayments.length > 0) {
    throw usageError(usageTexts.prepaymentOrNone, 'problems match');
  }
  if (new Set(prepayments).size < prepayments.length) {
    throw usageError(usageTexts.prepaymentTwice, 'problems match');
  }
  const [installation, payment] = [Number(parts[1]), Number(parts[2])];
  return withApp(context, { temporal: false }, async (app) => {
    const who = await actedBy(app.db, stated);
    installationOf(app.config, installation);
    const { clientId } = await app.db.transaction((trx) =>
      setMatch(trx, installation, { payment, prepayments, ...who }),
    );
    const result = { payment: id, prepayments, client: clientId, by: who.actedBy, reason: who.reason };
    await context.result(result, () =>
      prepayments.length === 0
        ? matchTexts.unset({ payment: id })
        : matchTexts.set({
            payment: id,
            prepayments: listed(prepayments.map((prepayment) => labels.prepayment({ prepayment }))),
            client: clientText(clientId),
          }),
    );
    return 0;
  });
}

/** An installation's uses without a match, with proposals. */
interface ProposedMatches {
  installation: InstallationId;
  decimals: number;
  proposals: readonly Proposal[];
}

/** The JSON of `problems match` without a payment. */
function proposalsDocument(found: readonly ProposedMatches[]) {
  return {
    proposals: found.flatMap(({ installation, decimals, proposals }) => {
      const candidate = ({ prepaymentId, clientId, left, receivedOn }: Candidate) => ({
        ...{ prepayment: prepaymentId, client: clientId, amount: formatMoney(left, decimals), received_on: receivedOn },
      });
      return proposals.map(({ paymentId, invoiceId, clientId, amount, usedOn, own, others }) => ({
        payment: `${installation}/payment/${paymentId}`,
        ...{ invoice: invoiceId, client: clientId, amount: formatMoney(amount, decimals), used_on: usedOn },
        ...{ proposed: own.map(candidate), others: others.map(candidate) },
      }));
    }),
  };
}

/** A block per use: its amount, and the command that sets the match. */
function proposalsText(found: readonly ProposedMatches[]): string {
  return found
    .map(({ installation, decimals, proposals }) =>
      proposals.length === 0
        ? matchTexts.allMatched({ installation })
        : [
            matchTexts.unmatched({ installation, uses: count(proposals.length, 'use') }),
            ...proposals.flatMap((proposal) => lines(installation, proposal, (of) => formatMoney(of, decimals))),
          ].join('\n'),
    )
    .join('\n\n');
}

function lines(installation: InstallationId, proposal: Proposal, text: (of: Money) => string): string[] {
  const { paymentId, invoiceId, clientId, amount, usedOn, own, others } = proposal;
  const id = `${installation}/payment/${paymentId}`;
  const named = (candidates: readonly Candidate[]) =>
    candidates
      .map(({ prepaymentId, left, receivedOn, ...of }) =>
        matchTexts.candidate({
          ...{ prepayment: prepaymentId, client: clientText(of.clientId) },
          ...{ left: text(left), day: receivedOn ?? matchTexts.unknownDay },
        }),
      )
      .join(', ');
  const command = (candidates: readonly Candidate[]) =>
    `    vetledger problems match ${id} ${candidates.map(({ prepaymentId }) => `--prepayment ${prepaymentId}`).join(' ')} --reason "…"`;
  const use = `  ${matchTexts.use({
    ...{ id, amount: text(amount), day: usedOn ?? matchTexts.unknownDay },
    ...{ invoice: String(invoiceId ?? labels.unknown), client: clientText(clientId) },
  })}`;
  if (own.length > 0) return [matchTexts.ownCandidates({ use, candidates: named(own) }), command(own)];
  if (others.length === 0) return [matchTexts.noCandidateOf({ use })];
  return [matchTexts.oneOf({ use, candidates: named(others) }), ...others.map((other) => command([other]))];
}

function clientText(clientId: number | null): string {
  return clientId === null ? labels.noClient : labels.client({ client: clientId });
}

function listed(parts: readonly string[]): string {
  return parts.reduce((one, other) => labels.and({ one, other }));
}
