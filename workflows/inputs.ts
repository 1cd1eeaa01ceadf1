/**
 * Checks inputs from outside before a workflow reads them. Workflow code that throws on an input would fail its
 * workflow task, which Temporal repeats for ever. The checks are plain code, since a schema library would double the
 * size of the bundle.
 */
import { ApplicationFailure, setCurrentDetails } from '@temporalio/workflow';
import { windowErrors } from '../src/texts/errors/windows.ts';
import { workflowTexts } from '../src/texts/temporal.ts';
import type { DeliveryInput, HealthNote, ScrubInput, WindowInput } from './messages.ts';
import { failureTypes } from './messages.ts';

type Kind = WindowInput['kind'];
type Check = (value: unknown) => boolean;

const isText: Check = (value) => typeof value === 'string' && value !== '';
const isId: Check = (value) => Number.isSafeInteger(value) && (value as number) > 0;
const isFlag: Check = (value) => typeof value === 'boolean';
const isTime: Check = (value) => typeof value === 'string' && Number.isFinite(Date.parse(value));
const isDay: Check = (value) => typeof value === 'string' && /^\d{4}-\d\d-\d\d$/.test(value) && isTime(value);
const isSeconds: Check = (value) => typeof value === 'number' && Number.isFinite(value) && value > 0;

const orNull =
  (check: Check): Check =>
  (value) =>
    value === null || check(value);
const oneOf =
  (...values: unknown[]): Check =>
  (value) =>
    values.includes(value);

function fields(value: unknown): Record<string, unknown> | null {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
    ? (value as Record<string, unknown>)
    : null;
}

function shaped(checks: Record<string, Check>): Check {
  return (value) => {
    const found = fields(value);
    return found !== null && wrongFields(found, checks).length === 0;
  };
}

function wrongFields(found: Record<string, unknown>, checks: Record<string, Check>): string[] {
  return Object.entries(checks).flatMap(([name, check]) => (check(found[name]) ? [] : [name]));
}

/** Limit of a signal's text that is shown. */
const longestNote = 2_000;

/** The content of a health signal; null if the input is not valid. */
export function healthNoteOf(value: unknown): HealthNote | null {
  const found = fields(value);
  if (found === null) return null;
  const { health, note } = found;
  const checks = { health: oneOf('ok', 'waiting', 'retrying'), note: (text: unknown) => typeof text === 'string' };
  if (wrongFields(found, checks).length > 0) return null;
  return { health: health as HealthNote['health'], note: (note as string).slice(0, longestNote) };
}

const windowChecks = (kind: Kind): Record<string, Check> => ({
  installation: isId,
  trigger: isText,
  kind: oneOf(kind),
  windowTimeoutSeconds: orNull(isSeconds),
  searchAttributes: isFlag,
  fromDate: orNull(isDay),
  span: kind === 'replay' ? orNull(isSpan) : (value) => value === undefined,
});

const isAsked: Check = (value) => fields(value) !== null;
const isSpan = shaped({
  windows: Array.isArray,
  invoice: isAsked,
  prepayment: isAsked,
  row: isAsked,
  payment: isAsked,
});

/** Fails the workflow if its input is not valid for this kind of window. */
export function checkWindowInput(kind: Kind, input: WindowInput): void {
  checkInput(kind, windowChecks(kind), input);
}

export function checkDeliveryInput(input: DeliveryInput): void {
  checkInput('delivery', { installation: isId, searchAttributes: isFlag }, input);
}

export function checkScrubInput(input: ScrubInput): void {
  checkInput('scrub', { installation: isId }, input);
}

/** Fails the workflow instead of its task: the caller sees the failure, and Temporal does not repeat it. */
function checkInput(kind: string, checks: Record<string, Check>, input: unknown): void {
  const found = fields(input);
  const wrong = found === null ? Object.keys(checks) : wrongFields(found, checks);
  if (wrong.length === 0) return;
  const plain = windowErrors.inputInvalid({
    code: failureTypes.inputInvalid,
    kind,
    wrong: found === null ? windowErrors.inputNoObject : wrong.join(', '),
  });
  setCurrentDetails(workflowTexts.error(plain));
  throw ApplicationFailure.nonRetryable(plain.message, failureTypes.inputInvalid, plain);
}
