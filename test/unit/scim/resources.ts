import { ProblemError } from '../../../src/platform/common/errors.js';
import { describeResources } from '../../../src/scim/discovery/resources.js';
import type { ScimObject } from '../../../src/scim/protocol/attribute.js';
import { ENTERPRISE_SCHEMA, ROLLCALL_USER_SCHEMA, USER_SCHEMA } from '../../../src/scim/protocol/urns.js';

export const { user: USER, group: GROUP } = describeResources(['Author', 'Publisher']);

export const ID = '0199aaaa-0000-7000-8000-00000000000a';

/** A user with values of every kind. */
export const JANE: ScimObject = {
  schemas: [USER_SCHEMA, ENTERPRISE_SCHEMA, ROLLCALL_USER_SCHEMA],
  id: ID,
  externalId: 'Ext-1',
  userName: 'Jane@Example.org',
  name: { givenName: 'Jane', familyName: "O'Malley", formatted: 'Ms. Jane O\'Malley "JJ"' },
  displayName: 'Jane  Straße',
  title: 'Tour Guide',
  userType: 'Employee',
  active: true,
  emails: [
    { value: 'jane@example.com', type: 'work', primary: true },
    { value: 'jane@home.example', type: 'home', display: 'Home' },
  ],
  phoneNumbers: [{ value: '+1 555', type: 'work' }],
  ims: [{ value: 'jane@foo.com', type: 'xmpp' }],
  roles: [{ value: 'Author' }],
  meta: {
    resourceType: 'User',
    created: '2011-05-13T04:42:34.000Z',
    lastModified: '2011-05-14T04:42:34.500Z',
  },
  [ENTERPRISE_SCHEMA]: {
    employeeNumber: '701984',
    manager: { value: '26118915-6090-4610-87e4-49d8ca9f808d' },
  },
  [ROLLCALL_USER_SCHEMA]: { hideEmail: true, authname: [{ method: 'saml', value: 'JaneS' }] },
};

/** Returns the catalogue error that a function throws. Any other result fails the test. */
export function problemOf(run: () => unknown): ProblemError {
  try {
    run();
  } catch (error) {
    if (error instanceof ProblemError) return error;
    throw error;
  }
  throw new Error('nothing was thrown');
}

/** Returns the catalogue error with which a promise rejects. Any other result fails the test. */
export async function rejectionOf(result: Promise<unknown>): Promise<ProblemError> {
  const [settled] = await Promise.allSettled([result]);
  return problemOf(() => {
    if (settled.status === 'rejected') throw settled.reason;
  });
}
