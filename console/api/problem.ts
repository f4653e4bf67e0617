import type { components } from './generated.js';

type Body = components['schemas']['ProblemDto'];

const isBody = (value: unknown): value is Body =>
  typeof value === 'object' && value !== null && 'code' in value;

/** What the service says of a request that it has refused (RFC 9457), or that it could not be asked. */
export class Problem extends Error {
  readonly code: string;
  readonly detail: string;
  /** To ask the operators of the service with; '' where the service was not reached. */
  readonly requestId: string;
  readonly errors: NonNullable<Body['errors']>;
  readonly conflicts: NonNullable<Body['conflicts']>;
  /** Seconds to wait; 0 where the service does not say. */
  readonly retryAfter: number;

  constructor(
    readonly status: number,
    body: unknown,
    headers = new Headers(),
  ) {
    const known = isBody(body) ? body : undefined;
    super(
      known?.title ?? (status === 0 ? 'The service cannot be reached' : `The service answered ${status}`),
    );
    this.code = known?.code ?? 'unknown';
    this.detail =
      known?.detail ??
      (status === 0 ? 'Check the connection and try again. Nothing that you entered is lost.' : '');
    this.requestId = known?.request_id ?? headers.get('x-request-id') ?? '';
    this.errors = known?.errors ?? [];
    this.conflicts = known?.conflicts ?? [];
    this.retryAfter = Number(headers.get('retry-after') ?? 0);
  }

  /** What is said of a field: at most one sentence, '' for nothing. */
  at(field: string): string {
    const ofField = this.errors.filter(
      (error) => error.field === field || error.field.startsWith(`${field}.`),
    );
    if (ofField.length > 0) return [...new Set(ofField.map(({ message }) => message))].join('; ');
    return this.conflicts.some((conflict) => conflict.field === field) ? 'another user has it' : '';
  }
}

/** Whatever was thrown, as a problem. */
export const problemOf = (thrown: unknown): Problem =>
  thrown instanceof Problem
    ? thrown
    : new Problem(0, { code: 'console', title: 'The console failed', detail: String(thrown) });
