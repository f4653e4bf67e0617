import { Delete, Get, Patch, Post, Put } from '@nestjs/common';
import { ApiExcludeController } from '@nestjs/swagger';
import { Requires } from '../../access/decorators.js';
import { ProblemError } from '../../platform/common/errors.js';
import { Accepts } from '../../platform/http/input.guard.js';
import { ScimController } from '../http/scim-format.js';

/** `/Me` (RFC 7644, section 3.11): a key is no user. The OpenAPI file does not offer what is always refused. */
@ApiExcludeController()
@ScimController('Me')
export class MeController {
  @Get()
  @Requires('scim.discover')
  @Accepts({ anyQuery: true })
  get(): never {
    throw nobody();
  }

  @Post()
  @Requires('scim.discover')
  @Accepts({ anyQuery: true })
  post(): never {
    throw nobody();
  }

  @Put()
  @Requires('scim.discover')
  @Accepts({ anyQuery: true })
  put(): never {
    throw nobody();
  }

  @Patch()
  @Requires('scim.discover')
  @Accepts({ anyQuery: true })
  patch(): never {
    throw nobody();
  }

  @Delete()
  @Requires('scim.discover')
  @Accepts({ anyQuery: true })
  delete(): never {
    throw nobody();
  }
}

const nobody = (): ProblemError =>
  new ProblemError('not_implemented', 'An API key is no user: there is no /Me for it.');
