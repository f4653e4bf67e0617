import type { Guard, Run } from '../../api/client.js';
import { getLabel, formatNumber, formatCode } from '../../lib/text.js';
import { toHref } from '../../lib/url.js';
import { Card } from '../../parts/page.js';
import { Pill } from '../../parts/pill.js';
import { ChangeTable } from './field-groups.js';

/** Maximum number of guards that are listed without a hint. */
const MAX_EXPLAINED = 3;

function formatGuard({ field, value, limit }: Guard): string {
  const subject = field === null ? '' : `${getLabel(field)}: `;
  return `${subject}${formatNumber(value)}. More than ${formatNumber(limit)} need approval.`;
}

/** Shows every tripped guard with its numbers, a hint and example rows. */
export function Guards({ run }: { run: Run }) {
  const hits = run.guards.filter(({ hit }) => hit);
  const waits = run.state === 'needs_approval';
  const explained = hits.filter(({ hint }) => hint === '');
  const shown = hits.filter(({ hint }) => hint !== '');
  if (hits.length === 0) return null;
  return (
    <Card title={waits ? 'Why this import needs approval' : 'Tripped guards'}>
      {waits && (
        <p class="muted">
          No user has been changed yet. Review the guards below, then approve or reject the import.
        </p>
      )}
      {shown.map((guard) => (
        <article key={`${guard.name} ${guard.field ?? ''}`} class="guard">
          <h3>
            <Pill tone="warn">{formatCode(guard.name)}</Pill> {formatGuard(guard)}
          </h3>
          <p class="muted">{guard.hint}</p>
          {guard.examples.length > 0 && (
            <ChangeTable
              caption={`Examples: ${formatCode(guard.name)}${guard.field ? `, ${getLabel(guard.field)}` : ''}`}
              changes={guard.examples.map(({ line, external_id: id, name, ...change }) => ({
                line,
                person: <a href={toHref(`/imports/${run.id}`, { person: id })}>{name || id}</a>,
                change,
              }))}
            />
          )}
        </article>
      ))}
      {explained.length > 0 && (
        <p class="muted">
          Also over their limits:{' '}
          {explained
            .slice(0, MAX_EXPLAINED)
            .map((guard) => `${formatCode(guard.name)}, ${formatGuard(guard)}`)
            .join(' ')}
          {explained.length > MAX_EXPLAINED && ` ${explained.length - MAX_EXPLAINED} more.`}
        </p>
      )}
    </Card>
  );
}
