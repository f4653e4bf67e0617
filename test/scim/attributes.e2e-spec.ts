import { beforeAll, describe, expect, test } from '@jest/globals';
import { setUpApp } from '../support/app/app.js';
import type { Json } from '../support/app/client.js';
import { USER, aScimUser, errorOf, provision, scimOf } from '../support/app/scim.js';
import { sendBulk } from '../support/app/scim-bulk.js';

/** Uses every user attribute with only the knowledge that `/Schemas` provides. */
const app = setUpApp();
const scim = scimOf(app);
const attributes: { path: string; definition: Json }[] = [];
beforeAll(async () => {
  for (const schema of (await scim.get('/Schemas')).body.Resources) {
    if (!/User$/.test(schema.name)) continue;
    for (const definition of schema.attributes as Json[]) {
      const path = schema.id === USER ? definition.name : `${schema.id}:${definition.name}`;
      attributes.push({ path, definition });
    }
  }
});

/** Returns a value that differs from round to round where the type allows it. */
function buildScalar({ name, type, canonicalValues }: Json, round: number): Json {
  if (type === 'boolean') return true;
  if (type === 'binary') return Buffer.from(`certificate ${round}`).toString('base64');
  if (name === 'method') return canonicalValues[0];
  if (type === 'reference') return `https://example.org/${round}`;
  return canonicalValues?.length > 1 ? canonicalValues[round % 2] : `value ${round}`;
}

function buildValue(definition: Json, round: number): Json {
  const one = (): Json => {
    if (definition.type !== 'complex') return buildScalar(definition, round);
    const parts = definition.subAttributes.filter(
      (sub: Json) => sub.mutability !== 'readOnly' && sub.name !== 'primary',
    );
    return Object.fromEntries(parts.map((sub: Json) => [sub.name, buildScalar(sub, round)]));
  };
  if (definition.name === 'authname') return [{ method: 'saml', value: `v${round}-${Math.random()}` }];
  if (definition.name === 'emails')
    return [{ value: `v${round}-${Math.random()}@example.org`, type: 'work', primary: true }];
  if (definition.name === 'roles') return [{ value: ['Editor', 'Author'][round] }];
  if (definition.name === 'userName') return `schema-${round}-${Math.random()}`;
  if (definition.name === 'active') return round === 0;
  return definition.multiValued ? [one()] : one();
}

const isWritable = ({ definition }: Json): boolean => definition.mutability === 'readWrite';
const splitPath = (path: string): [string | undefined, string] => {
  const at = path.lastIndexOf(':');
  return at < 0 ? [undefined, path] : [path.slice(0, at), path.slice(at + 1)];
};
function getValue(resource: Json, path: string): Json {
  const [urn, name] = splitPath(path);
  return urn === undefined ? resource[name] : resource[urn]?.[name];
}
function setValue(resource: Json, path: string, value: Json): Json {
  const [urn, name] = splitPath(path);
  return urn === undefined
    ? { ...resource, [name]: value }
    : { ...resource, [urn]: { ...resource[urn], [name]: value } };
}

test('the SCIM user schemas list 30 writable attributes', () => {
  expect(attributes.filter(isWritable).length).toBe(30);
});

describe('a SCIM user attribute', () => {
  test('can be created, selected and excluded', async () => {
    for (const attribute of attributes.filter(isWritable)) {
      const { path, definition } = attribute;
      const value = buildValue(definition, 0);
      const { status, body, text } = await scim.post('/Users', setValue(aScimUser(), path, value));
      expect([path, status, status === 201 ? '' : text]).toEqual([path, 201, '']);
      expect([path, getValue(body, path)]).toEqual([path, value]);
      const only = (await scim.get(`/Users/${body.id}?attributes=${encodeURIComponent(path)}`)).body;
      expect([path, getValue(only, path)]).toEqual([path, value]);
      const [urn, name] = splitPath(path);
      expect(Object.keys(only).sort()).toEqual([...new Set(['id', 'schemas', urn ?? name])].sort());
      const without = (await scim.get(`/Users/${body.id}?excludedAttributes=${encodeURIComponent(path)}`))
        .body;
      expect([path, getValue(without, path)]).toEqual([path, undefined]);
    }
  });

  test('can be added, replaced and removed by PATCH', async () => {
    for (const { path, definition } of attributes.filter(isWritable)) {
      const { id } = await provision(scim, { userName: `p-${Math.random()}@example.org` });
      const [first, second] = [buildValue(definition, 0), buildValue(definition, 1)];
      const patch = (op: string, value?: Json) => scim.patch(`/Users/${id}`, { op, path, value });
      const kept = path === 'emails' || path === 'roles'; // earlier values remain
      const added = await patch('add', first);
      expect([path, added.status]).toEqual([path, 200]);
      if (!kept) expect([path, getValue(added.body, path)]).toEqual([path, first]);
      else expect(getValue(added.body, path)).toEqual(expect.arrayContaining(first));
      const replaced = await patch('replace', second);
      expect([path, replaced.status, getValue(replaced.body, path)]).toEqual([path, 200, second]);
      const removed = await patch('remove');
      const required = path === 'userName' || path === 'active';
      const outcome = required ? [400, 'mutability'] : [200, undefined];
      expect([path, removed.status, removed.body.scimType]).toEqual([path, ...outcome]);
      if (!required && !kept) expect([path, getValue(removed.body, path)]).toEqual([path, undefined]);
    }
  });

  test('is set by a PUT and cleared if omitted', async () => {
    const { id } = await provision(scim);
    const userName = `put-${id}@example.org`;
    for (const { path, definition } of attributes.filter(isWritable)) {
      if (path === 'userName') continue;
      const value = buildValue(definition, 1);
      const { status, body } = await scim.put(`/Users/${id}`, setValue({ userName }, path, value));
      expect([path, status, getValue(body, path)]).toEqual([path, 200, value]);
      const [urn] = splitPath(path);
      const left = (await scim.put(`/Users/${id}`, { schemas: [USER, ...(urn ? [urn] : [])], userName }))
        .body;
      const stays = ['active', 'roles', 'emails'].includes(path);
      expect([path, getValue(left, path)]).toEqual([path, stays ? value : undefined]);
    }
  });

  test('without a required sub-attribute is refused and changes nothing', async () => {
    let checked = 0;
    for (const { path, definition } of attributes.filter(isWritable)) {
      const value = buildValue(definition, 0);
      const [full, bare] = [await provision(scim, setValue({}, path, value)), await provision(scim)];
      for (const { name } of (definition.subAttributes ?? []).filter((sub: Json) => sub.required)) {
        const { [name]: _, ...parts } = [value].flat()[0];
        const wrong = definition.multiValued ? [parts] : parts;
        const data = [{ op: 'replace', value: { [path]: wrong } }];
        const answers = [
          await scim.post('/Users', setValue(aScimUser(), path, wrong)),
          await scim.put(`/Users/${full.id}`, setValue(full, path, wrong)),
          await scim.patch(`/Users/${bare.id}`, { op: 'add', path, value: wrong }),
        ];
        const message = expect.stringMatching(RegExp(`^${path}(\\[0\\])?\\.${name} is required\\.$`));
        expect(answers.map(errorOf)).toEqual(answers.map(() => [400, 'invalidValue', message]));
        const bulk = await sendBulk(scim, [{ method: 'PATCH', path: `/Users/${bare.id}`, data }]);
        expect(bulk.body.Operations[0].response).toMatchObject({ status: '400', detail: message });
        for (const user of [full, bare]) expect((await scim.get(`/Users/${user.id}`)).body).toEqual(user);
        checked++;
      }
    }
    expect(checked).toBe(10);
  });

  test('has the case-sensitivity and uniqueness that its schema states', async () => {
    for (const { path, definition } of attributes.filter(isWritable)) {
      const value = buildValue(definition, 0);
      const { id } = await provision(scim, setValue({}, path, value));
      const parts: Json[] = definition.subAttributes ?? [definition];
      for (const part of parts) {
        const [name, text] =
          part === definition ? [path, value] : [`${path}.${part.name}`, [value].flat()[0][part.name]];
        if (typeof text !== 'string') continue;
        const other = text === text.toUpperCase() ? text.toLowerCase() : text.toUpperCase();
        const { body } = await scim.find(`${name} eq "${other}" and id eq "${id}"`);
        expect([name, body.totalResults]).toEqual([name, part.caseExact ? 0 : 1]);
      }
      const { status } = await scim.post('/Users', setValue(aScimUser(), path, value));
      const isUnique = parts.some(({ uniqueness }) => uniqueness === 'server');
      expect([path, status]).toEqual([path, isUnique ? 409 : 201]);
    }
  });

  test('that is read-only cannot be set', async () => {
    const readOnly = attributes.filter(({ definition }) => definition.mutability === 'readOnly');
    expect(readOnly.length).toBeGreaterThan(3);
    for (const { path, definition } of readOnly) {
      const value = definition.multiValued ? [{ value: 'x' }] : 'x';
      const created = await provision(scim, setValue({}, path, value));
      expect([path, getValue(created, path)]).toEqual([path, undefined]);
      const refused = await scim.patch(`/Users/${created.id}`, { op: 'add', path, value });
      expect([path, refused.status, refused.body.scimType]).toEqual([path, 400, 'mutability']);
    }
  });
});
