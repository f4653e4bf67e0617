import type { FinalState } from './final-state.js';
import type { Violation, History } from './history.js';
import { checkResponses, checkRetries } from './checks/responses.js';
import { checkAudit } from './checks/audit.js';
import { checkCredentials } from './checks/credentials.js';
import { checkCounts, checkSearches, checkWalks } from './checks/lists.js';
import { checkRefusals } from './checks/refusals.js';
import { checkManagers, checkUniqueness, checkWebmasters } from './checks/sets.js';
import { checkIfMatch, checkLostWrites, checkReads } from './checks/values.js';
import { buildTimelines } from './timeline.js';

/** Returns the promises that were broken, according to the history of all clients and the final state. */
export function checkHistory(history: History, final: FinalState): Violation[] {
  const lines = buildTimelines(history, final);
  return [
    ...lines.broken,
    ...checkLostWrites(history, final),
    ...checkIfMatch(history, final),
    ...checkReads(history, final, lines),
    ...checkAudit(history, final, lines),
    ...checkUniqueness(final, lines),
    ...checkManagers(final, lines),
    ...checkWebmasters(final, lines),
    ...checkCounts(history, final, lines),
    ...checkWalks(history, final, lines),
    ...checkSearches(final),
    ...checkCredentials(history, lines),
    ...checkRetries(history, final),
    ...checkRefusals(history, lines),
    ...checkResponses(history, final),
  ];
}
