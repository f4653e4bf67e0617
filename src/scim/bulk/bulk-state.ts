import type { Caller } from '../../access/actor.js';
import { ProblemError } from '../../platform/common/errors.js';
import { isUuid } from '../../platform/common/uuid.js';
import { weakEtagOf, parseWeakIfMatch } from '../../platform/http/request-headers.js';
import { toErrorBody } from '../http/scim-format.js';
import type { PendingChange } from '../users/scim-user-changes.service.js';
import { type BulkOperation, resolveReferences } from './bulk-plan.js';
import type { BulkAnswerDto } from './bulk.dto.js';

/** An operation that will be executed or rejected next. */
export interface BulkItem {
  /** Position in execution order. */
  position: number;
  operation: BulkOperation;
  /** The id of the user or group, known even before a user is created. */
  id: string;
  error?: ProblemError;
  /** The change of a user, once it is prepared. */
  change?: PendingChange;
}

/** Operations that were executed together, and the position of the next operation. */
export interface BulkPart {
  next: number;
  answers: readonly (readonly [position: number, response: BulkAnswerDto])[];
}

/** The executed operations of a Bulk request, with their responses. */
export class BulkState {
  private readonly responses = new Map<number, BulkAnswerDto>();
  private readonly errors: number[] = [];
  /** Maps the `bulkId` of each successful operation to the id of its resource. */
  private readonly ids = new Map<string, string>();

  /** @param base the absolute URL of `/scim/v2` @param isBrief true if a PATCH responds with 204 */
  constructor(
    private readonly failOnErrors: number,
    private readonly base: string,
    private readonly isBrief: boolean,
  ) {}

  addResponse({ index, bulkId }: BulkOperation, answer: BulkAnswerDto): void {
    this.responses.set(index, answer);
    if (isError(answer)) this.errors.push(index);
    else if (bulkId !== undefined) this.ids.set(bulkId, answer.location?.split('/').at(-1) ?? '');
  }

  /** Returns the id of the resource that a successful operation has created or changed. */
  idOf(bulkId: string): string | undefined {
    return this.ids.get(bulkId);
  }

  /**
   * Returns the index of the last operation that may be executed: the operation with the last allowed error.
   * @param furtherErrors indexes of further errors
   */
  findLastIndex(furtherErrors: readonly number[]): number {
    if (this.errors.length + furtherErrors.length < this.failOnErrors) return Infinity;
    const indexes = [...this.errors, ...furtherErrors].toSorted((a, b) => a - b);
    return indexes[this.failOnErrors - 1] ?? Infinity;
  }

  isSkipped({ index }: BulkOperation): boolean {
    return index > this.findLastIndex([]);
  }

  /**
   * Lists the responses in request order. Operations after the last allowed error are included only if they were
   * executed early because of a reference.
   */
  listResponses(): BulkAnswerDto[] {
    const last = this.findLastIndex([]);
    return [...this.responses]
      .filter(([index, answer]) => index <= last || !isError(answer))
      .toSorted(([a], [b]) => a - b)
      .map(([, answer]) => answer);
  }

  /** Builds the response to an operation. @param result its error, or the user or group after the change */
  buildResponse(
    { operation, id, error }: BulkItem,
    result: ProblemError | { uuid: string; version: number } | undefined,
  ): BulkAnswerDto {
    const { method, bulkId, type } = operation;
    const head = { method, ...(bulkId !== undefined && { bulkId }) };
    if (result instanceof ProblemError) {
      const response = toErrorBody(result);
      const location = !error && method !== 'POST' && isUuid(id) && `${this.base}/${type}/${id}`;
      return { ...head, ...(location && { location }), status: response.status, response };
    }
    const isEmpty = method === 'DELETE' || (method === 'PATCH' && this.isBrief);
    return {
      ...head,
      location: `${this.base}/${type}/${result?.uuid ?? id}`,
      ...(result && method !== 'DELETE' && { version: weakEtagOf(result) }),
      status: method === 'POST' ? '201' : isEmpty ? '204' : '200',
    };
  }
}

const isError = ({ response }: BulkAnswerDto): boolean => response !== undefined;

/** The service that writes users or groups. */
interface ResourceWriter<T> {
  create: (body: unknown, caller: Caller, id: string) => Promise<T>;
  replace: (id: string, body: unknown, caller: Caller, ifVersions?: readonly number[]) => Promise<T>;
  patch: ResourceWriter<T>['replace'];
  delete: (id: string, caller: Caller, ifVersions?: readonly number[]) => T | Promise<T>;
}

/** Executes an operation. @param idOf returns the id of the resource to which a `bulkId` refers. */
export async function execute<T>(
  writer: ResourceWriter<T>,
  { id, operation: { method, version, data: sent, references } }: BulkItem,
  idOf: (bulkId: string) => string | undefined,
  caller: Caller,
): Promise<T> {
  const data = references.size > 0 ? resolveReferences(sent, (bulkId) => idOf(bulkId) ?? '') : sent;
  const versions = parseWeakIfMatch(version);
  if (method === 'POST') return writer.create(data, caller, id);
  if (method === 'PUT') return writer.replace(id, data, caller, versions);
  if (method === 'PATCH') return writer.patch(id, data, caller, versions);
  return writer.delete(id, caller, versions);
}

/**
 * Returns an error that can be the response to an operation.
 * @throws the error if it is internal, or if the client should repeat the request. Such an error must not be stored as
 * the response to an idempotent request.
 */
export function toItemError(error: unknown, { repeatable }: Caller): ProblemError {
  if (error instanceof ProblemError && (error.status < 500 || (!repeatable && error.code !== 'internal')))
    return error;
  throw error;
}
