import { ApiProperty } from '@nestjs/swagger';
import { TAKEN_CODES } from '../../users/rules/failure.js';
import { describeResources } from '../discovery/resources.js';
import { ScimListDto, buildResourceDocs } from '../http/scim.docs.js';
import { MAX_COUNT } from '../protocol/list.js';
import { ENTERPRISE_SCHEMA, USER_SCHEMA } from '../protocol/urns.js';

class ScimUserDto {
  schemas!: string[];
  id!: string;
}

class ScimUserListDto extends ScimListDto {
  @ApiProperty({ type: [ScimUserDto], maxItems: MAX_COUNT }) Resources!: ScimUserDto[];
}

/** Descriptions of the routes of `scim-users.controller.ts`. */
export const DocUser = buildResourceDocs({
  description: describeResources([]).user,
  resource: ScimUserDto,
  list: ScimUserListDto,
  taken: TAKEN_CODES,
  ofChanges: ['last_webmaster', 'fuse_blown', 'mutability'],
});

/** Users as identity providers create them. */
export const NEW_USERS = {
  standard: {
    schemas: [USER_SCHEMA],
    userName: 'robin.ray',
    externalId: 'IDP-20001',
    name: { givenName: 'Robin', familyName: 'Ray' },
    emails: [{ value: 'robin.ray@example.org', type: 'work', primary: true }],
    active: true,
  },
  entra: {
    schemas: [USER_SCHEMA, ENTERPRISE_SCHEMA],
    userName: 'iris.king@example.org',
    externalId: 'b3f0a1d2-0001',
    displayName: 'Iris King',
    emails: [{ value: 'iris.king@example.org', type: 'work', primary: true }],
    active: true,
    [ENTERPRISE_SCHEMA]: { department: 'Research', employeeNumber: '701984' },
  },
  okta: {
    schemas: [USER_SCHEMA],
    userName: 'lin.wood@example.org',
    name: { givenName: 'Lin', familyName: 'Wood' },
    emails: [{ primary: true, value: 'lin.wood@example.org', type: 'work' }],
    locale: 'en-US',
    active: true,
  },
};
