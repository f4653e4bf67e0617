import type { Profile } from '../../access/actor.js';

/** A text may hold `{name}`, which is new in each replay, or the id of what an earlier step made: `{user}`. */
export type Template =
  string | number | boolean | null | readonly Template[] | { readonly [key: string]: Template };

export const isList = (template: Template): template is readonly Template[] => Array.isArray(template);

/** What a replay makes, and deletes at its end. */
export const MADE = { user: 'Users', colleague: 'Users', group: 'Groups' } as const;
export type Made = keyof typeof MADE;

/** A request of a provider, and what it needs to be answered. */
export interface Step {
  what: string;
  method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  /** Below `/scim/v2`; filters as text, which is encoded when it is sent. */
  path: string;
  body?: Template;
  status: number;
  /** Must be in the answer: of objects these members, of lists all elements; null is absent. */
  answer?: Template;
  /** Must be in the resource of the path, which is read after the request. */
  after?: Template;
  /** The id of the answer is that of this resource from here on. */
  makes?: Made;
}

/** A provider whose requests are known. */
export type Provider = Exclude<Profile, 'standard'>;

export const NONE_FOUND = { totalResults: 0 };
/** A list of one resource with these members. */
export const oneFound = (resource: Template): Template => ({ totalResults: 1, Resources: [resource] });
export const USER = 'urn:ietf:params:scim:schemas:core:2.0:User';
export const GROUP = 'urn:ietf:params:scim:schemas:core:2.0:Group';
export const ENTERPRISE = 'urn:ietf:params:scim:schemas:extension:enterprise:2.0:User';

const PATCH_OP = 'urn:ietf:params:scim:api:messages:2.0:PatchOp';

/** Builds a PATCH, with what is expected of it. */
export const patch = (
  what: string,
  path: string,
  operations: Template[],
  expected: Pick<Step, 'status' | 'answer' | 'after'>,
): Step => ({
  what,
  method: 'PATCH',
  path,
  body: { schemas: [PATCH_OP], Operations: operations },
  ...expected,
});

/** Builds a GET whose answer must have these members. */
export const read = (what: string, path: string, answer: Template): Step => ({
  what,
  method: 'GET',
  path,
  status: 200,
  answer,
});

/** Paths of what the steps create. */
export const user = '/Users/{user}';
export const group = '/Groups/{group}';

/** Builds a POST of a resource that a replay creates. */
export const create = (what: string, makes: Made, body: Template, answer: Template): Step => ({
  what,
  method: 'POST',
  path: `/${MADE[makes]}`,
  makes,
  status: 201,
  body,
  answer,
});

/** Builds a PUT with its answer. */
export const put = (what: string, path: string, body: Template, answer: Template): Step => ({
  what,
  method: 'PUT',
  path,
  body,
  status: 200,
  answer,
});

export const DELETE_GROUP: Step = { what: 'delete a group', method: 'DELETE', path: group, status: 204 };
/** The steps by which a provider deletes a user. */
export const DELETE_USER: readonly Step[] = [
  { what: 'delete a user', method: 'DELETE', path: user, status: 204 },
  { what: 'a deleted user is gone', method: 'GET', path: user, status: 404 },
];
