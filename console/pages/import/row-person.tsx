import type { Row } from '../../api/client.js';
import { useResource } from '../../api/resource.js';
import { loadDeletedUsers } from '../../api/users.js';
import { getDisplayName } from '../../parts/avatar.js';
import { UserName } from '../../parts/user-link.js';

/** Shows the name and external id of the person in a row, with a link if the user exists or was deleted. */
export function RowPerson({ row: { external_id: id, name: known, uuid } }: { row: Row }) {
  // The service returns no name for a deleted user.
  const { data } = useResource(known || !uuid ? undefined : uuid, (signal) =>
    loadDeletedUsers({ uuid: uuid ?? '' }, signal),
  );
  const name = data?.rows[0] ? getDisplayName(data.rows[0]) : known;
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
