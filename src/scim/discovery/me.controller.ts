import { Delete, Get, Patch, Post, Put } from '@nestjs/common';
import { Requires } from '../../access/decorators.js';
import { ProblemError } from '../../common/errors.js';
import { Accepts } from '../../http/input.guard.js';
import { ScimController } from '../http/scim-route.js';
import { DocMe } from './discovery.docs.js';

/** `/Me` (RFC 7644, section 3.11): a key is no user. */
@ScimController('Me')
export class MeController {
  @Get()
  @DocMe()
  @Requires('scim.discover')
  @Accepts({ anyQuery: true })
  get(): never {
    throw nobody();
  }

  @Post()
  @DocMe()
  @Requires('scim.discover')
  @Accepts({ anyQuery: true })
  post(): never {
    throw nobody();
  }

  @Put()
  @DocMe()
  @Requires('scim.discover')
  @Accepts({ anyQuery: true })
  put(): never {
    throw nobody();
  }

  @Patch()
  @DocMe()
  @Requires('scim.discover')
  @Accepts({ anyQuery: true })
  patch(): never {
    throw nobody();
  }

  @Delete()
  @DocMe()
  @Requires('scim.discover')
  @Accepts({ anyQuery: true })
  delete(): never {
    throw nobody();
  }
}

const nobody = (): ProblemError =>
  new ProblemError('not_implemented', 'An API key is no user: there is no /Me for it.');
