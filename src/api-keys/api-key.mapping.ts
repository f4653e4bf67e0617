import { DEFAULT_PROFILE, type KeyActor, type KeyRights, type Profile } from '../access/actor.js';
import { fromJson } from '../platform/common/json.js';
import type { DbTime } from '../platform/common/time.js';
import type { ApiKeyEntity } from './api-key.entity.js';

export type KeyState = 'active' | 'expired' | 'revoked';

/** A key as it is shown: its row without the hash, opened. */
export interface ApiKey extends KeyRights {
  id: string;
  name: string;
  state: KeyState;
  created: DbTime;
  revoked: DbTime | null;
  last_used: DbTime | null;
  last_address: string | null;
  ignoresUnknownFields: boolean;
  profile: Profile;
  /** Who made it; `unknown` for keys of earlier versions. */
  maker: { kind: string; id: string | null };
}

const rightsIn = ({ scopes, networks, expires }: ApiKeyEntity): KeyRights => ({
  scopes: scopes && fromJson(scopes),
  networks: networks && fromJson(networks),
  expires,
});

export const toActor = (row: ApiKeyEntity): KeyActor => ({
  kind: 'key',
  id: row.id,
  rights: rightsIn(row),
  ignoresUnknownFields: row.ignores_unknown_fields === 1,
  profile: row.profile ?? DEFAULT_PROFILE,
});

export function shown(row: ApiKeyEntity, time: DbTime): ApiKey {
  const { id, name, created, revoked, last_used, last_address, maker_kind, maker_id } = row;
  return {
    id,
    name,
    state: stateOf(row, time),
    created,
    revoked,
    last_used,
    last_address,
    ...rightsIn(row),
    ignoresUnknownFields: row.ignores_unknown_fields === 1,
    profile: row.profile ?? DEFAULT_PROFILE,
    maker: { kind: maker_kind ?? 'unknown', id: maker_id },
  };
}

export function stateOf(
  { revoked, expires }: Pick<ApiKeyEntity, 'revoked' | 'expires'>,
  time: DbTime,
): KeyState {
  if (revoked !== null) return 'revoked';
  return expires !== null && expires <= time ? 'expired' : 'active';
}
