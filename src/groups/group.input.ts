import { applyDecorators } from '@nestjs/common';
import { ApiPropertyOptional, type ApiPropertyOptions } from '@nestjs/swagger';
import { Allow } from 'class-validator';
import { Required } from '../platform/input/field-rules.js';
import { Roles } from '../users/rules/fields.js';

const ReadOnly = (schema: ApiPropertyOptions, description: string) =>
  applyDecorators(ApiPropertyOptional({ ...schema, readOnly: true, description }), Allow());

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

  @ReadOnly({ type: String, format: 'uuid' }, 'If sent, it must equal the id in the path.')
  uuid?: unknown;

  @ReadOnly({ type: String, readOnly: true, maxLength: 255 }, 'If sent, it must equal the current value.')
  display_name?: unknown;

  @ReadOnly({ type: String, readOnly: true, maxLength: 255 }, 'If sent, it must equal the current value.')
  external_id?: unknown;

  @ReadOnly({ type: 'integer' }, 'Ignored if sent.')
  member_count?: unknown;

  @ReadOnly({ type: 'array', items: { type: 'string', format: 'uuid' }, maxItems: 1000 }, 'Ignored if sent.')
  members?: unknown;

  @ReadOnly({ type: String, format: 'date-time' }, 'Ignored if sent.')
  created?: unknown;

  @ReadOnly({ type: String, format: 'date-time' }, 'Ignored if sent.')
  updated?: unknown;
}
