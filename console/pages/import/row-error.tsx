import type { Row, Run } from '../../api/client.js';
import { toHref } from '../../lib/url.js';

/** Returns the address of the list of failed rows, from a line on. */
export const toLineHref = ({ id }: Run, line: number): string =>
  toHref(`/imports/${id}`, { outcome: 'error', after: String(line - 1) });

/** Shows the message of an error. Links to the other user or to the line that the message mentions. */
export function RowError({ run, error }: { run: Run; error: Row['errors'][number] }) {
  const { message, code, uuid = '', user, depends_on_line: line } = error;
  const mention = line
    ? `line ${line}`
    : user
      ? `user ${user.username} (${user.name}, ${uuid})`
      : `user ${uuid}`;
  const [before, after] = uuid || line ? message.split(mention) : [message];
  return (
    <>
      {before}
      {after !== undefined && (
        <a class="inline" href={line ? toLineHref(run, line) : toHref(`/users/${uuid}`)} title={uuid}>
          {line ? mention : user ? `${user.name} (${user.username})` : 'another user'}
        </a>
      )}
      {after} <code class="muted">{code}</code>
    </>
  );
}
