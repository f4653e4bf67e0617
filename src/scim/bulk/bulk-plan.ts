import { ProblemError } from '../../platform/common/errors.js';
import { isObject } from '../../platform/common/json.js';
import { MAX_OPERATIONS } from '../discovery/discovery.view.js';
import { quoted } from '../protocol/errors.js';
import { lowerCased } from '../protocol/input.js';
import { referencesIn } from './bulk-references.js';

/** Operations of one Bulk that may set a password: each costs a hash. */
const MAX_PASSWORDS = 50;
export const MAX_BULK_ID = 255;

const METHODS = ['POST', 'PUT', 'PATCH', 'DELETE'] as const;
type BulkMethod = (typeof METHODS)[number];

/** One operation as it was sent. */
export interface BulkOperation {
  /** Its place in the request, from 0. */
  index: number;
  /** As it was sent, in capitals, where it is none of those that there are. */
  method: string;
  bulkId?: string;
  /** What it does; the reason why it does nothing. */
  work: BulkWork | ProblemError;
}

export interface BulkWork {
  method: BulkMethod;
  type: 'Users' | 'Groups';
  /** Of a PUT, PATCH and DELETE: a uuid, or `bulkId:` and what that stands for. */
  id: string;
  /** The version that was read (`If-Match`). */
  version?: string;
  data: unknown;
  /** The operations whose resources it names by their `bulkId`. */
  references: ReadonlySet<string>;
}

export interface BulkPlan {
  /** In the order in which they are done. */
  operations: readonly BulkOperation[];
  /** With so many errors, in the order sent, the Bulk ends. */
  failOnErrors: number;
}

/**
 * Reads a BulkRequest (RFC 7644, section 3.7). What is wrong with one operation is the answer to that one.
 * @throws ProblemError `invalid_syntax`, `invalid_value`; `too_large` for too many operations, or passwords.
 */
export function readBulk(body: object): BulkPlan {
  const members = lowerCased({ ...body });
  const sent = members.get('operations');
  if (!Array.isArray(sent) || sent.length === 0) {
    throw new ProblemError('invalid_syntax', 'A Bulk needs Operations, a list of at least one.');
  }
  if (sent.length > MAX_OPERATIONS) {
    throw new ProblemError('too_large', `A Bulk may have at most ${MAX_OPERATIONS} operations.`);
  }
  const list: readonly unknown[] = sent;
  if (list.filter(setsPassword).length > MAX_PASSWORDS) {
    throw new ProblemError(
      'too_large',
      `A Bulk may have at most ${MAX_PASSWORDS} operations with a password.`,
    );
  }
  const names = new Set<string>();
  const operations = list.map((raw, index) => readOperation(raw, index, names));
  return { operations: inOrder(operations), failOnErrors: errorsIn(members.get('failonerrors')) };
}

function errorsIn(value: unknown): number {
  if (value === undefined || value === null) return Infinity;
  if (typeof value === 'number' && Number.isInteger(value) && value > 0) return value;
  throw new ProblemError('invalid_value', 'failOnErrors must be an integer from 1.');
}

function readOperation(raw: unknown, index: number, names: Set<string>): BulkOperation {
  const members = isObject(raw) ? lowerCased(raw) : new Map<string, unknown>();
  const given = members.get('method');
  const method = typeof given === 'string' ? given.toUpperCase().slice(0, 10) : '';
  const named = members.get('bulkid');
  const bulkId = typeof named === 'string' && named !== '' ? named : undefined;
  const shown = bulkId?.slice(0, MAX_BULK_ID);
  const head = { index, method, ...(shown !== undefined && { bulkId: shown }) };
  const isTaken = shown !== undefined && names.has(shown);
  if (shown !== undefined) names.add(shown);
  if (bulkId !== shown)
    return { ...head, work: invalid(`bulkId may have at most ${MAX_BULK_ID} characters`) };
  if (isTaken) return { ...head, work: invalid('bulkId is that of an operation before') };
  return { ...head, work: readWork(members, method, bulkId) };
}

const PATH = /^\/?(users|groups)(?:\/([^/?#]+))?\/?$/i;

function readWork(
  members: ReadonlyMap<string, unknown>,
  given: string,
  bulkId: string | undefined,
): BulkWork | ProblemError {
  const method = METHODS.find((known) => known === given);
  if (!method) return invalid('method must be POST, PUT, PATCH or DELETE');
  const path = members.get('path');
  const found = typeof path === 'string' ? PATH.exec(path) : null;
  if (!found)
    return invalid('path must be /Users or /Groups, with an id behind it where the method needs one');
  const [, kind = '', id = ''] = found;
  if (method === 'POST' && id !== '') return invalid('path of a POST has no id');
  if (method === 'POST' && bulkId === undefined) return invalid('bulkId is required with POST');
  if (method !== 'POST' && id === '') return invalid(`path of a ${method} needs an id`);
  const data = members.get('data');
  if (method !== 'DELETE' && (typeof data !== 'object' || data === null)) {
    return new ProblemError('invalid_syntax', `A ${method} needs data: a JSON object.`);
  }
  const version = members.get('version');
  if (version !== undefined && version !== null && typeof version !== 'string') {
    return invalid('version must be a string');
  }
  return {
    method,
    type: kind.toLowerCase() === 'users' ? 'Users' : 'Groups',
    id,
    ...(typeof version === 'string' && version !== '' && { version }),
    data,
    references: referencesIn(id, method === 'DELETE' ? undefined : data),
  };
}

const invalid = (what: string): ProblemError => new ProblemError('invalid_value', `${what}.`);

/** The error of an operation that names one by a `bulkId` which came to nothing. */
export const unresolved = (bulkId: string): ProblemError =>
  new ProblemError('invalid_value', `There is no resource of the operation ${quoted(bulkId)}.`);

/** As sent, but each behind those that it refers to. Where they refer to one another in a circle, one of them is first. */
function inOrder(operations: readonly BulkOperation[]): BulkOperation[] {
  const named = new Map<string, BulkOperation>();
  for (const operation of operations) {
    const { bulkId, work } = operation;
    if (bulkId !== undefined && !(work instanceof ProblemError)) named.set(bulkId, operation);
  }
  const seen = new Set<BulkOperation>();
  const order: BulkOperation[] = [];
  const visit = (operation: BulkOperation): void => {
    if (seen.has(operation)) return;
    seen.add(operation);
    const { work } = operation;
    for (const bulkId of work instanceof ProblemError ? [] : work.references) {
      const other = named.get(bulkId);
      if (other) visit(other);
    }
    order.push(operation);
  };
  for (const operation of operations) visit(operation);
  return order;
}

/** Operations of a PATCH that cost about as much as one of another method. */
const STEPS_OF_ONE = 10;

/** What an operation counts for in a set: a PATCH of many operations takes the time of many. */
export function weightOf({ work }: BulkOperation): number {
  if (work instanceof ProblemError || work.method !== 'PATCH') return 1;
  const steps = isObject(work.data) ? lowerCased(work.data).get('operations') : work.data;
  return Array.isArray(steps) ? Math.max(1, Math.ceil(steps.length / STEPS_OF_ONE)) : 1;
}

const PASSWORD = /(?:^|:)password$/i;

/** Whether anything in an operation is a password, by its name or by the path of a PATCH. */
function setsPassword(value: unknown): boolean {
  if (Array.isArray(value)) return value.some(setsPassword);
  if (!isObject(value)) return false;
  return Object.entries(value).some(
    ([name, held]) =>
      PASSWORD.test(name) ||
      (typeof held === 'string'
        ? name.toLowerCase() === 'path' && PASSWORD.test(held.trim())
        : setsPassword(held)),
  );
}
