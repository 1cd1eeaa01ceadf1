import { Writable } from 'node:stream';

/** Numeric levels, as in the log. */
const levels = { info: 30, warn: 40 };

/**
 * A stream for the notes of a command with --json. It writes each note to `out` as a JSON line with the fields of a log line, so
 * that all of stderr is JSON. A write that ends with a line end completes a note, so a note may have several lines.
 */
export function jsonNotes(out: NodeJS.WritableStream, nowMs: () => number = Date.now): Writable {
  let text = '';
  return new Writable({
    decodeStrings: false,
    write(chunk: string | Buffer, _encoding, done) {
      text += chunk.toString();
      if (text.endsWith('\n')) {
        const msg = text.trim();
        const level = msg.startsWith('warning: ') ? levels.warn : levels.info;
        if (msg !== '') out.write(`${JSON.stringify({ level, time: nowMs(), msg })}\n`);
        text = '';
      }
      done();
    },
  });
}
