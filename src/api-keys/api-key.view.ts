import { type DbTime, toIso } from '../platform/common/time.js';
import type { ApiKeyDto } from './api-keys.docs.js';
import type { ApiKey } from './api-key.mapping.js';

/** The answer for a key: a white list, with times in ISO 8601; never the key or its hash. */
export function presentApiKey(key: ApiKey): ApiKeyDto {
  const { id, name, state, created, expires, revoked, last_used, last_address, maker } = key;
  return {
    id,
    name,
    state,
    scopes: key.scopes && [...key.scopes],
    networks: key.networks && [...key.networks],
    unknown_fields: key.ignoresUnknownFields ? 'ignore' : 'refuse',
    profile: key.profile,
    maker,
    created: toIso(created),
    expires: isoOrNull(expires),
    revoked: isoOrNull(revoked),
    last_used: isoOrNull(last_used),
    last_address,
  };
}

const isoOrNull = (time: DbTime | null): string | null => (time === null ? null : toIso(time));
