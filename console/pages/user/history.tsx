import type { AuditEvent } from '../../api/client.js';
import { useResource } from '../../api/resource.js';
import { useUrl } from '../../lib/url.js';
import { formatCode } from '../../lib/text.js';
import { ChangeList } from '../../parts/change.js';
import { Card } from '../../parts/page.js';
import { Pager } from '../../parts/pager.js';
import { ProblemNote } from '../../parts/problem-note.js';
import { Time } from '../../parts/time.js';
import { loadEvents } from '../../api/users.js';
import { Actor, Source } from '../audit/parties.js';

const PAGE = 25;

/** Shows the audit events of a user with their actors and changed values. */
export function History({ id }: { id: string }) {
  const { query } = useUrl();
  const after = query.get('after') ?? '';
  const { data, problem, isLoading } = useResource(`${id} ${after}`, (signal) =>
    loadEvents({ target: id, limit: PAGE, ...(after && { after }) }, signal),
  );
  return (
    <Card title="History">
      <ProblemNote problem={problem} />
      {data && data.rows.length === 0 && <p class="muted">No events have been recorded.</p>}
      <ol class="timeline" aria-busy={isLoading}>
        {data?.rows.map((event) => (
          <Event key={event.id} event={event} />
        ))}
      </ol>
      <Pager page={data} unit="event" />
    </Card>
  );
}

function Event({ event }: { event: AuditEvent }) {
  const { actor, action, changes, reason, time } = event;
  return (
    <li>
      <div class="when">
        <strong>{formatCode(action.replace('user.', ''))}</strong>
        <Actor actor={actor} />
        <span class="muted small">
          <Time at={time} isShort={false} />
        </span>
      </div>
      {reason && <p class="reason">{reason}</p>}
      {changes.length > 0 && <ChangeList changes={changes} />}
      <Source of={event} />
    </li>
  );
}
