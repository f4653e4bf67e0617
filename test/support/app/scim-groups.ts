import type { Json } from './client.js';
import type { ScimClient } from './scim.js';

const GROUP = 'urn:ietf:params:scim:schemas:core:2.0:Group';
let names = 0;

/** The name of a group that there is not yet. */
export const aName = () => `Team ${++names}`;
export const pathOf = ({ id }: Json): string => `/Groups/${id as string}`;
/** Members, or other elements, of these ids. */
export const of = (...ids: string[]) => ids.map((value) => ({ value }));

/** A new group of an identity provider. */
export async function aScimGroup(scim: ScimClient, body: object = {}): Promise<Json> {
  const answer = await scim.post('/Groups', { schemas: [GROUP], displayName: aName(), ...body });
  if (answer.status !== 201) throw new Error(`${answer.status} ${answer.text}`);
  return answer.body;
}

export const membersIn = async (scim: ScimClient, group: Json): Promise<string[]> =>
  ((await scim.get(pathOf(group))).body.members ?? []).map(({ value }: Json) => value);
