import { Page } from '../platform/http/page.js';
import { BooleanParam, ChoicesParam, PatternParam, TextsParam } from '../platform/input/query-rules.js';
import { MAX_FILE_BYTES } from './file/file-store.js';
import { DatasetParam } from './runs/import-options.js';
import { ROW_OUTCOMES } from './runs/import-row.js';
import { RUN_STATES } from './runs/run-states.js';

const LISTED_OUTCOMES = [...ROW_OUTCOMES, 'missing'];

export class RunsQuery extends Page {
  @ChoicesParam(RUN_STATES, { description: 'May be repeated.' })
  state?: string[];

  @DatasetParam()
  dataset?: string;
}

export class RowsQuery extends Page {
  @ChoicesParam(LISTED_OUTCOMES, {
    description: 'May be repeated. Rows that are `unchanged` are counted, not kept.',
  })
  outcome?: string[];

  @PatternParam(/^[a-z_]{1,32}$/, 'must be an error code', {
    maxLength: 32,
    description: 'Code of the first error or warning.',
  })
  code?: string;

  @TextsParam(255, {
    description: 'The rows of one person: as the rows have it, letter by letter. May be repeated.',
    example: ['HR-10042'],
  })
  external_id?: string[];

  @PatternParam(/^-?\d{1,10}$/, 'must be the cursor of a page', {
    maxLength: 11,
    description:
      'From the `Link: rel="next"` header of the page before. Every page of such a walk costs the same.',
  })
  after?: string;
}

export class RevertQuery {
  @BooleanParam({ default: false, description: 'Plan it only; `apply` goes on with the plan.' })
  dry_run: boolean = false;
}

export class ExportQuery {
  @BooleanParam({ default: false, description: 'Also users without an external id.' })
  all: boolean = false;
}

/** The file that an import or a preview takes. */
export const CSV_UPLOAD = {
  type: 'text/csv',
  maxBytes: MAX_FILE_BYTES,
  description: 'At most 100 MiB and 1,000,000 rows.',
  example: 'ExternalId,Username,Email,ForeName\nHR-20001,ada.king,ada.king@example.org,Ada\n',
};
