import type { components } from './generated.js';

type ProblemBody = components['schemas']['ProblemDto'];

const isProblemBody = (value: unknown): value is ProblemBody =>
  typeof value === 'object' && value !== null && 'code' in value;

/** Texts that replace texts of the API about parts of a request, by the codes of problems and of fields. */
const TEXTS: Partial<Record<string, string>> = {
  invalid_parameter: 'A value is invalid',
  malformed_uuid: 'The address of this page is wrong',
  unknown_reference: 'matches no user. Type the name, username, e-mail address or external ID of a user',
};

/** Explains the login throttle (docs/security.md). */
const THROTTLED =
  'To prevent password guessing, only a few failed attempts are allowed from one IP address within 15 minutes. Even the correct password is rejected for now.';

/** An error response of the service (RFC 9457), or a failed connection. */
export class ProblemError extends Error {
  readonly code: string;
  readonly detail: string;
  /** Request id for support questions. Empty if the service was not reached. */
  readonly requestId: string;
  readonly errors: NonNullable<ProblemBody['errors']>;
  readonly conflicts: NonNullable<ProblemBody['conflicts']>;
  /** Seconds to wait before the next attempt. 0 if unknown. */
  readonly retryAfter: number;

  constructor(
    readonly status: number,
    body: unknown,
    headers = new Headers(),
  ) {
    const known = isProblemBody(body) ? body : undefined;
    super(
      TEXTS[known?.code ?? ''] ??
        known?.title ??
        (status === 0 ? 'The service cannot be reached' : `The service returned status ${status}`),
    );
    this.code = known?.code ?? 'unknown';
    this.detail =
      (known?.code === 'login_throttled' ? THROTTLED : known?.detail) ??
      (status === 0 ? 'Check your connection and try again. What you entered is not lost.' : '');
    this.requestId = known?.request_id ?? headers.get('x-request-id') ?? '';
    this.errors = known?.errors ?? [];
    this.conflicts = known?.conflicts ?? [];
    this.retryAfter = Number(headers.get('retry-after') ?? 0);
  }

  /** Returns the error text of a field, or '' for a valid field. */
  getFieldError(field: string): string {
    const ofField = this.errors.filter((error) => isPart(error.field, field));
    const messages = ofField.map(({ code, message }) => TEXTS[code] ?? message);
    if (messages.length > 0) return [...new Set(messages)].join('; ');
    const conflict = this.conflicts.find((each) => each.field === field);
    if (!conflict) return '';
    const { name, username = 'another user' } = conflict;
    return `is already used by ${name ? `${name} (${username})` : username}`;
  }
}

/** Returns true if a path is a field or part of the field. */
export const isPart = (path: string, field: string): boolean =>
  path === field || path.startsWith(`${field}.`);

/**
 * Returns a handler for failed requests, which rethrows their error. For a response with this status, the handler first
 * runs `work`, for example to load the current version or to throw a clearer error.
 */
export const handleStatus =
  (status: number, work: (problem: ProblemError) => unknown) =>
  async (thrown: unknown): Promise<never> => {
    if (thrown instanceof ProblemError && thrown.status === status) await work(thrown);
    throw thrown;
  };

/** Converts any thrown value to a problem. */
export const toProblem = (thrown: unknown): ProblemError =>
  thrown instanceof ProblemError
    ? thrown
    : new ProblemError(0, {
        code: 'console',
        title: 'The console encountered an error',
        detail: String(thrown),
      });
