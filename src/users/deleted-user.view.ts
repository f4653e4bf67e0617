import { ApiProperty, PickType } from '@nestjs/swagger';
import { toIso } from '../platform/common/time.js';
import { Page, PAGE_COUNT, PageOf } from '../platform/http/page.js';
import { TimeParam } from '../platform/input/query-rules.js';
import { TIME } from '../platform/openapi/docs.js';
import type { DeletedUser } from './deleted-users.service.js';
import { UserDto } from './user.view.js';

export class DeletedQuery extends Page {
  @TimeParam({ description: 'Deleted at this time or later, such as 2026-01-31T12:00:00Z.' })
  since?: string;
}

class DeletedUserDto extends PickType(UserDto, ['uuid', 'username', 'external_id']) {
  @ApiProperty(TIME) deleted!: string;
}

export class DeletedPageDto extends PageOf(DeletedUserDto, PAGE_COUNT) {}

export function presentDeleted({ user, deleted }: DeletedUser): DeletedUserDto {
  const { uuid, username, external_id } = user;
  return { uuid, username, external_id, deleted: toIso(deleted) };
}
