import type { Json } from './client.js';
import type { ScimClient } from './scim.js';

const GROUP = 'urn:ietf:params:scim:schemas:core:2.0:Group';
export const ROLES = 'urn:ietf:params:scim:schemas:extension:rollcall:2.0:Group';
let names = 0;

/** Returns a new group name. */
export const aName = () => `Team ${++names}`;
export const pathOf = ({ id }: Json): string => `/Groups/${id as string}`;
/** Converts ids to elements such as members. */
export const toRefs = (...ids: string[]) => ids.map((value) => ({ value }));

/** Creates a group through SCIM. */
export async function aScimGroup(scim: ScimClient, body: object = {}): Promise<Json> {
  const response = await scim.post('/Groups', { schemas: [GROUP], displayName: aName(), ...body });
  if (response.status !== 201) throw new Error(`${response.status} ${response.text}`);
  return response.body;
}

export const listMemberIds = async (scim: ScimClient, group: Json): Promise<string[]> =>
  ((await scim.get(pathOf(group))).body.members ?? []).map(({ value }: Json) => value);
