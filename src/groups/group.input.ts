import { ApiPropertyOptional } from '@nestjs/swagger';
import { Allow } from 'class-validator';
import { Required } from '../platform/input/rules.js';
import { Roles } from '../users/rules/fields.js';

/** `PUT /groups/{group_id}`: what a GET returned may come back; what providers write is read-only here. */
export class GroupRolesInput {
  @Required()
  @Roles({
    example: ['Editor'],
    description:
      'Role names in any case, which members hold beside their own. An empty list takes them all away.',
  })
  roles?: string[] | null;

  @ApiPropertyOptional({
    type: String,
    format: 'uuid',
    readOnly: true,
    description: 'Must be that of the path.',
  })
  @Allow()
  uuid?: unknown;

  @ApiPropertyOptional({ type: String, readOnly: true, maxLength: 255, description: 'Must be as it is.' })
  @Allow()
  display_name?: unknown;

  @ApiPropertyOptional({ type: String, readOnly: true, maxLength: 255, description: 'Must be as it is.' })
  @Allow()
  external_id?: unknown;

  @ApiPropertyOptional({ type: 'integer', readOnly: true, description: 'Ignored.' })
  @Allow()
  member_count?: unknown;

  @ApiPropertyOptional({
    type: 'array',
    items: { type: 'string', format: 'uuid' },
    maxItems: 1000,
    readOnly: true,
    description: 'Ignored.',
  })
  @Allow()
  members?: unknown;

  @ApiPropertyOptional({ type: String, format: 'date-time', readOnly: true, description: 'Ignored.' })
  @Allow()
  created?: unknown;

  @ApiPropertyOptional({ type: String, format: 'date-time', readOnly: true, description: 'Ignored.' })
  @Allow()
  updated?: unknown;
}
