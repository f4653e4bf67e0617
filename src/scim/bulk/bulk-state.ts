import type { Caller } from '../../access/actor.js';
import { ProblemError } from '../../platform/common/errors.js';
import { isUuid } from '../../platform/common/uuid.js';
import type { Resources } from '../discovery/resources.js';
import { toErrorBody } from '../http/scim-format.js';
import type { PendingChange } from '../../users/writer/change-set.js';
import { type BulkOperation, type BulkPlan, resolveReferences } from './bulk-plan.js';
import type { BulkAnswerDto } from './bulk.dto.js';

/** An operation of a Bulk request, with the data for its execution. */
export interface BulkItem {
  /** Position of the operation in the order of execution. */
  position: number;
  operation: BulkOperation;
  /** The id of the user or group. A new user or group has an id even before it is created. */
  id: string;
  /** The versions that the operation allows, or undefined if it allows any version. */
  ifVersions?: readonly number[] | undefined;
  error?: ProblemError;
  change?: PendingChange;
}

/** The responses to operations that were executed together, and the position of the next operation. */
export interface BulkPart {
  next: number;
  answers: readonly (readonly [position: number, response: BulkAnswerDto])[];
}

/** The progress of a Bulk request, with the responses to the operations executed so far. */
export class BulkState {
  private readonly responses = new Map<number, BulkAnswerDto>();
  private readonly failed = new Set<BulkOperation>();
  private readonly ids = new Map<string, string>();

  /**
   * @param isBrief true if the response to a PATCH has status 204 and no resource
   */
  constructor(
    private readonly plan: BulkPlan,
    readonly resources: Resources,
    private readonly isBrief: boolean,
  ) {}

  addResponse(operation: BulkOperation, answer: BulkAnswerDto): void {
    const { index, bulkId } = operation;
    this.responses.set(index, answer);
    if (isError(answer)) this.addFailed(operation, this.failed);
    else if (bulkId !== undefined) this.ids.set(bulkId, answer.location?.split('/').at(-1) ?? '');
  }

  /**
   * Returns the id of the resource of the operation with this `bulkId`, or undefined if the operation has not
   * succeeded.
   */
  readonly idOf = (bulkId: string): string | undefined => this.ids.get(bulkId);

  /** Adds an operation to the failed operations, with all operations that depend on it and therefore fail too. */
  addFailed(operation: BulkOperation, failed: Set<BulkOperation>): void {
    if (failed.has(operation)) return;
    failed.add(operation);
    this.addDependents(operation, failed);
  }

  addDependents({ bulkId, error }: BulkOperation, failed: Set<BulkOperation>): void {
    if (bulkId === undefined || error) return; // an operation with this error has no bulkId of its own
    for (const other of this.plan.operations) if (other.references.has(bulkId)) this.addFailed(other, failed);
  }

  /**
   * Returns the index in the request of the operation with the last allowed error. Returns Infinity if there are fewer
   * errors than `failOnErrors`.
   * @param further failed operations that are not yet stored here
   */
  findStopIndex(further: ReadonlySet<BulkOperation> = new Set()): number {
    const failed = new Set([...this.failed, ...further]);
    if (failed.size < this.plan.failOnErrors) return Infinity;
    const indexes = [...failed].map(({ index }) => index).toSorted((a, b) => a - b);
    return indexes[this.plan.failOnErrors - 1] ?? Infinity;
  }

  isSkipped({ index }: BulkOperation): boolean {
    return index > this.findStopIndex();
  }

  /**
   * Lists the responses in the order of the request. After the last allowed error, includes only successful operations,
   * which were executed early because an earlier operation refers to them.
   */
  listResponses(): BulkAnswerDto[] {
    const last = this.findStopIndex();
    return [...this.responses]
      .filter(([index, answer]) => index <= last || !isError(answer))
      .toSorted(([a], [b]) => a - b)
      .map(([, answer]) => answer);
  }

  /** @param result the error of the operation, the user or group after the change, or undefined for a deleted group */
  buildResponse(
    { operation, id, error }: BulkItem,
    result: ProblemError | { uuid: string; version: number } | undefined,
  ): BulkAnswerDto {
    const { method, bulkId, type } = operation;
    const head = { method, ...(bulkId !== undefined && { bulkId }) };
    if (result instanceof ProblemError) {
      const response = toErrorBody(result);
      const location = !error && method !== 'POST' && isUuid(id) && `${this.resources.base}/${type}/${id}`;
      return { ...head, ...(location && { location }), status: response.status, response };
    }
    const isEmpty = method === 'DELETE' || (method === 'PATCH' && this.isBrief);
    return {
      ...head,
      location: `${this.resources.base}/${type}/${result?.uuid ?? id}`,
      ...(result && method !== 'DELETE' && { version: this.resources.tags.weakTagOf(result) }),
      status: method === 'POST' ? '201' : isEmpty ? '204' : '200',
    };
  }
}

const isError = ({ response }: BulkAnswerDto): boolean => response !== undefined;

interface ResourceWriter<T> {
  create: (body: unknown, caller: Caller, id: string) => Promise<T>;
  replace: (id: string, body: unknown, caller: Caller, ifVersions?: readonly number[]) => Promise<T>;
  patch: ResourceWriter<T>['replace'];
  delete: (id: string, caller: Caller, ifVersions?: readonly number[]) => T | Promise<T>;
}

/** @param idOf returns the id of the resource to which a `bulkId` refers. */
export async function executeOperation<T>(
  writer: ResourceWriter<T>,
  { id, ifVersions, operation: { method, data: sent, references } }: BulkItem,
  idOf: (bulkId: string) => string | undefined,
  caller: Caller,
): Promise<T> {
  const data = references.size > 0 ? resolveReferences(sent, (bulkId) => idOf(bulkId) ?? '') : sent;
  if (method === 'POST') return writer.create(data, caller, id);
  if (method === 'PUT') return writer.replace(id, data, caller, ifVersions);
  if (method === 'PATCH') return writer.patch(id, data, caller, ifVersions);
  return writer.delete(id, caller, ifVersions);
}

/**
 * Converts an error to the error in the response to an operation.
 * @throws the error itself if it is internal. With an `Idempotency-Key`, also throws other errors with status 5xx,
 * which must not be stored, because the client should repeat the request.
 */
export function toItemError(error: unknown, { repeatable }: Caller): ProblemError {
  if (error instanceof ProblemError && (error.status < 500 || (!repeatable && error.code !== 'internal')))
    return error;
  throw error;
}
