import type { Row, Run } from '../../api/client.js';
import { toHref } from '../../lib/url.js';

/** Returns the address of the list of failed rows, from a line on. */
export const toLineHref = ({ id }: Run, line: number): string =>
  toHref(`/imports/${id}`, { outcome: 'error', after: String(line - 1) });

interface RowErrorProps {
  run: Run;
  error: Row['errors'][number];
  /** Shows a line on the same page. @returns false if the page does not contain the line. */
  onLine?: (line: number) => boolean;
}

/** Shows the message of an error. Links to the other user or to the line that the message mentions. */
export function RowError({ run, error, onLine }: RowErrorProps) {
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
        <a
          class="inline"
          href={line ? toLineHref(run, line) : toHref(`/users/${uuid}`)}
          title={uuid}
          onClick={(event) => {
            if (!line || !onLine?.(line)) return;
            event.preventDefault();
            event.stopPropagation(); // otherwise the console opens the link
          }}
        >
          {line ? mention : user ? `${user.name} (${user.username})` : 'another user'}
        </a>
      )}
      {after} <code class="muted">{code}</code>
    </>
  );
}
