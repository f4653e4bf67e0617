import type { Writability } from '../engine/sql.js';

/** What a server says of itself when a connection is made. */
export interface ServerState {
  version: string;
  readOnly: boolean;
  /** Undefined where Galera is not in use. */
  galera?: GaleraState;
}

interface GaleraState {
  ready: boolean;
  /** The node is in the part of the cluster that has the majority. */
  primary: boolean;
  /** `Synced`, `Donor/Desynced`, `Joining`, … */
  comment: string;
}

/** The row of `STATE`. */
export interface StateRow {
  version: string;
  read_only: string | number;
  wsrep?: string | null;
}

/**
 * One statement that every server understands: the comment is SQL for MariaDB alone, whose status has the names of Galera
 * where it was built with it. A node that is not in step may refuse even this one.
 */
export const STATE = `SELECT VERSION() AS version, @@global.read_only AS read_only /*M!100200 ,
  (SELECT GROUP_CONCAT(variable_name, '=', variable_value SEPARATOR ';') FROM information_schema.global_status
   WHERE variable_name IN ('wsrep_provider_name', 'wsrep_ready', 'wsrep_cluster_status', 'wsrep_local_state_comment')
  ) AS wsrep */`;

export function readState({ version, read_only, wsrep }: StateRow): ServerState {
  const state = { version, readOnly: !['0', 'OFF'].includes(String(read_only)) };
  const status = new Map((wsrep ?? '').split(';').map(pair));
  if (!status.get('wsrep_provider_name')) return state;
  const galera = {
    ready: status.get('wsrep_ready') === 'ON',
    primary: status.get('wsrep_cluster_status') === 'Primary',
    comment: status.get('wsrep_local_state_comment') ?? '',
  };
  return { ...state, galera };
}

/** `NAME=value` with its name in small letters. */
function pair(text: string): [string, string] {
  const at = text.indexOf('=');
  return [text.slice(0, at).toLowerCase(), text.slice(at + 1)];
}

/** A donor of a state transfer may be blocked by it, or be far behind: it is not in step. */
export function writabilityOf({ readOnly, galera }: ServerState): Writability {
  if (galera && !(galera.ready && galera.primary && galera.comment === 'Synced')) return 'out_of_sync';
  return readOnly ? 'read_only' : 'writable';
}
