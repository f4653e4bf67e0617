import { type ProblemError, isPart } from '../api/problem.js';
import { getLabel } from '../lib/text.js';
import { formatDuration } from '../lib/time.js';
import { Copy } from './copy.js';
import { Icon } from './icon.js';
import { UserLink } from './user-link.js';

interface NoteProps {
  problem: ProblemError | undefined;
  /** Fields whose errors the page shows itself. */
  fields?: readonly string[];
}

/** Shows an error of the service, and the request id of an internal error. */
export function ProblemNote({ problem, fields = [] }: NoteProps) {
  if (!problem) return null;
  const invalid = [...problem.errors, ...problem.conflicts].map(({ field }) => field);
  const others = [...new Set(invalid)].filter((field) => !fields.some((name) => isPart(field, name)));
  const conflicting = [...new Set(problem.conflicts.map(({ uuid }) => uuid))];
  return (
    <div class="note bad" role="alert">
      <Icon name="warning" />
      <div>
        <p>
          {invalid.length > 0 && others.length === 0 ? (
            'Nothing was saved. Correct the marked fields.'
          ) : (
            <>
              <strong>{problem.message}.</strong> {others.length === 0 && formatDetail(problem.detail)}
            </>
          )}
        </p>
        {others.length > 0 && (
          <ul>
            {others.map((field) => (
              <li key={field}>
                {getLabel(field)} {problem.getFieldError(field)}.
              </li>
            ))}
          </ul>
        )}
        {problem.retryAfter > 0 && <p>Try again in {formatDuration(problem.retryAfter)}.</p>}
        {conflicting.map((uuid) => (
          <p key={uuid}>
            Open <UserLink id={uuid} />
          </p>
        ))}
        {problem.status >= 500 && problem.requestId && (
          <p class="small">
            Request <Copy text={problem.requestId} what="request id" />
          </p>
        )}
      </div>
    </div>
  );
}

/** Replaces the names of fields and parameters in a text of the API. */
const formatDetail = (detail: string): string =>
  detail.replace(/^[a-z_]+|(?<=because )[a-z_]+(?= matches)|fulltext_search/g, getLabel);
