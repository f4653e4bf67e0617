import type { components } from './generated.js';

type Body = components['schemas']['ProblemDto'];

const isBody = (value: unknown): value is Body =>
  typeof value === 'object' && value !== null && 'code' in value;

/** An error response of the service (RFC 9457), or a failed connection. */
export class Problem extends Error {
  readonly code: string;
  readonly detail: string;
  /** Request id for support questions. Empty if the service was not reached. */
  readonly requestId: string;
  readonly errors: NonNullable<Body['errors']>;
  readonly conflicts: NonNullable<Body['conflicts']>;
  /** Seconds to wait before the next attempt. 0 if unknown. */
  readonly retryAfter: number;

  constructor(
    readonly status: number,
    body: unknown,
    headers = new Headers(),
  ) {
    const known = isBody(body) ? body : undefined;
    super(
      known?.title ??
        (status === 0 ? 'The service cannot be reached' : `The service returned status ${status}`),
    );
    this.code = known?.code ?? 'unknown';
    this.detail =
      known?.detail ??
      (status === 0 ? 'Check your connection and try again. Your entries are not lost.' : '');
    this.requestId = known?.request_id ?? headers.get('x-request-id') ?? '';
    this.errors = known?.errors ?? [];
    this.conflicts = known?.conflicts ?? [];
    this.retryAfter = Number(headers.get('retry-after') ?? 0);
  }

  /** Returns the error text of a field, or '' for a valid field. */
  at(field: string): string {
    const ofField = this.errors.filter(
      (error) => error.field === field || error.field.startsWith(`${field}.`),
    );
    if (ofField.length > 0) return [...new Set(ofField.map(({ message }) => message))].join('; ');
    return this.conflicts.some((conflict) => conflict.field === field)
      ? 'is already used by another user'
      : '';
  }
}

/** Converts any thrown value to a problem. */
export const problemOf = (thrown: unknown): Problem =>
  thrown instanceof Problem
    ? thrown
    : new Problem(0, { code: 'console', title: 'The console encountered an error', detail: String(thrown) });
