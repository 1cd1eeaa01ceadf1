import { PracticeError } from '../../domain/practice-error.ts';

/**
 * The answer to a request with filters. If the server refuses one of them, `noteRefused` is called with it, and the
 * result is null. Throws every other error.
 */
export async function unlessRefused<Answer>(
  ask: () => Promise<Answer>,
  filters: Record<string, string>,
  noteRefused: (filter: string) => Promise<void>,
): Promise<Answer | null> {
  try {
    return await ask();
  } catch (error) {
    const filter = refusedFilter(error, filters);
    if (filter === null) throw error;
    await noteRefused(filter);
    return null;
  }
}

/**
 * The filter that a response with status 400 refuses: the one that its body names, or the only one that was sent. Null
 * for every other error, and if the filter cannot be determined.
 */
export function refusedFilter(error: unknown, sent: Record<string, string>): string | null {
  if (!(error instanceof PracticeError) || error.code !== 'refused' || error.status !== 400) return null;
  const names = Object.keys(sent);
  const named = names.find((name) => error.fields.includes(name));
  if (named !== undefined) return named;
  const [only, ...others] = names;
  return others.length === 0 ? (only ?? null) : null;
}
