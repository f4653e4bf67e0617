import { ProblemError } from '../../platform/common/errors.js';

/** A change that a fuse refuses; its transaction writes nothing. */
export class FuseBlown extends ProblemError {
  /** @param seconds until there is room again. */
  constructor(detail: string, seconds: number) {
    const until = `It has room again in ${seconds} seconds; another credential can reset it (POST /api_keys/{id}/fuse).`;
    super('fuse_blown', `${detail} ${until}`, { headers: { 'Retry-After': String(seconds) } });
  }
}

/** A change that would be one too many for the fuse of a key. */
export class FuseOverrun extends FuseBlown {
  constructor(
    /** The key, or the first of its family. */
    readonly keyId: string,
    /** Users that would have been blocked within the hour. */
    readonly count: number,
    readonly limit: number,
    seconds: number,
  ) {
    super(
      `The fuse of API key ${keyId} has blown: it may block ${limit} users within an hour, and this would be ${count}.`,
      seconds,
    );
  }
}
