import { redact } from '../../../domain/redact.ts';
import { clip, visible } from '../../../domain/text.ts';
import type { ErrorPattern } from '../../capabilities.ts';
import { ErpError } from '../../port.ts';

const longestMessage = 500;
/** Maximum length of an answer's text that is processed. */
const longestText = 4_000;

/** An error as the server reported it. */
export interface ToldError {
  http: number;
  /** Name of the ERP's exception; null for other errors and for HTML pages. */
  code: string | null;
  text: string;
}

/** A server's text that may be logged and shown: one line, without secrets, at most `longestMessage` long. */
export function harmless(text: string): string {
  return clip(visible(redact(text, longestText).replace(/\s+/g, ' ').trim()), longestMessage);
}

/** The meaning of an error by the first pattern that matches. Without a match it is a doubt. */
export function explain(error: ToldError, patterns: readonly ErrorPattern[]): ErpError {
  const told = { ...error, text: error.text.slice(0, longestText) };
  const found = patterns.find(({ match }) => fits(match, told));
  if (found === undefined) return new ErpError('doubt', harmless(error.text), { problem: 'erp_refused_unknown' });
  const options = found.problem === undefined ? {} : { problem: found.problem };
  return new ErpError(found.means, harmless(error.text), options);
}

function fits({ http, code, text }: ErrorPattern['match'], told: ToldError): boolean {
  return (
    (http === undefined || http === told.http) &&
    (code === undefined || code === told.code) &&
    (text === undefined || text.test(told.text))
  );
}
