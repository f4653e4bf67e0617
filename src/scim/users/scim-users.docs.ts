import { ApiProperty } from '@nestjs/swagger';
import { linkTo } from '../../platform/openapi/docs.js';
import { DescribedBy } from '../discovery/attribute.docs.js';
import { ENTERPRISE, ROLLCALL_USER, userSchema } from '../discovery/schemas.js';
import { docsOf } from '../http/resource.docs.js';
import { ScimListDto } from '../http/scim.docs.js';
import { MAX_COUNT } from '../protocol/list.js';
import { ENTERPRISE_SCHEMA, SEARCH_MESSAGE, USER_SCHEMA } from '../protocol/urns.js';

/** OpenAPI descriptions of the routes of `scim-users.controller.ts`. */

class ScimUserDto {
  schemas!: string[];
  id!: string;
}
// No decorator of the class: in the bundle it would cost the class its name, which the OpenAPI file shows.
DescribedBy(userSchema([]), [ENTERPRISE, ROLLCALL_USER], [USER_SCHEMA])(ScimUserDto);

class ScimUserListDto extends ScimListDto {
  @ApiProperty({ type: [ScimUserDto], maxItems: MAX_COUNT }) Resources!: ScimUserDto[];
}

const docs = docsOf({
  name: 'user',
  resource: ScimUserDto,
  list: ScimUserListDto,
  taken: ['username_taken', 'email_taken', 'external_id_taken', 'authname_taken'],
  ofChanges: ['last_webmaster', 'precondition_failed', 'fuse_blown', 'mutability'],
});

export const DocList = () =>
  docs.find(
    'In the order of their creation, or of `sortBy`. Filters on indexed attributes cost what they find: id, userName, ' +
      'externalId, emails, displayName, employeeNumber, department, active, roles, manager, groups, meta.created, ' +
      'meta.lastModified, name.givenName, name.familyName.',
    'userName eq "jane.doe"',
  );

export const DocSearch = () =>
  docs.search('As GET, with the parameters in the body, for filters that belong in no log.', {
    'by name': {
      value: { schemas: [SEARCH_MESSAGE], filter: 'userName sw "j"', startIndex: 1, count: 10 },
    },
  });

export const DocCreate = () =>
  docs.create(
    {
      standard: {
        value: {
          schemas: [USER_SCHEMA],
          userName: 'robin.ray',
          externalId: 'IDP-20001',
          name: { givenName: 'Robin', familyName: 'Ray' },
          emails: [{ value: 'robin.ray@example.org', type: 'work', primary: true }],
          active: true,
        },
      },
      entra: {
        value: {
          schemas: [USER_SCHEMA, ENTERPRISE_SCHEMA],
          userName: 'iris.king@example.org',
          externalId: 'b3f0a1d2-0001',
          displayName: 'Iris King',
          emails: [{ value: 'iris.king@example.org', type: 'work', primary: true }],
          active: true,
          [ENTERPRISE_SCHEMA]: { department: 'Research', employeeNumber: '701984' },
        },
      },
      okta: {
        value: {
          schemas: [USER_SCHEMA],
          userName: 'lin.wood@example.org',
          name: { givenName: 'Lin', familyName: 'Wood' },
          emails: [{ primary: true, value: 'lin.wood@example.org', type: 'work' }],
          locale: 'en-US',
          active: true,
        },
      },
    },
    {
      ...linkTo('getScimUser', 'id', '$response.body#/id'),
      ...linkTo('getUser', 'user_id', '$response.body#/id', 'The same user as the API shows it.'),
    },
    {},
    'mutability',
  );

export const DocGet = () => docs.get();

export const DocReplace = () =>
  docs.replace(
    'What is omitted is unassigned, but for active, roles, emails, password and extensions that are not named. ' +
      'For a key with the profile `midpoint` all that is omitted stays.',
    { rename: { value: { schemas: [USER_SCHEMA], userName: 'robin.newname', title: 'Guide' } } },
  );

export const DocPatch = () =>
  docs.patch(
    {
      summary: 'Change a user',
      description: 'Operations in their order, and all or none. For a key with the profile `entra` 204.',
    },
    {
      standard: { op: 'replace', path: 'name.familyName', value: 'Rey' },
      entra: { op: 'Replace', path: 'active', value: 'False' },
      okta: { op: 'replace', value: { active: false } },
      midpoint: { op: 'add', path: 'phoneNumbers', value: [{ type: 'work', value: '+1 555 0100' }] },
    },
  );

export const DocDelete = () =>
  docs.delete('Sessions end, memberships go, names are free. `rollcall users restore` brings the user back.');
