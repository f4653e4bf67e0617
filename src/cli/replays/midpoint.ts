import { ENTERPRISE_SCHEMA, GROUP_SCHEMA, SEARCH_MESSAGE, USER_SCHEMA } from '../../scim/protocol/urns.js';
import {
  DELETE_GROUP,
  DELETE_USER,
  GROUP_FOUND,
  NONE_FOUND,
  type Json,
  type Step,
  buildCreateStep,
  group,
  buildSingleResult,
  buildPatchStep,
  buildPutStep,
  buildReadStep,
  user,
} from './replay.js';

const FILTER = 'userName eq "{name}"';
const buildActiveStep = (title: string, active: boolean, answer: Json): Step =>
  buildPutStep(title, user, { schemas: [USER_SCHEMA], active }, answer);
const FEATURES = { patch: { supported: true }, filter: { supported: true } };
const RESOURCE_TYPES = { totalResults: 2, Resources: [{ name: 'User' }, { name: 'Group' }] };
const buildPageStep = (title: string, startIndex: number): Step => {
  const path = `/Users?filter=userName sw "{name}"&startIndex=${startIndex}&count=1`;
  return buildReadStep(title, path, { totalResults: 2, itemsPerPage: 1, startIndex });
};

/**
 * Requests as midPoint connectors send them: discovery first, PUT with partial resources, `/.search`, and pages by index.
 */
export const MIDPOINT: readonly Step[] = [
  buildReadStep('discovery: features of the service', '/ServiceProviderConfig', FEATURES),
  buildReadStep('discovery: resource types', '/ResourceTypes', RESOURCE_TYPES),
  buildReadStep('discovery: the schema of users', `/Schemas/${USER_SCHEMA}`, { id: USER_SCHEMA }),
  buildReadStep('page of users', '/Users?startIndex=1&count=20', { startIndex: 1 }),
  buildReadStep(
    'match by userName, no user yet',
    `/Users?filter=${FILTER}&startIndex=1&count=20`,
    NONE_FOUND,
  ),
  buildCreateStep(
    'create a user',
    'user',
    {
      schemas: [USER_SCHEMA, ENTERPRISE_SCHEMA],
      userName: '{name}',
      externalId: '{name}',
      name: { givenName: 'Provisioning', familyName: 'Test' },
      emails: [{ value: '{name}@example.org', type: 'work', primary: true }],
      title: 'Tester',
      active: true,
      [ENTERPRISE_SCHEMA]: { costCenter: '4130' },
    },
    { userName: '{name}', active: true },
  ),
  buildCreateStep(
    'create another user',
    'colleague',
    { schemas: [USER_SCHEMA], userName: '{name}.2', emails: [{ value: '{name}.2@example.org' }] },
    { active: true },
  ),
  {
    title: 'match by /.search',
    method: 'POST',
    path: '/Users/.search',
    status: 200,
    body: { schemas: [SEARCH_MESSAGE], filter: FILTER, startIndex: 1, count: 20, attributes: ['userName'] },
    answer: buildSingleResult({ id: '{user}', userName: '{name}', title: null }),
  },
  buildPageStep('first page of a search', 1),
  buildPageStep('second page of a search', 2),
  buildPutStep(
    'update: PUT with only some attributes',
    user,
    { schemas: [USER_SCHEMA], name: { givenName: 'Pro', familyName: 'Test' } },
    {
      userName: '{name}',
      title: 'Tester',
      name: { givenName: 'Pro', familyName: 'Test' },
      [ENTERPRISE_SCHEMA]: { costCenter: '4130' },
    },
  ),
  buildActiveStep('disable: PUT with only active', false, { userName: '{name}', active: false }),
  buildActiveStep('enable: PUT with only active', true, { active: true }),
  buildPatchStep(
    'update: PATCH with paths',
    user,
    [
      { op: 'replace', path: 'title', value: 'Senior tester' },
      { op: 'remove', path: `${ENTERPRISE_SCHEMA}:costCenter` },
      { op: 'replace', path: 'active', value: false },
    ],
    { status: 200, answer: { title: 'Senior tester', active: false, [ENTERPRISE_SCHEMA]: null } },
  ),
  buildCreateStep(
    'create a group',
    'group',
    { schemas: [GROUP_SCHEMA], displayName: '{name}' },
    { displayName: '{name}' },
  ),
  buildPutStep(
    'group: PUT of members',
    group,
    { schemas: [GROUP_SCHEMA], members: [{ value: '{user}' }] },
    { displayName: '{name}', members: [{ value: '{user}' }] },
  ),
  buildPatchStep(
    'group: PATCH that adds one member and removes another',
    group,
    [
      { op: 'add', path: 'members', value: [{ value: '{colleague}' }] },
      { op: 'remove', path: 'members[value eq "{user}"]' },
    ],
    { status: 200, after: { members: [{ value: '{colleague}' }] } },
  ),
  buildReadStep(
    'groups of a member',
    '/Groups?filter=members.value eq "{colleague}"&startIndex=1&count=20',
    GROUP_FOUND,
  ),
  DELETE_GROUP,
  ...DELETE_USER,
];
