import { ProblemError } from '../../common/errors.js';

/** A change that would be one too many for the fuse of a key; its transaction writes nothing. */
export class FuseBlown extends ProblemError {
  constructor(
    readonly keyId: string,
    /** Users that the key would have blocked within the hour. */
    readonly count: number,
    readonly limit: number,
    /** Seconds until there is room again. */
    retryAfter: number,
  ) {
    const detail =
      `The fuse of API key ${keyId} has blown: it may block ${limit} users within an hour, and this would be ${count}. ` +
      `It has room again in ${retryAfter} seconds; another credential can reset it (POST /api_keys/{id}/fuse).`;
    super('fuse_blown', detail, { headers: { 'Retry-After': String(retryAfter) } });
  }
}
