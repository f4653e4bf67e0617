import { GROUP_SCHEMA, USER_SCHEMA } from '../../scim/protocol/urns.js';
import {
  DELETE_GROUP,
  NONE_FOUND,
  USER_FOUND,
  type Step,
  type Json,
  buildCreateStep,
  group,
  buildPatchStep,
  buildPutStep,
  buildReadStep,
  user,
} from './replay.js';

const MAIL = '{name}@example.org';
const buildSearchStep = (title: string, query: string, answer: Json): Step =>
  buildReadStep(title, `/${query}&startIndex=1&count=100`, answer);
const buildChangeStep = (title: string, path: string, operations: Json[], after: Json): Step =>
  buildPatchStep(title, path, operations, { status: 200, answer: after, after });
/** Creates a step that sends a PATCH of the user. Its operation has new values but no path. */
const buildReplaceStep = (title: string, value: Json, after = value): Step =>
  buildChangeStep(title, user, [{ op: 'replace', value }], after);
const buildUser = (active: boolean, givenName: string): { readonly [key: string]: Json } => ({
  schemas: [USER_SCHEMA],
  userName: MAIL,
  name: { givenName, familyName: 'Test' },
  emails: [{ primary: true, value: MAIL, type: 'work' }],
  displayName: `${givenName} Test`,
  locale: 'en-US',
  externalId: '{name}',
  active,
});
const buildPutUserStep = (title: string, active: boolean, givenName: string): Step =>
  buildPutStep(
    title,
    user,
    { ...buildUser(active, givenName), id: '{user}', groups: [], meta: { resourceType: 'User' } },
    { id: '{user}', active, name: { givenName, familyName: 'Test' }, externalId: '{name}' },
  );

/**
 * Requests as Okta sends them: PUT with the complete user, PATCH of `active` without a path, and a placeholder as password.
 */
export const OKTA: readonly Step[] = [
  buildReadStep('page of users', '/Users?startIndex=1&count=100', { startIndex: 1 }),
  buildReadStep('page of groups', '/Groups?startIndex=1&count=100', { startIndex: 1 }),
  buildSearchStep('match by userName, no user yet', `Users?filter=userName eq "${MAIL}"`, NONE_FOUND),
  buildCreateStep(
    'create a user with a placeholder as password',
    'user',
    { ...buildUser(true, 'Provisioning'), groups: [], password: '1mz050nq' },
    { userName: MAIL, active: true, displayName: 'Provisioning Test', password: null },
  ),
  buildCreateStep(
    'create another user',
    'colleague',
    { schemas: [USER_SCHEMA], userName: '{name}.2@example.org', active: true },
    { active: true },
  ),
  {
    title: 'create a user with a userName that is in use: conflict',
    method: 'POST',
    path: '/Users',
    status: 409,
    body: { ...buildUser(true, 'Provisioning'), externalId: '{name}.3' },
    answer: { scimType: 'uniqueness', status: '409' },
  },
  buildSearchStep('match by userName', `Users?filter=userName eq "${MAIL}"`, USER_FOUND),
  buildReadStep('read a user', user, { id: '{user}', userName: MAIL }),
  buildPutUserStep('update: PUT of the complete user', true, 'Pro'),
  buildReplaceStep('change the password to a placeholder', { password: 'x9' }, { active: true }),
  buildReplaceStep('disable: PATCH without a path', { active: false }),
  buildReplaceStep('enable: PATCH without a path', { active: true }),
  buildPutUserStep('disable: PUT', false, 'Pro'),
  buildPutUserStep('enable: PUT', true, 'Pro'),
  buildSearchStep('match a group by displayName', 'Groups?filter=displayName eq "{name}"', NONE_FOUND),
  buildCreateStep(
    'push a group with a member',
    'group',
    { schemas: [GROUP_SCHEMA], displayName: '{name}', members: [{ value: '{user}', display: MAIL }] },
    { displayName: '{name}', members: [{ value: '{user}' }] },
  ),
  buildChangeStep(
    'group: rename, with the id in the value',
    group,
    [{ op: 'replace', value: { id: '{group}', displayName: '{name}.b' } }],
    { displayName: '{name}.b', members: [{ value: '{user}' }] },
  ),
  buildChangeStep(
    'group: remove by filter and add',
    group,
    [
      { op: 'remove', path: 'members[value eq "{user}"]' },
      { op: 'add', path: 'members', value: [{ value: '{colleague}', display: '{name}.2@example.org' }] },
    ],
    { members: [{ value: '{colleague}' }] },
  ),
  buildChangeStep(
    'group: replace all members',
    group,
    [{ op: 'replace', path: 'members', value: [{ value: '{user}', display: MAIL }] }],
    { members: [{ value: '{user}' }] },
  ),
  buildPutStep(
    'group: PUT',
    group,
    { schemas: [GROUP_SCHEMA], id: '{group}', displayName: '{name}', members: [{ value: '{colleague}' }] },
    { displayName: '{name}', members: [{ value: '{colleague}' }] },
  ),
  DELETE_GROUP,
];
