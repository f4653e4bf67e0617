import { type ErrorCode, ProblemError } from '../../platform/common/errors.js';
import { isUuid } from '../../platform/common/uuid.js';

/** The `scimType` of an error (RFC 7644 §3.12, RFC 9865 §2.1); an error without one has its status alone. */
const SCIM_TYPES: ReadonlyMap<ErrorCode, string> = new Map<ErrorCode, string>([
  ['malformed_json', 'invalidSyntax'],
  ['invalid_syntax', 'invalidSyntax'],
  ['invalid_value', 'invalidValue'],
  ['invalid_parameter', 'invalidValue'],
  ['validation_failed', 'invalidValue'],
  ['invalid_filter', 'invalidFilter'],
  ['invalid_path', 'invalidPath'],
  ['no_target', 'noTarget'],
  ['mutability', 'mutability'],
  ['too_many', 'tooMany'],
  ['invalid_cursor', 'invalidCursor'],
  ['invalid_count', 'invalidCount'],
  ['username_taken', 'uniqueness'],
  ['email_taken', 'uniqueness'],
  ['external_id_taken', 'uniqueness'],
  ['display_name_taken', 'uniqueness'],
  ['authname_taken', 'uniqueness'],
]);

/** All of them. */
export const scimTypes = (): string[] => [...new Set(SCIM_TYPES.values())];

export function scimTypeOf(code: ErrorCode): string | undefined {
  return SCIM_TYPES.get(code);
}

/** What a request quotes in an error is cut, so that an answer does not grow with it. */
const QUOTED = 100;

export function quoted(text: string): string {
  const short = text.length <= QUOTED ? text : `${text.slice(0, QUOTED)}…`;
  return `"${short.toWellFormed()}"`;
}

export const notFound = (type: 'user' | 'group', id: string): ProblemError =>
  new ProblemError('not_found', `There is no ${type} ${quoted(id)}.`);

/** Returns an id as a uuid. @throws ProblemError `not_found` */
export function uuidOf(type: 'user' | 'group', id: string): string {
  if (!isUuid(id)) throw notFound(type, id);
  return id.toLowerCase();
}

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
