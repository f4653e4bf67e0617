import { PATCH_MESSAGE } from '../../scim/protocol/urns.js';
import type { KeyProfile } from '../../access/actor.js';

/**
 * JSON with placeholders. `{name}` is a name that is new in each replay. `{user}`, `{colleague}` and `{group}` are the ids
 * of resources that earlier steps created.
 */
export type Json = string | number | boolean | null | readonly Json[] | { readonly [key: string]: Json };

export const isList = (template: Json): template is readonly Json[] => Array.isArray(template);

/** Paths of the resources that a replay creates and finally deletes. */
export const RESOURCE_PATHS = { user: 'Users', colleague: 'Users', group: 'Groups' } as const;
export type ResourceName = keyof typeof RESOURCE_PATHS;

/** Request of an identity provider, with the expected response. */
export interface Step {
  title: string;
  method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  /** Path relative to `/scim/v2`. A filter in the path is not yet URL-encoded. */
  path: string;
  body?: Json;
  status: number;
  /**
   * Expected response. The actual objects may have further members, but lists must have the same length. An expected
   * null means that the member must be absent.
   */
  answer?: Json;
  /** Resource that `path` must return after the request. Undefined to skip this check. */
  after?: Json;
  /** Placeholder that gets the id of the resource that this step creates. */
  makes?: ResourceName;
}

export type Provider = Exclude<KeyProfile, 'standard'>;

export const NONE_FOUND = { totalResults: 0 };
export const buildSingleResult = (resource: Json): Json => ({ totalResults: 1, Resources: [resource] });
export const USER_FOUND = buildSingleResult({ id: '{user}' });
export const GROUP_FOUND = buildSingleResult({ id: '{group}' });

export function buildPatchStep(title: string, path: string, operations: Json[], expected: Expected): Step {
  const body = { schemas: [PATCH_MESSAGE], Operations: operations };
  return { title, method: 'PATCH', path, body, ...expected };
}
type Expected = Pick<Step, 'status' | 'answer' | 'after'>;

export function buildReadStep(title: string, path: string, answer: Json): Step {
  return { title, method: 'GET', path, status: 200, answer };
}

export const user = '/Users/{user}';
export const group = '/Groups/{group}';

export function buildCreateStep(title: string, makes: ResourceName, body: Json, answer: Json): Step {
  return { title, method: 'POST', path: `/${RESOURCE_PATHS[makes]}`, makes, status: 201, body, answer };
}

export function buildPutStep(title: string, path: string, body: Json, answer: Json): Step {
  return { title, method: 'PUT', path, body, status: 200, answer };
}

export const DELETE_GROUP: Step = { title: 'delete a group', method: 'DELETE', path: group, status: 204 };
export const DELETE_USER: readonly Step[] = [
  { title: 'delete a user', method: 'DELETE', path: user, status: 204 },
  { title: 'a deleted user does not exist', method: 'GET', path: user, status: 404 },
];
