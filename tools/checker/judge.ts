import type { FinalState } from './final-state.js';
import type { Broken, History } from './history.js';
import { judgeAnswers, judgeRetries } from './judges/answers.js';
import { judgeAudit } from './judges/audit.js';
import { judgeCredentials } from './judges/credentials.js';
import { judgeCounts, judgeSearches, judgeWalks } from './judges/lists.js';
import { judgeRefusals } from './judges/refusals.js';
import { judgeManagers, judgeUnique, judgeWebmasters } from './judges/sets.js';
import { judgeIfMatch, judgeLost, judgeReads } from './judges/values.js';
import { timelines } from './timeline.js';

/** Returns the promises that were broken, according to the history of all clients and the final state. */
export function judge(history: History, final: FinalState): Broken[] {
  const lines = timelines(history, final);
  return [
    ...lines.broken,
    ...judgeLost(history, final),
    ...judgeIfMatch(history, final),
    ...judgeReads(history, final, lines),
    ...judgeAudit(history, final, lines),
    ...judgeUnique(final, lines),
    ...judgeManagers(final, lines),
    ...judgeWebmasters(final, lines),
    ...judgeCounts(history, final, lines),
    ...judgeWalks(history, final, lines),
    ...judgeSearches(final),
    ...judgeCredentials(history, lines),
    ...judgeRetries(history, final),
    ...judgeRefusals(history, lines),
    ...judgeAnswers(history, final),
  ];
}
