import type { Row } from '../../api/client.js';
import { href } from '../../lib/place.js';

/** The user that a row is about, as a link where it is known. */
export function Who({ row }: { row: Row }) {
  const text = row.external_id || row.uuid || 'no external id';
  return row.uuid ? <a href={href(`/users/${row.uuid}`)}>{text}</a> : <code>{text}</code>;
}
