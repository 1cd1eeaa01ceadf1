import { writeSync } from 'node:fs';
import { type Logger, pino } from 'pino';
import { logIds } from '../../activities/log-ids.ts';
import { errorText } from '../db/database-errors.ts';
import { ConfigError, codeOf } from '../domain/errors.ts';
import { PracticeError } from '../domain/practice-error.ts';
import { redact } from '../domain/redact.ts';
import { visibleLines } from '../domain/text.ts';
import { serviceErrors } from '../texts/errors/services.ts';

interface Destination {
  write(line: string): unknown;
}

/** Synchronous, so that the last lines before the process ends are not lost. */
const stderr: Destination = { write: (line) => writeSync(2, line) };

const longestLine = 256 * 1024;
const shownOfLonger = 8 * 1024;

/**
 * The program's log: JSON lines with ids, without secrets, values of statements, and control characters of terminals.
 * Lines about an installation include its name. Throws ConfigError for an unknown level.
 */
export function createLog(
  level: string,
  destination: Destination = stderr,
  names: ReadonlyMap<number, string> = new Map(),
): Logger {
  if (level !== 'silent' && !(level in pino.levels.values)) {
    const levels = Object.keys(pino.levels.values).join(', ');
    throw new ConfigError(serviceErrors.logLevelUnknown({ level, levels }));
  }
  const write = (line: string) => {
    destination.write(visibleLines(line.length <= longestLine ? redact(line, longestLine) : beginningOf(line)));
  };
  const named = (line: Record<string, unknown>) => {
    const name = typeof line.installation === 'number' ? names.get(line.installation) : undefined;
    return name === undefined ? line : { ...line, name };
  };
  return pino(
    { level, base: null, serializers: { err: errorLine }, mixin: logIds, formatters: { log: named } },
    { write },
  );
}

/** Keeps only the safe properties of an error: others may quote rows and statements. */
function errorLine(error: unknown): object {
  if (!(error instanceof Error)) return { message: errorText(error) };
  const message = errorText(error);
  const stack = error.stack?.replace(error.message, () => message);
  return {
    type: error.name,
    message,
    ...(codeOf(error) === undefined ? {} : { code: codeOf(error) }),
    ...(error instanceof PracticeError && error.requestIds),
    stack,
    ...(error.cause instanceof Error ? { cause: errorLine(error.cause) } : {}),
  };
}

/** Replaces a line that is too long. A cut line would not be valid JSON. */
function beginningOf(line: string): string {
  const msg = 'a log line was too long; this is its beginning';
  return `${JSON.stringify({ level: pino.levels.values.warn, msg, line: redact(line, shownOfLonger) })}\n`;
}
