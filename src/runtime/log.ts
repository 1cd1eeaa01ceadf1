import { writeSync } from 'node:fs';
import { type Logger, pino } from 'pino';
import { tellable } from '../db/errors.ts';
import { ConfigError, codeOf } from '../domain/errors.ts';
import { redact } from '../domain/redact.ts';
import { visibleLines } from '../domain/text.ts';

/** Where the log's lines go. */
interface Destination {
  write(line: string): unknown;
}

/** Synchronous, so that the last lines before the process ends are not lost. */
const stderr: Destination = { write: (line) => writeSync(2, line) };

/**
 * The program's log: JSON lines without secrets, without values of statements, and without characters that a terminal obeys.
 * Throws ConfigError for a level that does not exist.
 */
export function createLog(level: string, destination: Destination = stderr): Logger {
  if (level !== 'silent' && !(level in pino.levels.values)) {
    throw new ConfigError(
      'log_level_unknown',
      `VETLEDGER_LOG is ${level}, which is no level of the log.`,
      `Use one of ${Object.keys(pino.levels.values).join(', ')}, silent.`,
    );
  }
  const write = (line: string) => {
    destination.write(visibleLines(redact(line)));
  };
  return pino({ level, base: null, serializers: { err: errorLine } }, { write });
}

/** Of an error only what is told: its other properties may quote rows and statements. */
function errorLine(error: unknown): object {
  if (!(error instanceof Error)) return { message: tellable(error) };
  const message = tellable(error);
  const stack = error.stack?.replace(error.message, () => message);
  return {
    type: error.name,
    message,
    ...(codeOf(error) === undefined ? {} : { code: codeOf(error) }),
    stack,
    ...(error.cause instanceof Error ? { cause: errorLine(error.cause) } : {}),
  };
}
