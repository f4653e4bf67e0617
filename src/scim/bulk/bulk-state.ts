import { ProblemError } from '../../platform/common/errors.js';
import type { BulkOperation } from './bulk-plan.js';
import type { BulkAnswerDto } from './bulk.dto.js';

/** What has been done of a Bulk, and what came of it. */
export class BulkState {
  private readonly answers = new Map<number, BulkAnswerDto>();
  private readonly errors: number[] = [];
  /** Ids by the `bulkId` of operations that have succeeded. */
  private readonly ids = new Map<string, string>();

  constructor(private readonly failOnErrors: number) {}

  add({ index, bulkId, work }: BulkOperation, answer: BulkAnswerDto): void {
    this.answers.set(index, answer);
    if (isError(answer)) this.errors.push(index);
    else if (bulkId !== undefined && !(work instanceof ProblemError)) {
      this.ids.set(bulkId, answer.location?.split('/').at(-1) ?? '');
    }
  }

  /** The id of what an operation has made or changed. */
  idOf(bulkId: string): string | undefined {
    return this.ids.get(bulkId);
  }

  /** The last operation that may be done, as its place in the request: that of the n-th error. @param more errors. */
  lastWith(more: readonly number[]): number {
    if (this.errors.length + more.length < this.failOnErrors) return Infinity;
    const all = [...this.errors, ...more].toSorted((a, b) => a - b);
    return all[this.failOnErrors - 1] ?? Infinity;
  }

  isBeyond({ index }: BulkOperation): boolean {
    return index > this.lastWith([]);
  }

  /** In the order sent. What was done behind the last error, because an operation before it needed it, is answered too. */
  all(): BulkAnswerDto[] {
    const last = this.lastWith([]);
    return [...this.answers]
      .filter(([index, answer]) => index <= last || !isError(answer))
      .toSorted(([a], [b]) => a - b)
      .map(([, answer]) => answer);
  }
}

const isError = ({ response }: BulkAnswerDto): boolean => response !== undefined;
