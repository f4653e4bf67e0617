import { Body, Controller, Delete, Get, Headers, HttpCode, Param, Put, Res } from '@nestjs/common';
import { ApiTags } from '@nestjs/swagger';
import type { Response } from 'express';
import type { Caller } from '../access/actor.js';
import { CurrentCaller, Requires } from '../access/decorators.js';
import { ProblemError } from '../platform/common/errors.js';
import type { JsonObject } from '../platform/common/json.js';
import { toIso } from '../platform/common/time.js';
import { Accepts, CheckedQuery } from '../platform/http/input.guard.js';
import { Page, page } from '../platform/http/page.js';
import {
  DocDeleteProfile,
  DocGetProfile,
  DocListProfiles,
  DocPutProfile,
  type ImportProfileDto,
  type ImportProfilePageDto,
} from './import-profiles.docs.js';
import { ImportProfiles, type KnownProfile, tagOf } from './mapping/import-profiles.service.js';
import { PROFILE_NAME } from './runs/import-options.js';

@ApiTags('imports')
@Controller('import_profiles')
export class ImportProfilesController {
  constructor(private readonly profiles: ImportProfiles) {}

  @Get()
  @DocListProfiles()
  @Requires('imports.read')
  @Accepts({ query: Page })
  async list(@CheckedQuery() query: Page): Promise<ImportProfilePageDto> {
    const { offset, limit } = page(query);
    const all = await this.profiles.list();
    return { Count: all.length, Results: all.slice(offset, offset + limit).map(present) };
  }

  @Get(':name')
  @DocGetProfile()
  @Requires('imports.read')
  async get(
    @Param('name') name: string,
    @Res({ passthrough: true }) response: Response,
  ): Promise<ImportProfileDto> {
    return tagged(await this.profiles.get(name), response);
  }

  @Put(':name')
  @DocPutProfile()
  @Requires('imports.write')
  @Accepts({ body: true })
  async put(
    @Param('name') name: string,
    @Body() document: JsonObject,
    @Headers('if-match') ifMatch: string | undefined,
    @Headers('if-none-match') ifNoneMatch: string | undefined,
    @CurrentCaller() caller: Caller,
    @Res({ passthrough: true }) response: Response,
  ): Promise<ImportProfileDto> {
    if (!PROFILE_NAME.test(name)) {
      const detail = 'The name of a profile is 1 to 64 of A-Z a-z 0-9 . _ -, and not . or ..';
      throw new ProblemError('invalid_parameter', detail);
    }
    return tagged(await this.profiles.put(name, document, caller, { ifMatch, ifNoneMatch }), response);
  }

  @Delete(':name')
  @DocDeleteProfile()
  @HttpCode(204)
  @Requires('imports.write')
  async remove(
    @Param('name') name: string,
    @Headers('if-match') ifMatch: string | undefined,
    @Headers('if-none-match') ifNoneMatch: string | undefined,
    @CurrentCaller() caller: Caller,
  ): Promise<void> {
    const found = await this.profiles.remove(name, caller, { ifMatch, ifNoneMatch });
    if (!found) throw new ProblemError('not_found', `There is no saved import profile ${name}.`);
  }
}

function tagged(known: KnownProfile, response: Response): ImportProfileDto {
  response.setHeader('ETag', tagOf(known.profile));
  return present(known);
}

const present = ({ name, profile, updated }: KnownProfile): ImportProfileDto => ({
  name,
  ready: updated === null,
  updated: updated === null ? null : toIso(updated),
  profile,
});
