import { ApiProperty } from '@nestjs/swagger';
import { toIso } from '../platform/common/time.js';
import { PAGE_COUNT, PageOf } from '../platform/http/page.js';
import { TIME, describeTexts } from '../platform/openapi/shared-schemas.js';
import { MAX, MAX_ITEMS } from '../users/model/formats.js';
import { MAX_MEMBERS } from './group.query.js';
import { type Group, MAX_GROUP_EXTERNAL_ID, MAX_GROUP_NAME } from './group.js';
import type { GroupDetails } from './groups.service.js';

const ID = { format: 'uuid', example: '0198f3a2-7b40-7d15-8f3a-5e0c9a417d22' } as const;

export class GroupDto {
  @ApiProperty(ID) uuid!: string;
  @ApiProperty({ maxLength: MAX_GROUP_NAME, example: 'Newsroom' }) display_name!: string;
  @ApiProperty({
    maxLength: MAX_GROUP_EXTERNAL_ID,
    example: 'f2c1d7a8',
    description: 'Id of the group at the identity provider.',
  })
  external_id!: string;
  @ApiProperty({
    ...describeTexts(MAX.role, MAX_ITEMS.roles),
    example: ['Editor'],
    description: 'Roles that members have in addition to their own roles.',
  })
  roles!: readonly string[];
  @ApiProperty(TIME) created!: string;
  @ApiProperty(TIME) updated!: string;
}

export class GroupDetailsDto extends GroupDto {
  @ApiProperty({ type: 'integer', minimum: 0, example: 1, description: 'Total number of members.' })
  member_count!: number;
  @ApiProperty({
    type: 'array',
    items: { type: 'string', format: 'uuid' },
    maxItems: MAX_MEMBERS,
    example: ['0198f3a2-5d1c-7c4e-9a51-3f2b8c6d7e10'],
    description:
      'Sorted uuids of the members on this page. The `Link: rel="next"` header points to the next page.',
  })
  members!: string[];
}

export class GroupPageDto extends PageOf(GroupDto, PAGE_COUNT) {}

export function presentGroup({ uuid, display_name, external_id, roles, created, updated }: Group): GroupDto {
  return { uuid, display_name, external_id, roles, created: toIso(created), updated: toIso(updated) };
}

export function presentDetails({ group, count, members }: GroupDetails): GroupDetailsDto {
  return Object.assign(presentGroup(group), { member_count: count, members });
}
