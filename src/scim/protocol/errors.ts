import { type ErrorCode, ProblemError } from '../../platform/common/errors.js';
import { TAKEN_CODES } from '../../users/rules/failure.js';

/** The errors of each `scimType` (RFC 7644 §3.12, RFC 9865 §2.1). Other errors have their status alone. */
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

export const scimTypes = (): string[] => Object.keys(SCIM_TYPES);

export const scimTypeOf = (code: ErrorCode): string | undefined =>
  scimTypes().find((type) => SCIM_TYPES[type]?.includes(code));

/** What a request quotes in an error is cut, so that an answer does not grow with it. */
const QUOTED = 100;

export function quoted(text: string): string {
  const short = text.length <= QUOTED ? text : `${text.slice(0, QUOTED)}…`;
  return `"${short.toWellFormed()}"`;
}

export const notFound = (type: 'User' | 'Group', id: string): ProblemError =>
  new ProblemError('not_found', `There is no ${type.toLowerCase()} ${quoted(id)}.`);

/** @param position in the filter, counted from 1. */
export function invalidFilter(position: number, what: string): ProblemError {
  return new ProblemError('invalid_filter', `At position ${position} of the filter: ${what}.`);
}

/** A name that the schemas do not have; a profile may ignore it in a PATCH path. */
export class UnknownAttributeError extends ProblemError {
  /** @param position in the filter, where there is one. */
  constructor(code: 'invalid_filter' | 'invalid_path' | 'invalid_value', name: string, position?: number) {
    const where = position === undefined ? '' : `At position ${position} of the filter: `;
    super(code, `${where}${quoted(name)} is not an attribute of this resource.`);
  }
}
