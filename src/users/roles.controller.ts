import { Get } from '@nestjs/common';
import { ApiProperty } from '@nestjs/swagger';
import { Requires } from '../access/decorators.js';
import { PageOf } from '../platform/http/page.js';
import { ApiController, DescribeRoute, describeJson } from '../platform/openapi/route-docs.js';
import { UserSettings } from './rules/user-settings.js';

/** Maximum length of the list of roles in the OpenAPI file. Actual lists are far shorter. */
const MAX_ROLES = 10_000;

class RoleDto {
  @ApiProperty({ maxLength: 64, example: 'Editor' }) name!: string;
}

class RoleListDto extends PageOf(RoleDto, { type: 'integer', minimum: 1, example: 18 }, MAX_ROLES) {}

@ApiController('roles', 'users')
export class RolesController {
  constructor(private readonly settings: UserSettings) {}

  @Get()
  @DescribeRoute('listRoles', 'List all roles', {
    description:
      'Returns the standard roles and the roles from the setting `EXTRA_ROLES`. The roles of a user are listed in the same order.',
    answer: describeJson('All roles.', RoleListDto),
  })
  @Requires('users.search')
  list(): RoleListDto {
    const { names } = this.settings.roles;
    return { Count: names.length, Results: names.map((name) => ({ name })) };
  }
}
