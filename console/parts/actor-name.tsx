import { formatCode } from '../lib/text.js';
import { toHref } from '../lib/url.js';

export interface Party {
  kind: string;
  id: string | null;
  name: string;
}

/** Paths of the pages of records, by kind. */
const PAGES: Partial<Record<string, string>> = { user: '/users', import: '/imports', group: '/groups' };

/** Shows the name of an actor or another record, as a link if the record has a page. */
export function ActorName({ actor: { kind, id, name } }: { actor: Party }) {
  const page = PAGES[kind];
  if (id === null) return <>{name || formatCode(kind)}</>;
  const text = name || `…${id.slice(-6)}`;
  return page ? (
    <a class="inline" href={toHref(`${page}/${id}`)} title={id}>
      {text}
    </a>
  ) : (
    <span title={id}>{text}</span>
  );
}
