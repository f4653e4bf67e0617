import { ReadOnly, Required } from '../platform/input/field-rules.js';
import { Roles } from '../users/rules/fields.js';

const UNCHANGED = { description: 'If sent, it must equal the current value.' };
const IGNORED = { description: 'Ignored if sent.' };

/**
 * Body of `PUT /groups/{group_id}`. Clients may send the response of GET with changed roles. Only the roles can change.
 */
export class GroupRolesInput {
  @Required()
  @Roles({
    example: ['Editor'],
    description:
      'Roles that members have in addition to their own roles. Names are case-insensitive. An empty list removes all roles.',
  })
  roles?: string[] | null;

  @ReadOnly({ type: String, format: 'uuid' }, { description: 'If sent, it must equal the id in the path.' })
  uuid?: unknown;

  @ReadOnly({ type: String, readOnly: true, maxLength: 255 }, UNCHANGED)
  display_name?: unknown;

  @ReadOnly({ type: String, readOnly: true, maxLength: 255 }, UNCHANGED)
  external_id?: unknown;

  @ReadOnly({ type: 'integer' }, IGNORED)
  member_count?: unknown;

  @ReadOnly({ type: 'array', items: { type: 'string', format: 'uuid' }, maxItems: 1000 }, IGNORED)
  members?: unknown;

  @ReadOnly({ type: String, format: 'date-time' }, IGNORED)
  created?: unknown;

  @ReadOnly({ type: String, format: 'date-time' }, IGNORED)
  updated?: unknown;
}
