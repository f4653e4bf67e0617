import { type ErrorCode, ProblemError } from '../../platform/common/errors.js';
import { TAKEN_CODES } from '../../users/rules/failure.js';

/**
 * Maps each `scimType` to its error codes (RFC 7644 §3.12, RFC 9865 §2.1). An error with any other code gets only a
 * status, without a `scimType`.
 */
const SCIM_TYPES: Readonly<Record<string, readonly ErrorCode[]>> = {
  invalidSyntax: ['malformed_json', 'invalid_syntax'],
  invalidValue: ['invalid_value', 'invalid_parameter', 'validation_failed'],
  invalidFilter: ['invalid_filter'],
  invalidPath: ['invalid_path'],
  noTarget: ['no_target'],
  mutability: ['mutability'],
  tooMany: ['too_many', 'search_too_broad'],
  invalidCursor: ['invalid_cursor'],
  invalidCount: ['invalid_count'],
  uniqueness: [...TAKEN_CODES, 'display_name_taken'],
};

export const listScimTypes = (): string[] => Object.keys(SCIM_TYPES);

export const scimTypeOf = (code: ErrorCode): string | undefined =>
  listScimTypes().find((type) => SCIM_TYPES[type]?.includes(code));

/** Maximum number of characters that an error message quotes from a request. */
const MAX_QUOTED = 100;

export function quote(text: string): string {
  const short = text.length <= MAX_QUOTED ? text : `${text.slice(0, MAX_QUOTED)}…`;
  return `"${short.toWellFormed()}"`;
}

export const createNotFoundError = (type: 'User' | 'Group', id: string): ProblemError =>
  new ProblemError('not_found', `There is no ${type.toLowerCase()} ${quote(id)}.`);

/** @param position position of the error in the filter. The first character has position 1. */
export function toFilterError(position: number, message: string): ProblemError {
  return new ProblemError('invalid_filter', `At position ${position} of the filter: ${message}.`);
}

/** Signals an attribute name that is not in the schemas. Some key profiles ignore such names in a PATCH. */
export class UnknownAttributeError extends ProblemError {
  constructor(code: 'invalid_filter' | 'invalid_path' | 'invalid_value', name: string, position?: number) {
    const where = position === undefined ? '' : `At position ${position} of the filter: `;
    super(code, `${where}${quote(name)} is not an attribute of this resource.`);
  }
}
