import { tableOf } from '../../platform/database/engine/bulk.js';
import type { TableColumns } from '../../platform/database/engine/snapshot.js';

type Entities = readonly (new () => object)[];

/**
 * What belongs to the moment and not to the data: sessions, since who has logged out or was blocked must not come back;
 * failed logins that slow down the next; owners of work that have long ended. A restore empties these tables.
 */
const LEFT_OUT: ReadonlySet<string> = new Set(['sessions', 'login_failures', 'leases']);

/** Every table of the service. */
export const allTables = (entities: Entities): readonly TableColumns[] => entities.map(tableOf);

/** The tables of a backup. */
export const backedUpTables = (entities: Entities): readonly TableColumns[] =>
  allTables(entities).filter(({ name }) => !LEFT_OUT.has(name));
