import type { Row, Run } from '../../api/client.js';
import { isWorking } from '../../api/events.js';
import { useResource } from '../../api/resource.js';
import { formatCode, formatCount, formatNumber } from '../../lib/text.js';
import { toHref, useUrl } from '../../lib/url.js';
import { LinkButton } from '../../parts/button.js';
import { Card } from '../../parts/page.js';
import { ProblemNote } from '../../parts/problem-note.js';
import { Correction } from './correction.js';
import { isCorrectable } from './failed-rows.js';
import { toLineHref } from './row-error.js';
import { getCount, isWaiting, loadManyRows, loadRows } from './runs.js';

/** Loads the first failed rows of a run, and the number of rows for each of their error codes. */
async function loadFailures(id: string, signal: AbortSignal) {
  const filter = { outcome: 'error', person: '', after: '' };
  const { rows } = await loadManyRows(id, filter, signal);
  const codes = [...new Set(rows.map(({ errors }) => errors[0]?.code ?? ''))];
  const counts = codes.map(async (code): Promise<[code: string, rows: number]> => {
    return [code, (await loadRows(id, { ...filter, code }, signal, 1)).count];
  });
  return { rows, counts: (await Promise.all(counts)).sort(([, a], [, b]) => b - a) };
}

/** Shows the failed rows of a run: the lines that caused other failures, then the errors by code. */
export function Failures({ run }: { run: Run }) {
  const { path, query } = useUrl();
  const hasErrors = !isWorking(run) && getCount(run, 'error') > 0;
  const { data, problem } = useResource(hasErrors ? `${run.id} ${run.state}` : undefined, (signal) =>
    loadFailures(run.id, signal),
  );
  if (!hasErrors) return null;
  const isCorrecting = isCorrectable(run) && query.get('view') === 'correct';
  return (
    <>
      <Card
        title="Errors"
        actions={
          <>
            <LinkButton text="Failed rows" href={`/api/0.3/imports/${run.id}/failed.csv`} download />
            {isCorrectable(run) && (
              <LinkButton
                text={isCorrecting ? 'List the rows' : 'Correct the rows'}
                href={toHref(path, { outcome: 'error', view: isCorrecting ? '' : 'correct' })}
              />
            )}
          </>
        }
      >
        <div class="stack">
          <ProblemNote problem={problem} />
          {run.causes.length > 0 && <Causes run={run} rows={data?.rows ?? []} />}
          <nav class="tags" aria-label="Errors by code">
            {data?.counts.map(([code, rows]) => (
              <a
                key={code}
                class="tag"
                href={toHref(path, { outcome: 'error', code })}
                aria-current={code === query.get('code') ? 'true' : undefined}
              >
                {formatCode(code)} <strong>{formatNumber(rows)}</strong>
              </a>
            ))}
          </nav>
          {isWaiting(run) && !run.reverts && !run.change && (
            <p class="muted">Failed rows can be corrected here after an import ends.</p>
          )}
        </div>
      </Card>
      {isCorrecting && data && <Correction run={run} errors={data.rows} />}
    </>
  );
}

/** Lists the failed rows that made other rows fail, with the number of these rows. */
function Causes({ run, rows }: { run: Run; rows: readonly Row[] }) {
  const { causes } = run;
  const failures = causes.reduce((sum, cause) => sum + cause.failures, 0);
  const errors = formatCount(getCount(run, 'error'), 'error');
  return (
    <div>
      <p>
        {`${formatCount(causes.length, 'line causes', 'lines cause')} ${formatNumber(failures)} of the ${errors}:`}
      </p>
      <ul>
        {causes.map((cause) => (
          <li key={cause.line}>
            <a class="inline" href={toLineHref(run, cause.line)}>
              Line {cause.line}
            </a>{' '}
            {rows.find(({ line }) => line === cause.line)?.name}: {formatCount(cause.failures, 'error')}
          </li>
        ))}
      </ul>
    </div>
  );
}
