import type { ComponentChildren } from 'preact';
import { toHref } from '../../lib/url.js';
import { formatCode } from '../../lib/text.js';
import type { Event } from './audit.js';

interface PartyProps {
  kind: string;
  id: string | null;
  name: string;
}

/** Paths of the pages of actors and targets, by kind. */
const PAGES: Partial<Record<string, string>> = { user: '/users', import: '/imports', group: '/groups' };
const EMPTY_ID = /^0{8}-/;

/** Shows the actor of an event. For an import, also shows who started and approved it. */
export function Actor({ actor }: { actor: Event['actor'] }) {
  const { started_by: starter, approved_by: approver } = actor;
  return (
    <span>
      <Party {...actor} />
      {starter && <RelatedParty did="started by" party={starter} />}
      {approver && <RelatedParty did="approved by" party={approver} />}
    </span>
  );
}

const RelatedParty = ({ did, party }: { did: string; party: PartyProps }) => (
  <span class="muted small">
    <br />
    {did} {party.id === null ? party.name || formatCode(party.kind) : <Name {...party} id={party.id} />}
  </span>
);

/** Shows the kind and name of an actor or target. */
export const Party = ({ kind, id, name }: PartyProps): ComponentChildren =>
  id === null || EMPTY_ID.test(id) ? (
    name || formatCode(kind)
  ) : (
    <>
      <span class="muted">{formatCode(kind)}</span> <Name kind={kind} id={id} name={name} />
    </>
  );

/** Shows the name, or the end of the id if there is no name. Links to the page of the record if there is one. */
function Name({ kind, id, name }: PartyProps & { id: string }) {
  const page = PAGES[kind];
  const text = name || `…${id.slice(-6)}`;
  return page ? (
    <a class="inline" href={toHref(`${page}/${id}`)} title={id}>
      {text}
    </a>
  ) : (
    <span title={id}>{text}</span>
  );
}
