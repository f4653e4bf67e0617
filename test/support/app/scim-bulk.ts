import { randomUUID } from 'node:crypto';
import type { Answer, Json } from './client.js';
import { type ScimClient, aScimUser } from './scim.js';

/** An operation of a SCIM bulk request. */
export type Operation = Record<string, Json>;
const BULK = 'urn:ietf:params:scim:api:messages:2.0:BulkRequest';
export const post = (bulkId: string, data: Operation = aScimUser()): Operation => ({
  method: 'POST',
  path: '/Users',
  bulkId,
  data,
});
export const group = (bulkId: string, ...members: string[]): Operation => ({
  ...post(bulkId, { displayName: randomUUID(), members: members.map((value) => ({ value })) }),
  path: '/Groups',
});
export const patch = (id: string, path: string, value: Json): Operation => ({
  method: 'PATCH',
  path: `/Users/${id}`,
  data: [{ op: 'replace', path, value }],
});
export const remove = (id: string): Operation => ({ method: 'DELETE', path: `/Users/${id}` });

export const sendBulk = (
  client: ScimClient,
  Operations: Operation[],
  more: object = {},
  headers = {},
): Promise<Answer> => client.post('/Bulk', { schemas: [BULK], Operations, ...more }, headers);
export const statusesOf = (responses: Json[]) => responses.map(({ status }) => status);
export const idOf = ({ location }: Json): string => location.split('/').at(-1) as string;
