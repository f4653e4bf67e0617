import { type DbTime, toIso } from '../common/time.js';
import type { ApiKeyDto } from './api-keys.docs.js';
import type { ApiKey } from './api-keys.service.js';

/** The answer for a key: a white list, with times in ISO 8601; never the key or its hash. */
export function presentApiKey({ id, name, state, created, expires, revoked, last_used }: ApiKey): ApiKeyDto {
  return {
    id,
    name,
    state,
    created: toIso(created),
    expires: isoOrNull(expires),
    revoked: isoOrNull(revoked),
    last_used: isoOrNull(last_used),
  };
}

const isoOrNull = (time: DbTime | null): string | null => (time === null ? null : toIso(time));
