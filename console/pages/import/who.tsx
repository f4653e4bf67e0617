import type { Row } from '../../api/client.js';
import { href } from '../../lib/place.js';

/** The user that a row is about, as a link where it is known. @param isNew who is not there before the plan is applied. */
export function Who({ row, isNew = false }: { row: Row; isNew?: boolean }) {
  const text = row.external_id || row.uuid || 'no external id';
  return row.uuid && !isNew ? <a href={href(`/users/${row.uuid}`)}>{text}</a> : <code>{text}</code>;
}
