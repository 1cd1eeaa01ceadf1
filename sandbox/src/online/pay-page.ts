// The web page on which a client pays a payment link. It needs no JavaScript and loads no other resource.
import type { Clinic } from '../clinic.ts';
import { type Postransaction, paymentStatus } from '../state/online.ts';
import { statusOf, subjectOf } from './payment-links.ts';

const style = `
  :root { color-scheme: light dark; font: 1.05rem/1.5 system-ui, sans-serif; }
  body { max-width: 32rem; margin: 0 auto; padding: 2rem 1rem; }
  h1 { font-size: 1.4rem; }
  dl { display: grid; grid-template-columns: max-content 1fr; gap: .25rem 1rem; }
  dt { font-weight: 600; } dd { margin: 0; overflow-wrap: anywhere; }
  fieldset { border: 1px solid; border-radius: .4rem; margin: 1rem 0; }
  button { font: inherit; padding: .5rem 1rem; margin: 0 .5rem .5rem 0; border-radius: .4rem; cursor: pointer; }
  .problem { border-left: .3rem solid; padding-left: .7rem; }
`;

const headings: Record<number, string> = {
  [paymentStatus.pending]: 'Payment',
  [paymentStatus.failed]: 'The payment failed',
  [paymentStatus.expired]: 'The link has expired',
  [paymentStatus.aborted]: 'The payment was aborted',
  [paymentStatus.accepted]: 'Thank you, the payment was accepted',
};

const consents = {
  no: '',
  ask: '<p><label><input type="checkbox" name="consent" value="yes"> Save my payment details for later payments (optional)</label></p>',
  yes: '<p><label><input type="checkbox" name="consent" value="yes" required> I agree that my payment details are saved for later payments (required)</label></p>',
} as const;

/** Escapes a text for HTML. */
export const escaped = (text: string): string =>
  text.replace(/[&<>"']/g, (character) => `&#${character.charCodeAt(0)};`);

/** Renders the page of a transaction at an instant. `problem` says why the last attempt failed. */
export const payPage = (clinic: Clinic, transaction: Postransaction, nowMs: number, problem?: string): string => {
  const { amount, link } = transaction;
  const status = statusOf(transaction, nowMs);
  const isPending = status === paymentStatus.pending;
  const facts: [string, string][] = [
    ['To', clinic.department(transaction.department).name],
    ['For', subjectOf(clinic, transaction)],
    ['Amount', amount],
    ...(link.description === '' ? [] : [['Description', link.description] as [string, string]]),
    ...(isPending ? [['Valid until', validUntil(clinic, link.expires)] as [string, string]] : []),
    ...(link.consent ? [['Payment details', 'saved for later payments'] as [string, string]] : []),
  ];
  const wrong = problem ?? (status === paymentStatus.failed ? link.failure : null);
  return page(headings[status] ?? '', [
    `<dl>${facts.map(([name, value]) => `<dt>${name}</dt><dd>${escaped(value)}</dd>`).join('')}</dl>`,
    ...(wrong === null ? [] : [`<p class="problem" role="alert">${escaped(wrong)}</p>`]),
    ...(isPending ? [form(consents[link.tokenize])] : afterwards(status, link.return_url)),
  ]);
};

/** The page for an unknown address. */
export const unknownPage = (): string =>
  page('No such payment link', ['<p>Check the address in the message from the clinic.</p>']);

const validUntil = (clinic: Clinic, instantMs: number): string =>
  clinic.zone.timestamp(instantMs, 'offset').slice(0, 16).replace('T', ' ');

const form = (consent: string): string => `<form method="post">
<fieldset><legend>How do you want to pay?</legend>
<label><input type="radio" name="method" value="card" checked> Card</label>
<label><input type="radio" name="method" value="mobile"> Mobile payment</label>
</fieldset>${consent}
<p><button name="action" value="pay">Pay</button>
<button name="action" value="fail" formnovalidate>Pay with a card that is refused</button>
<button name="action" value="abort" formnovalidate>Do not pay</button></p>
</form>
<p><small>This is the sandbox of a practice: no money moves.</small></p>`;

const afterwards = (status: number, returnUrl: string | null): string[] => {
  const more = status === paymentStatus.accepted ? [] : ['<p>Ask the clinic for a new link if you want to pay.</p>'];
  if (returnUrl === null) return more;
  return [...more, `<p><a href="${escaped(returnUrl)}" rel="noreferrer">Go on</a></p>`];
};

const page = (heading: string, parts: readonly string[]): string => `<!DOCTYPE html>
<html lang="en">
<head><meta charset="utf-8"><meta name="viewport" content="width=device-width"><title>${heading}</title><style>${style}</style></head>
<body><main><h1>${heading}</h1>
${parts.join('\n')}
</main></body>
</html>
`;
