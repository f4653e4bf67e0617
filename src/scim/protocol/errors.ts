import { type ErrorCode, ProblemError } from '../../platform/common/errors.js';
import { TAKEN_CODES } from '../../users/rules/failure.js';

/** The error codes of each `scimType` (RFC 7644 §3.12, RFC 9865 §2.1). Other errors have a status only. */
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

/** Maximum length of request text that an error quotes, so that responses do not grow with requests. */
const MAX_QUOTED = 100;

export function quote(text: string): string {
  const short = text.length <= MAX_QUOTED ? text : `${text.slice(0, MAX_QUOTED)}…`;
  return `"${short.toWellFormed()}"`;
}

export const createNotFoundError = (type: 'User' | 'Group', id: string): ProblemError =>
  new ProblemError('not_found', `There is no ${type.toLowerCase()} ${quote(id)}.`);

/** @param position position in the filter, from 1. */
export function toFilterError(position: number, message: string): ProblemError {
  return new ProblemError('invalid_filter', `At position ${position} of the filter: ${message}.`);
}

/** Signals an attribute that is not in the schemas. A profile may ignore it in a PATCH path. */
export class UnknownAttributeError extends ProblemError {
  /** @param position position in the filter, if any. */
  constructor(code: 'invalid_filter' | 'invalid_path' | 'invalid_value', name: string, position?: number) {
    const where = position === undefined ? '' : `At position ${position} of the filter: `;
    super(code, `${where}${quote(name)} is not an attribute of this resource.`);
  }
}
