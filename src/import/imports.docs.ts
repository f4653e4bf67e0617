import { applyDecorators } from '@nestjs/common';
import {
  ApiExtension,
  ApiOperation,
  ApiParam,
  ApiProduces,
  ApiQuery,
  ApiResponse,
  getSchemaPath,
} from '@nestjs/swagger';
import {
  ChangeProblems,
  LOCATION,
  NEXT,
  Problems,
  REQUEST_BODY,
  STREAM,
  Secured,
  linkTo,
} from '../platform/openapi/docs.js';
import type { ErrorCode } from '../platform/common/errors.js';
import { MAX_FILE_BYTES } from './file/import-store.js';
import { RequestedOptions } from './runs/import-options.js';
import { ExportQuery, RowsQuery, RunsQuery } from './import.query.js';
import { ImportRowPageDto, ImportRunDto, ImportRunPageDto } from './imports.dto.js';

/** OpenAPI descriptions of the routes of imports. */

/** From an answer with a run to what is known of it. */
const OF_RUN = {
  ...linkTo('getImport', 'import_id', '$response.body#/id'),
  ...linkTo('listImportRows', 'import_id', '$response.body#/id'),
  ...linkTo('downloadFailedRows', 'import_id', '$response.body#/id'),
};

const Guarded = (...codes: ErrorCode[]) =>
  applyDecorators(Secured(), Problems('unauthenticated', 'forbidden', ...codes));
const RunId = () =>
  ApiParam({ name: 'import_id', format: 'uuid', example: '0198f3a2-5d1c-7c4e-9a51-3f2b8c6d7e10' });
const Csv = (description: string) =>
  applyDecorators(
    ApiProduces('text/csv'),
    ApiResponse({ status: 200, description, content: { 'text/csv': { schema: STREAM } } }),
  );

/** A file is the body itself, or a part of a form with its options. */
export const UPLOAD = {
  required: true,
  description: 'At most 100 MiB and 1,000,000 rows.',
  content: {
    'text/csv': {
      schema: { type: 'string', maxLength: MAX_FILE_BYTES },
      example: 'ExternalId,Username,Email,ForeName\nHR-20001,ada.king,ada.king@example.org,Ada\n',
    },
    'multipart/form-data': {
      schema: {
        type: 'object',
        properties: { file: { type: 'string', format: 'binary', maxLength: MAX_FILE_BYTES } },
        required: ['file'],
      },
    },
  },
};

export const DocUpload = () =>
  applyDecorators(
    ApiOperation({
      summary: 'Import a CSV file',
      description:
        'Plans the file against the live users, then applies it, or waits for an approval when a guard is hit. ' +
        'Begin with `dry_run=true`. As `multipart/form-data` the options may be form fields.',
    }),
    ApiQuery({ type: RequestedOptions }),
    ApiExtension(REQUEST_BODY, UPLOAD),
    ApiResponse({
      status: 202,
      description: 'Accepted; the run.',
      type: ImportRunDto,
      headers: LOCATION,
      links: OF_RUN,
    }),
    Secured(),
    ChangeProblems('unsupported_media_type', 'too_large'),
  );

export const DocList = () =>
  applyDecorators(
    ApiOperation({ summary: 'Imports, newest first', description: 'Each with its first problems.' }),
    ApiQuery({ type: RunsQuery }),
    ApiResponse({ status: 200, description: 'A page of runs.', type: ImportRunPageDto }),
    Guarded(),
  );

export const DocGet = () =>
  applyDecorators(
    ApiOperation({
      summary: 'One import: state, progress, counts, guards',
      description: 'The same run that a waiting client receives as events.',
    }),
    RunId(),
    ApiResponse({ status: 200, description: 'The run.', type: ImportRunDto }),
    Guarded('malformed_uuid', 'not_found'),
  );

export const DocRows = () =>
  applyDecorators(
    ApiOperation({
      summary: 'Rows of an import with their outcomes',
      description:
        'Unchanged rows are counted in the run, and not kept unless they have a warning: errors of a row whose outcome is not ' +
        '`error`. The `Link: rel="next"` header leads to the next page.',
    }),
    RunId(),
    ApiQuery({ type: RowsQuery }),
    ApiResponse({ status: 200, description: 'A page of rows.', type: ImportRowPageDto, headers: NEXT }),
    Guarded('malformed_uuid', 'not_found'),
  );

export const DocFailedCsv = () =>
  applyDecorators(
    ApiOperation({
      summary: 'The failed rows as a file',
      description:
        'The original columns and `_line`, `_code`, `_message`. Corrected and uploaded again, it completes the import ' +
        '(not with `missing=block`: the other users are not in it).',
    }),
    RunId(),
    Csv('The rows.'),
    Guarded('malformed_uuid', 'not_found', 'file_lost'),
  );

export const DocEvents = () =>
  applyDecorators(
    ApiOperation({
      summary: 'Progress as server-sent events',
      description:
        'An event `progress` with the run, now and after every change; the stream ends with the run.',
    }),
    RunId(),
    ApiProduces('text/event-stream'),
    ApiResponse({
      status: 200,
      description:
        'Events: `event: progress`, and `data:` with one line of JSON. The schema is that of the data of one event, as ' +
        'generators read it.',
      content: { 'text/event-stream': { schema: { $ref: getSchemaPath(ImportRunDto) } } },
    }),
    Guarded('malformed_uuid', 'not_found'),
  );

export const DocTemplate = () =>
  applyDecorators(
    ApiOperation({
      summary: 'An empty file with all columns',
      description: 'The header only, to be filled in.',
    }),
    Csv('The header.'),
    Guarded(),
  );

/** @param codes of this decision, besides those of all. */
export const DocDecide = (summary: string, description: string, ...codes: ErrorCode[]) =>
  applyDecorators(
    ApiOperation({ summary, description }),
    RunId(),
    ApiResponse({
      status: 202,
      description: 'The run concerned.',
      type: ImportRunDto,
      headers: LOCATION,
      links: OF_RUN,
    }),
    Secured(),
    ChangeProblems('malformed_uuid', 'not_found', 'wrong_state', ...codes),
  );

export const DocExport = () =>
  applyDecorators(
    ApiOperation({
      summary: 'Users as a CSV file',
      description:
        'The users that have an external id, in the columns of an import: importing it changes nothing.',
    }),
    ApiQuery({ type: ExportQuery }),
    Csv('The users.'),
    Guarded(),
  );
