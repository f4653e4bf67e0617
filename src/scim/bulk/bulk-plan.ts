import { ProblemError } from '../../platform/common/errors.js';
import { isObject } from '../../platform/common/json.js';
import { MAX_OPERATIONS } from '../discovery/discovery.view.js';
import { quoted } from '../protocol/errors.js';
import { lowerCased } from '../protocol/input.js';

/** Operations of one Bulk that may set a password: each costs a hash. */
const MAX_PASSWORDS = 50;
export const MAX_BULK_ID = 255;

const METHODS: readonly string[] = ['POST', 'PUT', 'PATCH', 'DELETE'];

/** One operation as it was sent. */
export interface BulkOperation {
  /** Its position in the request, from 0. */
  readonly index: number;
  /** In capitals. An unknown method is shown as it was sent. */
  readonly method: string;
  readonly bulkId?: string;
  /** The reason why it is not executed. Such an operation has no path and no data. */
  readonly error?: ProblemError;
  readonly type: 'Users' | 'Groups';
  /** Of a PUT, PATCH and DELETE: a uuid, or `bulkId:` and the name of an operation. */
  readonly id: string;
  /** The version that was read (`If-Match`). */
  readonly version?: string;
  readonly data?: unknown;
  /** The operations whose resources it names by their `bulkId`. */
  readonly references: ReadonlySet<string>;
}

export interface BulkPlan {
  /** In the order of execution. */
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
  try {
    if (bulkId !== shown) throw invalid(`bulkId may have at most ${MAX_BULK_ID} characters`);
    if (isTaken) throw invalid('bulkId is that of an operation before');
    return { ...head, ...readWork(members, method, bulkId) };
  } catch (error) {
    if (!(error instanceof ProblemError)) throw error;
    return { ...head, error, type: 'Users', id: '', references: new Set() };
  }
}

const PATH = /^\/?(users|groups)(?:\/([^/?#]+))?\/?$/i;

/** @throws ProblemError `invalid_value`, `invalid_syntax` */
function readWork(
  members: ReadonlyMap<string, unknown>,
  method: string,
  bulkId: string | undefined,
): Pick<BulkOperation, 'type' | 'id' | 'version' | 'data' | 'references'> {
  if (!METHODS.includes(method)) throw invalid('method must be POST, PUT, PATCH or DELETE');
  const path = members.get('path');
  const found = typeof path === 'string' ? PATH.exec(path) : null;
  if (!found)
    throw invalid('path must be /Users or /Groups, with an id behind it where the method needs one');
  const [, kind = '', id = ''] = found;
  if (method === 'POST' && id !== '') throw invalid('path of a POST has no id');
  if (method === 'POST' && bulkId === undefined) throw invalid('bulkId is required with POST');
  if (method !== 'POST' && id === '') throw invalid(`path of a ${method} needs an id`);
  const data = members.get('data');
  if (method !== 'DELETE' && (typeof data !== 'object' || data === null)) {
    throw new ProblemError('invalid_syntax', `A ${method} needs data: a JSON object.`);
  }
  const version = members.get('version') ?? '';
  if (typeof version !== 'string') throw invalid('version must be a string');
  return {
    type: kind.toLowerCase() === 'users' ? 'Users' : 'Groups',
    id,
    ...(version !== '' && { version }),
    data,
    references: referencesIn(id, method === 'DELETE' ? undefined : data),
  };
}

const invalid = (what: string): ProblemError => new ProblemError('invalid_value', `${what}.`);

/** The error of an operation that refers to a failed or missing operation. */
export const unresolved = (bulkId: string): ProblemError =>
  new ProblemError('invalid_value', `There is no resource of the operation ${quoted(bulkId)}.`);

/** Puts operations in the order sent, but each after the operations that it refers to. A circle begins at one of them. */
function inOrder(operations: readonly BulkOperation[]): BulkOperation[] {
  const named = new Map<string, BulkOperation>();
  for (const operation of operations) {
    const { bulkId, error } = operation;
    if (bulkId !== undefined && !error) named.set(bulkId, operation);
  }
  const seen = new Set<BulkOperation>();
  const order: BulkOperation[] = [];
  const visit = (operation: BulkOperation): void => {
    if (seen.has(operation)) return;
    seen.add(operation);
    for (const bulkId of operation.references) {
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

/** Returns the share of an operation in a set: a PATCH of many operations takes the time of many. */
export function weightOf({ method, data }: BulkOperation): number {
  if (method !== 'PATCH') return 1;
  const steps = isObject(data) ? lowerCased(data).get('operations') : data;
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

const PREFIX = 'bulkId:';
/** A whole text, or the end of a `$ref`. */
const REFERENCE = /^(?:.*\/)?bulkId:(.+)$/s;
/** In the filter of a PATCH path. */
const QUOTED = /"bulkId:([^"\\]+)"/g;

/** Returns the `bulkId` that an id or a value names, if any. */
export function bulkIdIn(text: string): string | undefined {
  return text.startsWith(PREFIX) && text.length > PREFIX.length ? text.slice(PREFIX.length) : undefined;
}

/** Returns the operations that an operation names: by its id, and in its data. */
export function referencesIn(id: string, data: unknown): ReadonlySet<string> {
  const found = new Set<string>();
  const own = bulkIdIn(id);
  if (own !== undefined) found.add(own);
  resolved(data, (bulkId) => {
    found.add(bulkId);
    return '';
  });
  return found;
}

/**
 * Returns the data of an operation with ids where members called `value`, `$ref` and `path` name operations of the Bulk, and nowhere
 * else (RFC 7644, section 3.7.2): any other text may happen to look like that.
 */
export function resolved(data: unknown, idOf: (bulkId: string) => string): unknown {
  if (Array.isArray(data)) return data.map((each: unknown) => resolved(each, idOf));
  if (!isObject(data)) return data;
  return Object.fromEntries(
    Object.entries(data).map(([name, value]) => [name, member(name.toLowerCase(), value, idOf)]),
  );
}

function member(name: string, value: unknown, idOf: (bulkId: string) => string): unknown {
  if (name === 'value' && Array.isArray(value)) return value.map((each: unknown) => member(name, each, idOf));
  if (typeof value !== 'string') return resolved(value, idOf);
  if (name === 'path') return value.replace(QUOTED, (_, bulkId: string) => `"${idOf(bulkId)}"`);
  if (name === '$ref') {
    const bulkId = REFERENCE.exec(value)?.[1];
    return bulkId === undefined ? value : value.slice(0, -(PREFIX.length + bulkId.length)) + idOf(bulkId);
  }
  const bulkId = name === 'value' ? bulkIdIn(value) : undefined;
  return bulkId === undefined ? value : idOf(bulkId);
}
