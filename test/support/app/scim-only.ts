import { CATALOGUE } from '../../../src/platform/common/errors.js';
import type { Answer, Json } from './client.js';
import type { ScimClient } from './scim.js';

type Send = (scim: ScimClient, group: Json) => Promise<Answer>;

const patchGroup =
  (operation: object): Send =>
  (scim, { id }) =>
    scim.patch(`/Groups/${id as string}`, operation);

/**
 * A request for every error code that only SCIM returns, with its `scimType`. The group has more than 1,000 members.
 */
export const SCIM_ONLY: Record<string, [type: string | undefined, send: Send]> = {
  invalid_syntax: [
    'invalidSyntax',
    (scim, { id }) => scim.send('PATCH', `/Groups/${id as string}`, { Operations: 5 }),
  ],
  invalid_value: ['invalidValue', (scim) => scim.get('/Groups?count=many')],
  invalid_filter: ['invalidFilter', (scim) => scim.get('/Groups?filter=displayName')],
  invalid_path: ['invalidPath', patchGroup({ op: 'remove', path: 'colour' })],
  no_target: [
    'noTarget',
    patchGroup({ op: 'replace', path: 'members[value eq "x"]', value: { value: 'y' } }),
  ],
  mutability: ['mutability', patchGroup({ op: 'replace', path: 'id', value: 'x' })],
  too_many: ['tooMany', patchGroup({ op: 'remove', path: 'members[value co "-"]' })],
  invalid_cursor: ['invalidCursor', (scim) => scim.get('/Groups?cursor=x')],
  invalid_count: ['invalidCount', (scim) => scim.get('/Groups?cursor=&count=many')],
  not_implemented: [undefined, (scim) => scim.get('/Me')],
  display_name_taken: ['uniqueness', (scim, { displayName }) => scim.post('/Groups', { displayName })],
};

/** The error codes that the REST API returns. */
export const REST_ERRORS = Object.entries(CATALOGUE).filter(([code]) => !Object.hasOwn(SCIM_ONLY, code));
