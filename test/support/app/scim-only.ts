import { CATALOGUE } from '../../../src/platform/common/errors.js';
import type { Answer, Json } from './client.js';
import type { ScimClient } from './scim.js';

/** A request for every code of the catalogue that only SCIM answers, with its `scimType`; a group has more than 1,000 members. */
export const SCIM_ONLY: Record<
  string,
  [type: string | undefined, send: (scim: ScimClient, group: Json) => Promise<Answer>]
> = {
  invalid_syntax: [
    'invalidSyntax',
    (scim, { id }) => scim.send('PATCH', `/Groups/${id as string}`, { Operations: 5 }),
  ],
  invalid_value: ['invalidValue', (scim) => scim.get('/Groups?count=many')],
  invalid_filter: ['invalidFilter', (scim) => scim.get('/Groups?filter=displayName')],
  invalid_path: [
    'invalidPath',
    (scim, { id }) => scim.patch(`/Groups/${id as string}`, { op: 'remove', path: 'colour' }),
  ],
  no_target: [
    'noTarget',
    (scim, { id }) =>
      scim.patch(`/Groups/${id as string}`, {
        op: 'replace',
        path: 'members[value eq "x"]',
        value: { value: 'y' },
      }),
  ],
  mutability: [
    'mutability',
    (scim, { id }) => scim.patch(`/Groups/${id as string}`, { op: 'replace', path: 'id', value: 'x' }),
  ],
  too_many: [
    'tooMany',
    (scim, { id }) => scim.patch(`/Groups/${id as string}`, { op: 'remove', path: 'members[value co "-"]' }),
  ],
  invalid_cursor: ['invalidCursor', (scim) => scim.get('/Groups?cursor=x')],
  invalid_count: ['invalidCount', (scim) => scim.get('/Groups?cursor=&count=many')],
  not_implemented: [undefined, (scim) => scim.get('/Me')],
  display_name_taken: ['uniqueness', (scim, { displayName }) => scim.post('/Groups', { displayName })],
};

/** The codes that the API answers. */
export const OF_REST = Object.entries(CATALOGUE).filter(([code]) => !Object.hasOwn(SCIM_ONLY, code));
