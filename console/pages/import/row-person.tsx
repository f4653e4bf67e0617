import type { Row } from '../../api/client.js';
import { toHref } from '../../lib/url.js';

interface WhoProps {
  row: Pick<Row, 'external_id'> & Partial<Pick<Row, 'name' | 'uuid'>>;
  /** True if the user does not exist until the plan is applied. */
  isNew?: boolean;
}

/** Shows the name and external id of the person in a row, with a link if the user exists. */
export function RowPerson({ row: { external_id: id, name, uuid }, isNew = false }: WhoProps) {
  const title = name || id || uuid || 'no external ID';
  return (
    <span class="who">
      {uuid && !isNew ? <a href={toHref(`/users/${uuid}`)}>{title}</a> : title}
      {name && id && (
        <>
          <br />
          <code class="muted small">{id}</code>
        </>
      )}
    </span>
  );
}
