import type { AuditEvent, HistoryEvent } from '../api/client.js';
import { toHref } from '../lib/url.js';

const PAGES: Partial<Record<string, string>> = { user: '/users', import: '/imports' };

/** Shows the name of an actor, as a link if the actor has a page. */
export function ActorName({ actor }: { actor: AuditEvent['actor'] | HistoryEvent['actor'] }) {
  const page = PAGES[actor.kind];
  const name = actor.name || actor.kind;
  return page && actor.id ? <a href={toHref(`${page}/${actor.id}`)}>{name}</a> : <>{name}</>;
}
