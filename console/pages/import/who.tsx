import type { Row } from '../../api/client.js';
import { href } from '../../lib/place.js';

interface WhoProps {
  row: Pick<Row, 'external_id'> & Partial<Pick<Row, 'name' | 'uuid'>>;
  /** Who is not there before the plan is applied. */
  isNew?: boolean;
}

/** The person that a row is about: the name, as a link where the user is there, and the external id. */
export function Who({ row: { external_id: id, name, uuid }, isNew = false }: WhoProps) {
  const title = name || id || uuid || 'no external ID';
  return (
    <span class="who">
      {uuid && !isNew ? <a href={href(`/users/${uuid}`)}>{title}</a> : title}
      {name && id && (
        <>
          <br />
          <code class="muted small">{id}</code>
        </>
      )}
    </span>
  );
}
