import { UserConditions } from '../users/search/user.query.js';
import { PageQuery } from '../platform/http/page.js';
import {
  BooleanParam,
  ChoicesParam,
  PatternParam,
  TextsParam,
  TimeParam,
  UuidParam,
  UuidsParam,
} from '../platform/input/query-rules.js';
import { MAX_FILE_BYTES } from './file/file-store.js';
import { DatasetParam, PROFILE_NAME } from './runs/import-options.js';
import { STAGED_OUTCOMES } from './runs/import-row.js';
import { RUN_STATES } from './runs/run-states.js';

export class RunsQuery extends PageQuery {
  @ChoicesParam(RUN_STATES, { description: 'Only runs in this state. May be repeated.' })
  state?: string[];

  @DatasetParam()
  dataset?: string;

  @PatternParam(PROFILE_NAME, 'must be the name of a profile', {
    maxLength: 64,
    description: 'Only runs that used this profile.',
  })
  profile?: string;

  @UuidParam({ description: 'Only runs that this user or API key started.' })
  actor?: string;

  @TimeParam({ description: 'Only runs created at or after this time, such as 2026-01-31T12:00:00Z.' })
  created_since?: string;

  @TimeParam({ description: 'Only runs created before this time.' })
  created_until?: string;
}

export class RowsQuery extends PageQuery {
  @ChoicesParam(STAGED_OUTCOMES, {
    description:
      'Only rows with this outcome. May be repeated. `unchanged` rows are stored only if they have a warning.',
  })
  outcome?: string[];

  @PatternParam(/^[a-z_]{1,32}$/, 'must be an error code', {
    maxLength: 32,
    description: 'Only rows whose first error or warning has this code.',
  })
  code?: string;

  @TextsParam(255, {
    description: 'Only the row with exactly this external id. May be repeated.',
    example: ['HR-10042'],
  })
  external_id?: string[];

  @PatternParam(/^-?\d{1,10}$/, 'must be the cursor of a page', {
    maxLength: 11,
    description:
      'Cursor from the `Link: rel="next"` header of the previous page. With a cursor, later pages are as fast as the first page.',
  })
  after?: string;
}

export class RevertQuery {
  @BooleanParam({ default: false, description: 'Only create the plan. Call `apply` to carry it out.' })
  dry_run: boolean = false;
}

export class ExportQuery extends UserConditions {
  @BooleanParam({
    default: false,
    description: 'Include users without an external id, unless `has_external_id` is set.',
  })
  all: boolean = false;

  @UuidsParam({ description: 'Only the user with this uuid. May be repeated. Unknown uuids are left out.' })
  uuid?: string[];
}

/** Body of a route that accepts a file only as part of a form. */
export const MULTIPART_CSV = {
  type: 'multipart/form-data',
  maxBytes: MAX_FILE_BYTES,
  description: 'Form with one CSV file of at most 100 MiB.',
};

export const CSV_UPLOAD = {
  type: 'text/csv',
  maxBytes: MAX_FILE_BYTES,
  description: 'CSV file of at most 100 MiB and 1,000,000 rows.',
  example: 'ExternalId,Username,Email,ForeName\nHR-20001,ada.king,ada.king@example.org,Ada\n',
};
