import type { Caller } from '../../access/actor.js';
import { ProblemError } from '../../platform/common/errors.js';
import { isUuid } from '../../platform/common/uuid.js';
import type { WaitingChange } from '../users/scim-user-changes.service.js';
import { etagOf } from '../../platform/http/request-headers.js';
import { errorBody } from '../http/scim-format.js';
import type { BulkOperation, BulkWork } from './bulk-plan.js';
import type { BulkAnswerDto } from './bulk.dto.js';

/** An operation that is about to be done, or to be refused. */
export interface BulkItem {
  /** Its place in the order of doing. */
  place: number;
  operation: BulkOperation;
  /** The user or group: known before a new user is made. */
  id: string;
  work: BulkWork | ProblemError;
  /** Of a user, once it is prepared. */
  waiting?: WaitingChange;
}

/** Operations that were done together, and the place where the next ones begin. */
export interface BulkPart {
  next: number;
  answers: readonly (readonly [place: number, answer: BulkAnswerDto])[];
}

/** The answers to operations. @param base the absolute URL of `/scim/v2`. @param isBrief whether a PATCH is answered 204. */
export class BulkAnswers {
  constructor(
    private readonly base: string,
    private readonly isBrief: boolean,
  ) {}

  /** @param made the user or group afterwards. */
  success(item: BulkItem, made: { uuid: string; version: number } | undefined): BulkAnswerDto {
    const { work } = item;
    if (work instanceof ProblemError) return this.failure(item, work);
    const brief = work.method === 'DELETE' || (work.method === 'PATCH' && this.isBrief);
    return {
      ...headOf(item.operation),
      location: `${this.base}/${work.type}/${made?.uuid ?? item.id}`,
      ...(made && work.method !== 'DELETE' && { version: etagOf(made) }),
      status: work.method === 'POST' ? '201' : brief ? '204' : '200',
    };
  }

  failure({ operation, work, id }: BulkItem, error: ProblemError): BulkAnswerDto {
    const response = errorBody(error);
    const exists = !(work instanceof ProblemError) && work.method !== 'POST' && isUuid(id);
    return {
      ...headOf(operation),
      ...(exists && { location: `${this.base}/${work.type}/${id}` }),
      status: response.status,
      response,
    };
  }
}

const headOf = ({ method, bulkId }: BulkOperation): Pick<BulkAnswerDto, 'method' | 'bulkId'> => ({
  method,
  ...(bulkId !== undefined && { bulkId }),
});

/**
 * An error as the answer to operations. @throws the error where it is ours, or where the same request will be sent again: an
 * answer that is kept may not be one of those that a repetition is to cure.
 */
export function answerable(error: unknown, { repeatable }: Caller): ProblemError {
  if (error instanceof ProblemError && (error.status < 500 || (!repeatable && error.code !== 'internal')))
    return error;
  throw error;
}
