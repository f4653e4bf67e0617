import type { ComponentChildren } from 'preact';
import { href } from '../../lib/place.js';
import { words } from '../../lib/text.js';
import type { Event } from './audit.js';

/** Pages of those that events name. */
const PAGES: Partial<Record<string, string>> = { user: '/users', import: '/imports', group: '/groups' };
const NOBODY = /^0{8}-/;

/** Who acted; of an import, who started and who approved it. */
export function Actor({ actor }: { actor: Event['actor'] }) {
  const { started_by: starter, approved_by: approver } = actor;
  return (
    <span>
      <Party {...actor} />
      {starter && (
        <span class="muted small">
          <br />
          started by <Party {...starter} />
        </span>
      )}
      {approver && (
        <span class="muted small">
          <br />
          approved by <Party {...approver} />
        </span>
      )}
    </span>
  );
}

/** A user, import, key and so on by its name, with its page where it has one; the end of its id where it has no name. */
export function Party(props: { kind: string; id: string | null; name: string }): ComponentChildren {
  const { kind, id, name } = props;
  if (id === null || NOBODY.test(id)) return words(kind);
  const page = PAGES[kind];
  const text = name || `…${id.slice(-6)}`;
  return (
    <>
      <span class="muted">{words(kind)}</span>{' '}
      {page ? (
        <a href={href(`${page}/${id}`)} title={id}>
          {text}
        </a>
      ) : (
        <span title={id}>{text}</span>
      )}
    </>
  );
}
