import { formatCode } from '../../lib/text.js';
import { ActorName, type Party } from '../../parts/actor-name.js';
import { Copy } from '../../parts/copy.js';
import type { Event } from './audit.js';

const EMPTY_ID = /^0{8}-/;

/** Shows the actor of an event. For an import, also shows who started and approved it. */
export function Actor({ actor }: { actor: Event['actor'] }) {
  const { started_by: starter, approved_by: approver } = actor;
  return (
    <span>
      <PartyName of={actor} />
      {starter && <RelatedParty did="started by" party={starter} />}
      {approver && <RelatedParty did="approved by" party={approver} />}
    </span>
  );
}

const RelatedParty = ({ did, party }: { did: string; party: Party }) => (
  <span class="muted small">
    <br />
    {did} <ActorName actor={party} />
  </span>
);

/** Shows the kind and name of an actor or target. */
export const PartyName = ({ of: { kind, id, name } }: { of: Party }) =>
  id === null || EMPTY_ID.test(id) ? (
    <>{name || formatCode(kind)}</>
  ) : (
    <>
      <span class="muted">{formatCode(kind)}</span> <ActorName actor={{ kind, id, name }} />
    </>
  );

/** Shows the address from which an event was caused, and its request. */
export const Source = ({ of: { ip, request_id } }: { of: Pick<Event, 'ip' | 'request_id'> }) => (
  <details class="small muted">
    <summary>{ip ? `From ${ip}` : 'Internal'}</summary>
    Request <Copy text={request_id} what="request id" />
  </details>
);
