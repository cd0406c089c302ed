/** A failed request in the panel's words. */

import type { Failure } from '../panel';
import { ERROR_CANCELLED, ERROR_MODEL, ERROR_QUEUE_FULL, type FailureData } from '../wire';

interface RpcError {
  code?: number;
  message?: string;
  data?: unknown;
}

/** Whether the request failed because the user stopped it. */
export function isCancelled(error: unknown): boolean {
  return (error as RpcError | undefined)?.code === ERROR_CANCELLED;
}

/** What an error response (or a lost connection) tells the user. */
export function failureOf(error: unknown): Failure {
  const { code, message = String(error), data } = (error ?? {}) as RpcError;
  if (code === ERROR_QUEUE_FULL) return { kind: 'queue_full', message };
  if (code !== ERROR_MODEL || typeof data !== 'object' || data === null) return { kind: 'internal', message };
  const known = data as Partial<FailureData>;
  return {
    kind: known.kind ?? 'internal',
    message,
    ...(known.hint ? { hint: known.hint } : {}),
    ...(known.provider ? { provider: known.provider } : {}),
    ...(typeof known.retryAfterSeconds === 'number' ? { retryAfterSeconds: known.retryAfterSeconds } : {}),
  };
}
