import { redact } from '../../../domain/redact.ts';
import { clip, visible } from '../../../domain/text.ts';
import type { ErrorPattern } from '../../capabilities.ts';
import { ErpError } from '../../port.ts';

const longestMessage = 500;
/** Maximum length of an answer's text that is processed. */
const longestText = 4_000;

/** An error as the server reported it. */
export interface ServerError {
  http: number;
  /** Name of the ERP's exception; null for other errors and for HTML pages. */
  code: string | null;
  text: string;
}

/** A server's text that may be logged and shown: one line, without secrets, at most `longestMessage` long. */
export function safeText(text: string): string {
  return clip(visible(redact(text, longestText).replace(/\s+/g, ' ').trim()), longestMessage);
}

/** The meaning of an error by the first pattern that matches. Without a match it is a doubt. */
export function explain(error: ServerError, patterns: readonly ErrorPattern[]): ErpError {
  const shortened = { ...error, text: error.text.slice(0, longestText) };
  const found = patterns.find(({ match }) => fits(match, shortened));
  if (found === undefined) return new ErpError('doubt', safeText(error.text), { problem: 'erp_refused_unknown' });
  const options = found.problem === undefined ? {} : { problem: found.problem };
  return new ErpError(found.means, safeText(error.text), options);
}

function fits({ http, code, text }: ErrorPattern['match'], error: ServerError): boolean {
  return (
    (http === undefined || http === error.http) &&
    (code === undefined || code === error.code) &&
    (text === undefined || text.test(error.text))
  );
}
