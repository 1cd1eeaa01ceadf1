import { catalogue } from '../catalogue.ts';
import type { PlainError } from '../plain-error.ts';

const inputTodo =
  'Start it again with an input like {"installation": 4711, "failed": true}. docs/operators/failures.md shows the other inputs.';

/** Errors of the workflow `replay`, which an operator may start in the Temporal UI. */
export const replayErrors = catalogue('errors/replays.replayErrors', {
  inputInvalid: ({ field, reason }: { field: string; reason: string }): PlainError => ({
    code: 'replay_input',
    message: `The input of the replay is wrong: ${field === '' ? '' : `${field}: `}${reason}`,
    todo: inputTodo,
  }),
  oneOfThree: (): PlainError => ({
    code: 'replay_input',
    message: 'A replay takes exactly one of `windows`, `failed`, or `from` with `to`.',
    todo: inputTodo,
  }),
  installationUnknown: ({ installation, known }: { installation: number; known: string }): PlainError => ({
    code: 'installation_unknown',
    message: `This worker does not serve installation ${installation}.`,
    todo: `Use one of these: ${known}.`,
  }),
  failed: ({ reason }: { reason: string }): PlainError => ({
    code: 'unexpected',
    message: reason,
    todo: 'Run `vetledger doctor`, then the replay again.',
  }),
  didNotEnd: ({ installation, reason }: { installation: number; reason: string }): PlainError => ({
    code: 'replay_interrupted',
    message: `The replay of installation ${installation} was interrupted: ${reason}`,
    todo: 'Nothing is lost: run it again.',
  }),
  stoppedEarly: 'the command was stopped before the replay could record its end',
  stopped: 'The replay stopped without giving a reason.',
});
