import { Controller, Get } from '@nestjs/common';
import { ApiTags } from '@nestjs/swagger';
import { Requires } from '../access/decorators.js';
import { Accepts, CheckedQuery } from '../http/input.guard.js';
import { page } from '../http/page.js';
import { DeletedUsers } from './directory/deleted-users.service.js';
import { type DeletedPageDto, DeletedQuery, DocDeleted, presentDeleted } from './deleted-users.docs.js';

@ApiTags('users')
@Controller('users/deleted')
export class DeletedUsersController {
  constructor(private readonly deleted: DeletedUsers) {}

  @Get()
  @DocDeleted()
  @Requires('users.deleted')
  @Accepts({ query: DeletedQuery })
  async list(@CheckedQuery() query: DeletedQuery): Promise<DeletedPageDto> {
    const { count, users } = await this.deleted.list(query.since, page(query));
    return { Count: count, Results: users.map(presentDeleted) };
  }
}
