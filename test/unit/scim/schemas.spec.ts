import { expect, test } from '@jest/globals';
import { buildProviderConfig, toTypeView } from '../../../src/scim/discovery/discovery.view.js';
import { toSchemaView, schemasOf } from '../../../src/scim/discovery/discovery.view.js';
import { ENTERPRISE_SCHEMA, ROLLCALL_USER_SCHEMA, USER_SCHEMA } from '../../../src/scim/protocol/urns.js';
import { GROUP, USER } from './resources.js';

const BASE = 'https://x.example/scim/v2';
const views = schemasOf({ user: USER, group: GROUP }).map((schema) => toSchemaView(schema, BASE));

test('the SCIM schemas are User, EnterpriseUser, Group, RollcallUser and RollcallGroup', () => {
  const names = ['User', 'EnterpriseUser', 'Group', 'RollcallUser', 'RollcallGroup'];
  expect(views.map(({ name }) => name)).toEqual(names);
  expect(views[0]?.meta.location).toBe(`${BASE}/Schemas/${USER_SCHEMA}`);
});

test('every SCIM attribute has the properties of RFC 7643', () => {
  for (const { id, attributes } of views) {
    for (const attribute of attributes) {
      expect(attribute).toMatchObject({ description: expect.any(String), required: expect.any(Boolean) });
      expect(attribute.type === 'complex').toBe(attribute.subAttributes !== undefined);
      const resource = USER.findSchema(id) ? USER : GROUP;
      const found = resource.resolvePath(`${id}:${attribute.name}`.toUpperCase());
      expect(found?.attribute.name).toBe(attribute.name);
      for (const { name } of attribute.subAttributes ?? []) {
        expect(resource.resolvePath(`${id}:${attribute.name}.${name}`)?.sub?.name).toBe(name);
      }
    }
  }
});

test('an attribute outside the SCIM schemas is unknown', () => {
  const inherited = ['__proto__', 'constructor', 'prototype', 'toString', 'name.__proto__'];
  for (const name of [...inherited, 'employeeNumber', 'name.', '.name', ''])
    expect(USER.resolvePath(name)).toBeUndefined();
  expect(GROUP.resolvePath('userName')).toBeUndefined();
});

test('the SCIM schema lists the configured roles', () => {
  expect(USER.resolvePath('roles.value')?.sub?.canonicalValues).toEqual(['Author', 'Publisher']);
  expect(USER.findAttribute('password')).toMatchObject({ mutability: 'writeOnly', returned: 'never' });
});

test('a SCIM resource type lists its schema extensions', () => {
  const extensions = [ENTERPRISE_SCHEMA, ROLLCALL_USER_SCHEMA].map((schema) => ({ schema, required: false }));
  expect(toTypeView(USER, BASE)).toMatchObject({ endpoint: '/Users', schemaExtensions: extensions });
});

test('the SCIM provider configuration states the list and Bulk limits', () => {
  expect(buildProviderConfig(BASE)).toMatchObject({
    filter: { supported: true, maxResults: 200 },
    bulk: { maxOperations: 1000, maxPayloadSize: 4194304 },
    pagination: { cursor: true, index: true, defaultPageSize: 100, maxPageSize: 200 },
  });
});
