import { applyDecorators } from '@nestjs/common';
import { ApiOperation, ApiProperty, ApiQuery, ApiResponse } from '@nestjs/swagger';
import { toIso } from '../platform/common/time.js';
import { ChangeProblems, Problems, Secured } from '../platform/openapi/docs.js';
import { MAX_LIMIT, Page, PAGE_COUNT } from '../platform/http/page.js';
import { TimeParam } from '../platform/input/query-rules.js';
import type { DeletedUser } from './deleted-users.service.js';
import { MAX } from './model/formats.js';
import { UserDto } from './user.view.js';
import { TAKEN, UserId } from './users.docs.js';

export class DeletedQuery extends Page {
  @TimeParam({ description: 'Deleted at this time or later, such as 2026-01-31T12:00:00Z.' })
  since?: string;
}

class DeletedUserDto {
  @ApiProperty({ format: 'uuid', example: '0198f3a2-5d1c-7c4e-9a51-3f2b8c6d7e10' }) uuid!: string;
  @ApiProperty({ maxLength: MAX.username, example: 'jane.doe' }) username!: string;
  @ApiProperty({ maxLength: MAX.externalId, example: 'HR-10042' }) external_id!: string;
  @ApiProperty({ format: 'date-time', example: '2026-01-31T08:15:30.123Z' }) deleted!: string;
}

export class DeletedPageDto {
  @ApiProperty(PAGE_COUNT) Count!: number;
  @ApiProperty({ type: [DeletedUserDto], maxItems: MAX_LIMIT }) Results!: DeletedUserDto[];
}

export const presentDeleted = ({ user, deleted }: DeletedUser): DeletedUserDto => ({
  uuid: user.uuid,
  username: user.username,
  external_id: user.external_id,
  deleted: toIso(deleted),
});

export const DocDeleted = () =>
  applyDecorators(
    ApiOperation({
      summary: 'Users that were deleted, in the order of their deletion',
      description:
        'They are kept for SCIM_DELETED_DAYS days; `POST /users/{user_id}/restore` takes one back. Identity providers delete users; REST only blocks them.',
    }),
    ApiQuery({ type: DeletedQuery }),
    ApiResponse({ status: 200, description: 'A page of deleted users.', type: DeletedPageDto }),
    Secured(),
    Problems('unauthenticated', 'forbidden', 'invalid_parameter'),
  );

export const DocRestore = () =>
  applyDecorators(
    ApiOperation({
      summary: 'Take back a deleted user',
      description:
        'Within SCIM_DELETED_DAYS days: with the same uuid, password and own roles, without groups, sessions and reports. ' +
        'Where another user has one of the names by now, nothing happens, and the conflict says whose it is.',
    }),
    UserId(),
    ApiResponse({ status: 200, description: 'The user.', type: UserDto }),
    Secured(),
    ChangeProblems('malformed_uuid', 'not_found', ...TAKEN),
  );
