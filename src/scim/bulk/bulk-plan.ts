import { ProblemError } from '../../platform/common/errors.js';
import { isObject } from '../../platform/common/json.js';
import { toBatches } from '../../platform/common/time-slice.js';
import { MAX_OPERATIONS } from '../discovery/discovery.view.js';
import { quote } from '../protocol/errors.js';
import { lowerCaseNames } from '../protocol/input.js';

/** Maximum number of operations with a password in one Bulk request. Hashing each password is slow. */
const MAX_PASSWORDS = 50;
/** Maximum number of JSON values in one operation, because an operation is read without a pause. */
const MAX_VALUES = 20_000;
export const MAX_BULK_ID = 255;
export const MAX_VERSION = 64;
export const MAX_PATH = 1000;

const METHODS: readonly string[] = ['POST', 'PUT', 'PATCH', 'DELETE'];

export interface BulkOperation {
  /** Position of the operation in the request, from 0. */
  readonly index: number;
  /** The HTTP method in capitals. Can be any text, because the response repeats even an invalid method. */
  readonly method: string;
  readonly bulkId?: string;
  /** Set if the operation is invalid. Such an operation has neither an id nor data. */
  readonly error?: ProblemError;
  readonly type: 'Users' | 'Groups';
  /**
   * The id in the path of a PUT, PATCH or DELETE operation: a uuid, or `bulkId:` followed by the `bulkId` of another
   * operation.
   */
  readonly id: string;
  /** The version that the resource must have, as with `If-Match`. */
  readonly version?: string;
  readonly data?: unknown;
  /** The `bulkId` of each operation whose resource this operation refers to. */
  readonly references: ReadonlySet<string>;
}

export interface BulkPlan {
  /** The operations in the order in which they are executed. */
  operations: readonly BulkOperation[];
  /** Number of errors after which the Bulk request ends, counted in the order of the request. */
  failOnErrors: number;
}

/**
 * Reads a BulkRequest (RFC 7644, section 3.7). An invalid operation gets an error as its response.
 * @throws ProblemError `invalid_syntax`, `invalid_value`, or `too_large` for too many operations or passwords.
 */
export async function readBulkRequest(body: object): Promise<BulkPlan> {
  const members = lowerCaseNames({ ...body });
  const sent = members.get('operations');
  if (!Array.isArray(sent) || sent.length === 0)
    throw new ProblemError('invalid_syntax', 'A Bulk request needs at least one operation in Operations.');
  if (sent.length > MAX_OPERATIONS) {
    throw new ProblemError('too_large', `A Bulk request may have at most ${MAX_OPERATIONS} operations.`);
  }
  const names = new Set<string>();
  const operations: BulkOperation[] = [];
  let passwords = 0;
  for await (const [raw] of toBatches<unknown>(sent, 1)) {
    const { values, hasPassword } = inspect(raw);
    if (hasPassword && ++passwords > MAX_PASSWORDS)
      throw new ProblemError('too_large', `A Bulk request may set at most ${MAX_PASSWORDS} passwords.`);
    operations.push(readOperation(raw, operations.length, names, values > MAX_VALUES));
  }
  const failOnErrors = readMaxErrors(members.get('failonerrors'));
  return { operations: sortOperations(operations, failOnErrors < Infinity), failOnErrors };
}

function readMaxErrors(value: unknown): number {
  if (value === undefined || value === null) return Infinity;
  if (typeof value === 'number' && Number.isInteger(value) && value > 0) return value;
  throw new ProblemError('invalid_value', 'failOnErrors must be an integer of at least 1.');
}

function readOperation(raw: unknown, index: number, names: Set<string>, isLarge: boolean): BulkOperation {
  const members = isObject(raw) ? lowerCaseNames(raw) : new Map<string, unknown>();
  const given = members.get('method');
  const method = typeof given === 'string' ? given.toUpperCase().slice(0, 10) : '';
  const named = members.get('bulkid');
  const bulkId = typeof named === 'string' && named !== '' ? named : undefined;
  const shown = bulkId?.slice(0, MAX_BULK_ID);
  const head = { index, method, ...(shown !== undefined && { bulkId: shown }) };
  const isTaken = shown !== undefined && names.has(shown);
  if (shown !== undefined) names.add(shown);
  try {
    if (bulkId !== shown) throw createValueError(`bulkId may have at most ${MAX_BULK_ID} characters`);
    if (isLarge) throw createValueError(`an operation may have at most ${MAX_VALUES} JSON values`);
    if (isTaken) throw createValueError('bulkId is already used by an earlier operation');
    return { ...head, ...readContent(members, method, bulkId) };
  } catch (error) {
    if (!(error instanceof ProblemError)) throw error;
    return { ...head, error, type: 'Users', id: '', references: new Set() };
  }
}

const PATH = /^\/?(users|groups)(?:\/([^/?#]+))?\/?$/i;

function readContent(
  members: ReadonlyMap<string, unknown>,
  method: string,
  bulkId: string | undefined,
): Pick<BulkOperation, 'type' | 'id' | 'version' | 'data' | 'references'> {
  if (!METHODS.includes(method)) throw createValueError('method must be POST, PUT, PATCH or DELETE');
  const path = members.get('path');
  const found = typeof path === 'string' && path.length <= MAX_PATH ? PATH.exec(path) : null;
  if (!found)
    throw createValueError('path must be /Users or /Groups, followed by an id for PUT, PATCH and DELETE');
  const [, kind = '', id = ''] = found;
  if (method === 'POST' && id !== '') throw createValueError('path must not have an id for POST');
  if (method === 'POST' && bulkId === undefined) throw createValueError('bulkId is required for POST');
  if (method !== 'POST' && id === '') throw createValueError(`path must have an id for ${method}`);
  const data = members.get('data');
  if (method !== 'DELETE' && (typeof data !== 'object' || data === null)) {
    throw new ProblemError('invalid_syntax', `A ${method} operation needs a JSON object in data.`);
  }
  const version = members.get('version') ?? '';
  if (typeof version !== 'string' || version.length > MAX_VERSION)
    throw createValueError(`version must be a string of at most ${MAX_VERSION} characters`);
  return {
    type: kind.toLowerCase() === 'users' ? 'Users' : 'Groups',
    id,
    ...(version !== '' && { version }),
    data,
    references: findReferences(id, method === 'DELETE' ? undefined : data),
  };
}

const createValueError = (message: string): ProblemError => new ProblemError('invalid_value', `${message}.`);

export const createUnresolvedError = (bulkId: string): ProblemError =>
  new ProblemError('invalid_value', `The operation with bulkId ${quote(bulkId)} is missing or has failed.`);

/**
 * Sorts operations so that each operation comes after the operations to which it refers. Otherwise keeps the order of
 * the request. In a circular reference, one operation comes too early.
 * @param defersGroups true to move groups after the users to which they refer, false to move these users before the
 * groups. If users are not moved, failed operations before them can prevent their creation (`failOnErrors`).
 */
function sortOperations(operations: readonly BulkOperation[], defersGroups: boolean): BulkOperation[] {
  const valid = operations.filter(({ error }) => !error);
  const named = new Map(valid.map((operation) => [operation.bulkId, operation]));
  const findTargets = ({ references }: BulkOperation) =>
    [...references].flatMap((bulkId) => named.get(bulkId) ?? []);
  const seen = new Set<BulkOperation>();
  const sorted: BulkOperation[] = [];
  const addInOrder = (operation: BulkOperation): void => {
    if (seen.has(operation)) return;
    seen.add(operation);
    for (const target of findTargets(operation)) addInOrder(target);
    sorted.push(operation);
  };
  /** Groups in the order of the request, each with the index of the last user to which it or an earlier group refers. */
  const waiting: { group: BulkOperation; last: number }[] = [];
  for (const operation of operations) {
    if (defersGroups && operation.type === 'Groups') {
      const users = findTargets(operation).filter(({ type }) => type === 'Users');
      waiting.push({ group: operation, last: users.reduce((last, { index }) => Math.max(last, index), -1) });
    } else addInOrder(operation);
    for (let next = waiting[0]; next && next.last <= operation.index; next = waiting[0]) {
      waiting.shift();
      addInOrder(next.group);
    }
  }
  return sorted;
}

/** Number of PATCH steps that together cost about as much as one operation with another method. */
const STEPS_PER_OPERATION = 10;

/** Returns the weight of an operation in a set. A PATCH with many steps weighs as much as several operations. */
export function weightOf({ method, data }: BulkOperation): number {
  if (method !== 'PATCH') return 1;
  const steps = isObject(data) ? lowerCaseNames(data).get('operations') : data;
  return Array.isArray(steps) ? Math.max(1, Math.ceil(steps.length / STEPS_PER_OPERATION)) : 1;
}

const PASSWORD = /(?:^|:)password$/i;

/** Counts the JSON values of an operation, and searches it for a password. Stops above `MAX_VALUES`. */
function inspect(value: unknown, found = { values: 0, hasPassword: false }): typeof found {
  found.values++;
  if (typeof value !== 'object' || value === null) return found;
  for (const [name, held] of Object.entries(value) as [string, unknown][]) {
    if (found.values > MAX_VALUES) break;
    const isPath = name.toLowerCase() === 'path' && typeof held === 'string';
    found.hasPassword ||= PASSWORD.test(name) || (isPath && PASSWORD.test(held.trim()));
    inspect(held, found);
  }
  return found;
}

const PREFIX = 'bulkId:';
/** Matches a reference `bulkId:…`, also at the end of a `$ref`. */
const REFERENCE = /^(?:.*\/)?bulkId:(.+)$/s;
/** Matches a quoted or unquoted reference in the filter of a PATCH path. */
const PATH_REFERENCE = /"bulkId:([^"\\]+)"|bulkId:(?<=\s[Ee][Qq]\s+bulkId:)([^\s"()[\]]+)/g;
/** Lower-case names of members that can hold an id: `value`, and attributes that accept the id without an object. */
const VALUE_NAMES: ReadonlySet<string> = new Set(['value', 'members', 'manager']);

/** Returns the `bulkId` in a text of the form `bulkId:…`, or undefined for any other text. */
export function parseBulkId(text: string): string | undefined {
  return text.startsWith(PREFIX) && text.length > PREFIX.length ? text.slice(PREFIX.length) : undefined;
}

export function findReferences(id: string, data: unknown): ReadonlySet<string> {
  const found = new Set<string>();
  const own = parseBulkId(id);
  if (own !== undefined) found.add(own);
  resolveReferences(data, (bulkId) => {
    found.add(bulkId);
    return '';
  });
  return found;
}

/**
 * Returns the data of an operation with each reference replaced by the id of its resource. Searches
 * only `$ref`, paths, and `value`, including text in place of an object with `value` (RFC 7644, section 3.7.2). Other
 * text may look like a reference by chance.
 */
export function resolveReferences(data: unknown, idOf: (bulkId: string) => string): unknown {
  if (Array.isArray(data)) return data.map((each: unknown) => resolveReferences(each, idOf));
  if (!isObject(data)) return data;
  return Object.fromEntries(
    Object.entries(data).map(([name, value]) => [
      resolvePath(name, idOf),
      resolveMember(lastNameOf(name).toLowerCase(), value, idOf),
    ]),
  );
}

/** Returns the last attribute name in a member name that may be a path, such as `manager` in `urn:x:User:manager`. */
function lastNameOf(path: string): string {
  const named = path.endsWith(']') ? path.slice(0, path.indexOf('[')) : path;
  return named.slice(Math.max(named.lastIndexOf(':'), named.lastIndexOf('.')) + 1);
}

const resolvePath = (path: string, idOf: (bulkId: string) => string): string =>
  path.replace(
    PATH_REFERENCE,
    (_, quoted?: string, unquoted?: string) => `"${idOf(quoted ?? unquoted ?? '')}"`,
  );

function resolveMember(name: string, value: unknown, idOf: (bulkId: string) => string): unknown {
  const isValue = VALUE_NAMES.has(name);
  if (isValue && Array.isArray(value)) return value.map((each: unknown) => resolveMember(name, each, idOf));
  if (typeof value !== 'string') return resolveReferences(value, idOf);
  if (name === 'path') return resolvePath(value, idOf);
  if (name === '$ref') {
    const bulkId = REFERENCE.exec(value)?.[1];
    return bulkId === undefined ? value : value.slice(0, -(PREFIX.length + bulkId.length)) + idOf(bulkId);
  }
  const bulkId = isValue ? parseBulkId(value) : undefined;
  return bulkId === undefined ? value : idOf(bulkId);
}
