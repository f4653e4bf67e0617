import { Body, Delete, Get, Headers, HttpCode, Param, Put, Res } from '@nestjs/common';
import { ApiParam, ApiProperty, ApiPropertyOptional, OmitType } from '@nestjs/swagger';
import type { Response } from 'express';
import type { Caller } from '../access/actor.js';
import { CurrentCaller, Requires } from '../access/decorators.js';
import { ProblemError } from '../platform/common/errors.js';
import type { JsonObject } from '../platform/common/json.js';
import { toIso } from '../platform/common/time.js';
import { Accepts, CheckedQuery } from '../platform/http/input.guard.js';
import { PageQuery, PageOf, toPageRange } from '../platform/http/page.js';
import { ETAG, NULLABLE_TIME, describeTexts } from '../platform/openapi/shared-schemas.js';
import { ApiController, DescribeRoute, describeJson } from '../platform/openapi/route-docs.js';
import { ImportProfiles, type KnownProfile, type TagHeaders } from './mapping/import-profiles.service.js';
import { buildLimitSchemas } from './guards/guard-limits.js';
import type { GuardOverrides } from './runs/import-guard.js';
import { PROFILE_NAME } from './runs/import-options.js';
import { type ImportProfile, ProfileFields } from './runs/import-profile.js';

/** Input of a profile. Adds the schema of the guards, which `ProfileFields` does not know. */
class ProfileInput extends ProfileFields {
  @ApiPropertyOptional({
    type: 'object',
    properties: buildLimitSchemas(),
    example: { preset: 'relaxed', deactivations: { rows: 20 } },
    description:
      'Preset and single limits of the guards. They override the settings. `rows` and `percent` form one limit, and the ' +
      'greater of the two applies.',
  })
  override guards?: GuardOverrides;
}

class ProfileDto extends OmitType(ProfileInput, ['default_roles']) {
  @ApiPropertyOptional(describeTexts(64, 32)) default_roles?: string[];
}

class ImportProfileDto {
  @ApiProperty({ maxLength: 64, pattern: PROFILE_NAME.source, example: 'payroll' }) name!: string;
  @ApiProperty({ description: 'True for a built-in profile, false for a saved profile.' }) ready!: boolean;
  @ApiProperty({ ...NULLABLE_TIME, description: 'Time of the last save. Null for a built-in profile.' })
  updated!: string | null;
  @ApiProperty({ type: ProfileDto, description: 'Profile as accepted by `PUT`.' }) profile!: ImportProfile;
}

export class ImportProfilePageDto extends PageOf(ImportProfileDto) {}

const NameParam = (example: string) =>
  ApiParam({
    name: 'name',
    schema: { type: 'string', maxLength: 64, pattern: PROFILE_NAME.source },
    example,
  });
const IF_MATCH =
  'Last ETag that the client read. The request fails with 412 if the profile has changed since.';

@ApiController('import_profiles', 'imports')
export class ImportProfilesController {
  constructor(private readonly profiles: ImportProfiles) {}

  @Get()
  @DescribeRoute('listImportProfiles', 'List import profiles, sorted by name', {
    description:
      'Lists saved profiles, and built-in profiles for the exports of Moodle, Canvas, Google Workspace, Microsoft 365, ' +
      'Entra, Okta and Auth0.',
    answer: describeJson('A page of profiles.', ImportProfilePageDto),
  })
  @Requires('imports.read')
  @Accepts({ query: PageQuery })
  async list(@CheckedQuery() query: PageQuery): Promise<ImportProfilePageDto> {
    const { offset, limit } = toPageRange(query);
    const all = await this.profiles.list();
    return { Count: all.length, Results: all.slice(offset, offset + limit).map(presentProfile) };
  }

  @Get(':name')
  @DescribeRoute('getImportProfile', 'Get an import profile', {
    description: 'To copy the profile, save the member `profile` of the response under another name.',
    more: [NameParam('moodle')],
    answer: describeJson('The profile.', ImportProfileDto, ETAG),
    errors: ['not_found'],
  })
  @Requires('imports.read')
  async get(
    @Param('name') name: string,
    @Res({ passthrough: true }) response: Response,
  ): Promise<ImportProfileDto> {
    return this.presentWithETag(await this.profiles.get(name), response);
  }

  @Put(':name')
  @DescribeRoute('saveImportProfile', 'Save an import profile', {
    description:
      'A profile describes the files of one source. Use it with `POST /imports?profile=<name>`, the command line or the drop ' +
      'folder. A profile may contain all options of an import, and options that are sent with a file override them. If a ' +
      'profile with this name exists, it is replaced. Existing runs keep their own copy of the profile. A profile ' +
      'that has a `pattern` or is named in `IMPORT_OPTIONS` needs the scope `imports:write`.',
    more: [NameParam('payroll')],
    ifMatch: IF_MATCH,
    ifNoneMatch:
      'Send `*` to create a profile without replacing an existing one. If the name is in use, the request fails with 412.',
    body: ProfileInput,
    examples: {
      payroll: {
        dataset: 'payroll',
        missing: 'block',
        delimiter: ';',
        encoding: 'windows-1252',
        skip_lines: 2,
        columns: {
          'Employee No': 'ExternalId',
          'First name': 'ForeName',
          'Family name': 'Surname',
          Mail: 'Email',
          State: 'Status',
          Salary: 'ignore',
        },
        values: { State: { employed: 'Active', '*': 'Blocked' } },
        set: { Username: '{First name:ascii:lower}.{Family name:ascii:lower}' },
        pattern: 'payroll-*.csv',
      },
    },
    answer: describeJson('The profile.', ImportProfileDto, ETAG),
    errors: ['wrong_state', 'reauthentication_required'],
  })
  @Requires('imports.write')
  @Accepts({ body: true })
  async put(
    @Param('name') name: string,
    @Body() document: JsonObject,
    @Headers() headers: TagHeaders,
    @CurrentCaller() caller: Caller,
    @Res({ passthrough: true }) response: Response,
  ): Promise<ImportProfileDto> {
    if (!PROFILE_NAME.test(name)) {
      const detail = 'The profile name must be 1 to 64 characters of A-Z a-z 0-9 . _ -, and not . or ..';
      throw new ProblemError('invalid_parameter', detail);
    }
    return this.presentWithETag(await this.profiles.put(name, document, caller, headers), response);
  }

  @Delete(':name')
  @DescribeRoute('deleteImportProfile', 'Delete a saved profile', {
    description:
      'Existing runs keep their own copy of the profile. A built-in profile with the same name becomes available again.',
    more: [NameParam('payroll')],
    ifMatch: IF_MATCH,
    answer: 'The profile was deleted.',
    errors: ['not_found'],
  })
  @HttpCode(204)
  @Requires('imports.write')
  async remove(
    @Param('name') name: string,
    @Headers() headers: TagHeaders,
    @CurrentCaller() caller: Caller,
  ): Promise<void> {
    await this.profiles.remove(name, caller, headers);
  }

  private presentWithETag(known: KnownProfile, response: Response): ImportProfileDto {
    response.setHeader('ETag', this.profiles.etagOf(known.profile));
    return presentProfile(known);
  }
}

function presentProfile({ name, profile, updated }: KnownProfile): ImportProfileDto {
  return { name, ready: updated === null, updated: updated === null ? null : toIso(updated), profile };
}
