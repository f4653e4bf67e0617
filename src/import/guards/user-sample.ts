import { TextNumbers, computeHash64 } from '../../users/set-rules/number-collections.js';

const MAX_USERS = 2 ** 15;

/** Set of users that keeps a sample of at most about 32,768 of all users. The sample depends only on the uuids. */
export class UserSample {
  private readonly uuids = new TextNumbers();
  private readonly divisor: number;

  /** @param total number of users from which the sample is taken. */
  constructor(total: number) {
    this.divisor = Math.max(1, Math.ceil(total / MAX_USERS));
  }

  isSampled(uuid: string): boolean {
    return this.divisor === 1 || (computeHash64(uuid)[0] >>> 0) % this.divisor === 0;
  }

  add(uuid: string): void {
    if (this.isSampled(uuid)) this.uuids.assignNumber(uuid);
  }

  has(uuid: string): boolean {
    return this.uuids.findNumber(uuid) !== 0;
  }
}
