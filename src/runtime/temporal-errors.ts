/**
 * Recognises errors of Temporal's client by their properties: loading the client takes longer than most commands run.
 */

import { serviceErrors } from '../texts/errors/services.ts';
import type { PlainError } from '../texts/plain-error.ts';

export function isGrpcServiceError(error: unknown): error is Error & { code: number; details: string } {
  if (!(error instanceof Error)) return false;
  const { details, metadata } = error as { details?: unknown; metadata?: unknown };
  return typeof details === 'string' && typeof metadata === 'object' && metadata !== null;
}

/** The error for a missing namespace; null for every other error. */
export function namespaceMissing(error: unknown): PlainError | null {
  const name = missingNamespace(error);
  return name === null ? null : serviceErrors.namespaceMissing({ name });
}

function missingNamespace(error: unknown): string | null {
  if (!(error instanceof Error)) return null;
  if (error.name === 'NamespaceNotFoundError' && 'namespace' in error) return String(error.namespace);
  return isGrpcServiceError(error) ? (/^Namespace (\S+) is not found/.exec(error.details)?.[1] ?? null) : null;
}
