import { applyDecorators } from '@nestjs/common';
import { ApiPropertyOptional, type ApiPropertyOptions } from '@nestjs/swagger';
import { Allow } from 'class-validator';
import { Required } from '../platform/input/field-rules.js';
import { Roles } from '../users/rules/fields.js';

const ReadOnly = (schema: ApiPropertyOptions, description: string) =>
  applyDecorators(ApiPropertyOptional({ ...schema, readOnly: true, description }), Allow());

/** `PUT /groups/{group_id}`: what a GET returned may come back; what providers write is read-only here. */
export class GroupRolesInput {
  @Required()
  @Roles({
    example: ['Editor'],
    description:
      'Role names in any case, which members hold beside their own. An empty list takes them all away.',
  })
  roles?: string[] | null;

  @ReadOnly({ type: String, format: 'uuid' }, 'Must be that of the path.')
  uuid?: unknown;

  @ReadOnly({ type: String, readOnly: true, maxLength: 255 }, 'Must be as it is.')
  display_name?: unknown;

  @ReadOnly({ type: String, readOnly: true, maxLength: 255 }, 'Must be as it is.')
  external_id?: unknown;

  @ReadOnly({ type: 'integer' }, 'Ignored.')
  member_count?: unknown;

  @ReadOnly({ type: 'array', items: { type: 'string', format: 'uuid' }, maxItems: 1000 }, 'Ignored.')
  members?: unknown;

  @ReadOnly({ type: String, format: 'date-time' }, 'Ignored.')
  created?: unknown;

  @ReadOnly({ type: String, format: 'date-time' }, 'Ignored.')
  updated?: unknown;
}
