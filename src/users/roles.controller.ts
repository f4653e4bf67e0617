import { Controller, Get, applyDecorators } from '@nestjs/common';
import { ApiOperation, ApiProperty, ApiResponse, ApiTags } from '@nestjs/swagger';
import { Requires } from '../access/decorators.js';
import { Problems, Secured } from '../platform/openapi/docs.js';
import { UserSettings } from './rules/user-settings.js';

/** More than an installation has. */
const MAX_ROLES = 10_000;

class RoleDto {
  @ApiProperty({ maxLength: 64, example: 'Editor' }) name!: string;
}

class RoleListDto {
  @ApiProperty({ type: 'integer', minimum: 1, example: 18 }) Count!: number;
  @ApiProperty({ type: [RoleDto], maxItems: MAX_ROLES }) Results!: RoleDto[];
}

const DocRoles = () =>
  applyDecorators(
    ApiOperation({
      summary: 'The roles that users can have',
      description:
        'Those of the published interface and those of `EXTRA_ROLES`, in the order in which users have them.',
    }),
    ApiResponse({ status: 200, description: 'All roles.', type: RoleListDto }),
    Secured(),
    Problems('unauthenticated', 'forbidden'),
  );

@ApiTags('users')
@Controller('roles')
export class RolesController {
  constructor(private readonly settings: UserSettings) {}

  @Get()
  @DocRoles()
  @Requires('users.search')
  list(): RoleListDto {
    const { names } = this.settings.roles;
    return { Count: names.length, Results: names.map((name) => ({ name })) };
  }
}
