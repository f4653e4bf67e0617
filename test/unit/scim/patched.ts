import { expect } from '@jest/globals';
import type { Deviation } from '../../../src/scim/protocol/input.js';
import type { ScimObject } from '../../../src/scim/protocol/attribute.js';
import { applySteps, readPatch } from '../../../src/scim/protocol/patch.js';
import { ENTERPRISE_SCHEMA as E, PATCH_MESSAGE } from '../../../src/scim/protocol/urns.js';
import { USER } from './resources.js';

export const WORK = { value: 'w@x.org', type: 'work', primary: true };
export const HOME = { value: 'h@x.org', type: 'home' };
/** The resource before each patch. */
export const BASE: ScimObject = {
  userName: 'jane',
  title: 'Guide',
  active: true,
  name: { givenName: 'Jane', familyName: 'Doe' },
  emails: [WORK, HOME],
  [E]: { department: 'D1', manager: { value: 'm1' } },
};

/** Applies a patch to BASE, which must not change. Returns the new resource and the counted deviations. */
export async function patch(operations: unknown, options: { entra?: boolean } = {}) {
  const seen = new Set<Deviation>();
  const before = JSON.stringify(BASE);
  const body = { schemas: [PATCH_MESSAGE], Operations: operations };
  const countDeviation = (kind: Deviation) => seen.add(kind);
  const steps = await readPatch(body, {
    resource: USER,
    ignoreUnknown: options.entra ?? false,
    countDeviation,
  });
  const after = applySteps(BASE, steps, { countDeviation });
  expect(JSON.stringify(BASE)).toBe(before);
  return { after, seen: [...seen] };
}
