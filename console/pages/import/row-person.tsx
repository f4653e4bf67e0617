import type { Row } from '../../api/client.js';
import { UserName } from '../../parts/user-link.js';

/** Shows the name and external id of the person in a row, with a link if the user exists. */
export function RowPerson({ row: { external_id: id, name, uuid } }: { row: Row }) {
  const title = name || id || uuid || 'no external ID';
  return (
    <span class="who">
      {uuid ? <UserName id={uuid} name={title} /> : title}
      {name && id && (
        <>
          <br />
          <code class="muted small">{id}</code>
        </>
      )}
    </span>
  );
}
