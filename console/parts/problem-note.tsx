import type { ProblemError } from '../api/problem.js';
import { getLabel } from '../lib/text.js';
import { formatDuration } from '../lib/time.js';
import { Copy } from './copy.js';
import { Icon } from './icon.js';

/**
 * Shows an error of the service with its request id.
 * @param fields fields whose errors the page shows itself.
 */
export function ProblemNote({
  problem,
  fields = [],
}: {
  problem: ProblemError | undefined;
  fields?: readonly string[];
}) {
  if (!problem) return null;
  const others = problem.errors.filter(
    ({ field }) => !fields.some((name) => field === name || field.startsWith(`${name}.`)),
  );
  return (
    <div class="note bad" role="alert">
      <Icon name="warning" />
      <div>
        <p>
          <strong>{problem.message}.</strong> {problem.detail}
        </p>
        {others.length > 0 && (
          <ul>
            {others.map(({ field, message }) => (
              <li key={field}>
                {getLabel(field)}: {message}
              </li>
            ))}
          </ul>
        )}
        {problem.retryAfter > 0 && <p>Try again in {formatDuration(problem.retryAfter)}.</p>}
        {problem.requestId && (
          <p class="small">
            Request <Copy text={problem.requestId} what="request id" />
          </p>
        )}
      </div>
    </div>
  );
}
