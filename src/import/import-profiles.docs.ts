import { applyDecorators } from '@nestjs/common';
import {
  ApiBody,
  ApiHeader,
  ApiOperation,
  ApiParam,
  ApiProperty,
  ApiPropertyOptional,
  ApiQuery,
  ApiResponse,
  OmitType,
} from '@nestjs/swagger';
import {
  ChangeBodyProblems,
  ChangeProblems,
  ETAG,
  Problems,
  Secured,
  TAGS,
  linkTo,
} from '../platform/openapi/docs.js';
import { MAX_LIMIT, Page } from '../platform/http/page.js';
import { ProfileInput } from './mapping/profile.input.js';
import { PROFILE_NAME, type ImportProfile } from './runs/import-options.js';

/** OpenAPI descriptions of the routes of profiles. */

class ProfileDto extends OmitType(ProfileInput, ['default_roles']) {
  @ApiPropertyOptional({ type: 'array', items: { type: 'string', maxLength: 64 }, maxItems: 32 })
  default_roles?: string[];
}

export class ImportProfileDto {
  @ApiProperty({ maxLength: 64, pattern: PROFILE_NAME.source, example: 'payroll' }) name!: string;
  @ApiProperty({ description: 'It ships with the service, and was not saved.' }) ready!: boolean;
  @ApiProperty({ type: String, format: 'date-time', nullable: true, description: 'When it was saved.' })
  updated!: string | null;
  @ApiProperty({ type: ProfileDto, description: 'As `PUT` takes it.' }) profile!: ImportProfile;
}

export class ImportProfilePageDto {
  @ApiProperty({ type: 'integer', minimum: 0 }) Count!: number;
  @ApiProperty({ type: [ImportProfileDto], maxItems: MAX_LIMIT }) Results!: ImportProfileDto[];
}

const Name = (example: string) =>
  ApiParam({
    name: 'name',
    schema: { type: 'string', maxLength: 64, pattern: PROFILE_NAME.source },
    example,
  });

export const DocListProfiles = () =>
  applyDecorators(
    ApiOperation({
      summary: 'Profiles of imports, by name',
      description:
        'Those that were saved, and those that ship with the service for the exports of Moodle, Canvas, Google Workspace, ' +
        'Microsoft 365, Entra, Okta and Auth0.',
    }),
    ApiQuery({ type: Page }),
    ApiResponse({ status: 200, description: 'A page of profiles.', type: ImportProfilePageDto }),
    Secured(),
    Problems('unauthenticated', 'forbidden'),
  );

/** A change of the profile that was read, and of no other one. */
const IfMatch = () =>
  ApiHeader({
    name: 'If-Match',
    required: false,
    description: 'The ETag of the profile that was read; 412 when it has changed since, or is gone.',
    schema: TAGS,
  });

export const DocGetProfile = () =>
  applyDecorators(
    ApiOperation({ summary: 'One profile', description: 'Its `profile` can be saved under another name.' }),
    Name('moodle'),
    ApiResponse({ status: 200, description: 'The profile.', type: ImportProfileDto, headers: ETAG }),
    Secured(),
    Problems('unauthenticated', 'forbidden', 'not_found'),
  );

export const DocPutProfile = () =>
  applyDecorators(
    ApiOperation({
      summary: 'Save a profile',
      description:
        'Describes the files of one source, for `POST /imports?profile=<name>`, the command line and the drop folder. ' +
        'All options of an import may be in it; those that are sent with a file go before them. Replaces the profile of ' +
        'that name; runs that have begun keep theirs. A profile with a `pattern` needs the scope `imports:write`.',
    }),
    Name('payroll'),
    IfMatch(),
    ApiHeader({
      name: 'If-None-Match',
      required: false,
      description: '`*` makes a new profile only; 412 when there is one of this name.',
      schema: TAGS,
    }),
    ApiBody({
      type: ProfileInput,
      examples: {
        payroll: {
          value: {
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
      },
    }),
    ApiResponse({
      status: 200,
      description: 'The profile.',
      type: ImportProfileDto,
      headers: ETAG,
      links: linkTo('getImportProfile', 'name', '$response.body#/name'),
    }),
    Secured(),
    ChangeBodyProblems('wrong_state', 'precondition_failed'),
  );

export const DocDeleteProfile = () =>
  applyDecorators(
    ApiOperation({
      summary: 'Delete a saved profile',
      description:
        'Runs keep theirs. Where it has the name of one that ships with the service, that one is back again.',
    }),
    Name('payroll'),
    IfMatch(),
    ApiResponse({ status: 204, description: 'It is deleted.' }),
    Secured(),
    ChangeProblems('not_found', 'precondition_failed'),
  );
