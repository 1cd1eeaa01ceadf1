import { formatMoney, type Money } from '../../domain/money.ts';
import type { Candidate, Proposal } from '../../prepayments/propose.ts';
import type { InstallationId } from '../../terms.ts';
import { count } from './text.ts';

/** An installation's uses without a match, and what they may have used. */
export interface ProposedMatches {
  installation: InstallationId;
  decimals: number;
  proposals: readonly Proposal[];
}

/** What `problems match --json` prints where it names no payment. */
export function proposalsDocument(found: readonly ProposedMatches[]) {
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

/** A block for each use: what it took, and the command that matches it. */
export function proposalsText(found: readonly ProposedMatches[]): string {
  return found
    .map(({ installation, decimals, proposals }) =>
      proposals.length === 0
        ? `Installation ${installation}: of each use it is known which prepayment it used.`
        : [
            `Installation ${installation}: ${count(proposals.length, 'use')} of which it is not known which prepayment was used`,
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
      .map(
        ({ prepaymentId, left, receivedOn, ...of }) =>
          `prepayment ${prepaymentId} of ${clientText(of.clientId)} (${text(left)}, received ${receivedOn})`,
      )
      .join(', ');
  const command = (candidates: readonly Candidate[]) =>
    `    vetledger problems match ${id} ${candidates.map(({ prepaymentId }) => `--prepayment ${prepaymentId}`).join(' ')} --reason "…"`;
  const use = `  ${id}  ${text(amount)} on ${usedOn ?? 'an unknown day'}, invoice ${invoiceId ?? 'unknown'} of ${clientText(clientId)}`;
  if (own.length > 0) return [`${use}: its client's ${named(own)}`, command(own)];
  if (others.length === 0) return [`${use}: no prepayment has dropped by as much without explanation`];
  return [`${use}: one of ${named(others)}`, ...others.map((other) => command([other]))];
}

function clientText(clientId: number | null): string {
  return clientId === null ? 'no client' : `client ${clientId}`;
}
