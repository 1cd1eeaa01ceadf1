import type { FieldChange } from '../posting/changed-fields.ts';
import { type JsonValue, readJson } from '../records/json.ts';
import type { SourceVersion } from './explain.ts';

/** At most this many changed fields of a version are listed. */
const listed = 40;

/** The fields of the source's record that this version changed, by their path, such as `client.name`. Values are JSON or text. */
export function versionChanges(newer: SourceVersion, older: SourceVersion): FieldChange[] {
  const [now, before] = [leavesOf(readJson(newer.raw)), leavesOf(readJson(older.raw))];
  return [...new Set([...before.keys(), ...now.keys()])]
    .flatMap((field) => {
      const change = { field, old: before.get(field) ?? null, new: now.get(field) ?? null };
      return change.old === change.new ? [] : [change];
    })
    .slice(0, listed);
}

function leavesOf(value: JsonValue, path = '', leaves = new Map<string, string>()): Map<string, string> {
  // A number that binary64 cannot hold is an object, too, but it has no fields of a record.
  const isNested = typeof value === 'object' && value !== null && !('rawJSON' in value);
  if (!isNested) return leaves.set(path, typeof value === 'string' ? value : JSON.stringify(value));
  for (const [name, each] of Object.entries(value)) leavesOf(each, path === '' ? name : `${path}.${name}`, leaves);
  return leaves;
}
