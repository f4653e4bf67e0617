import type { WriteTurns } from './write-turns.js';

/**
 * Pages of the log at which they are written back into the file: 128 MiB. An import touches the same pages of the indexes in
 * each of its transactions, and the longer the log, the fewer times one is written back.
 */
const PAGES = 32_768;
/** Commits after which the log is looked at, at first and at most. */
const COMMITS = { first: 100, most: 2000 };

/** Pages that may be left for the turn: some milliseconds. */
const FEW = 100;
/** Passes beside the writers, who may be faster. */
const MOST_PASSES = 4;

/** Writes what is in the log back into the file. @returns the pages in the log. */
export type WriteBack = () => Promise<number>;

/**
 * Keeps the log of an embedded database short. SQLite would write it back inside of a COMMIT, for longer than a request
 * may take. Here that is done beside the writers, and again for what they have added meanwhile, until that is little. The
 * rest follows in a turn of its own, for which they wait, since the log begins anew only when all of it is written back.
 */
export class Checkpoints {
  private commits = 0;
  private due = COMMITS.first;
  private busy = false;

  constructor(
    private readonly writeBack: WriteBack,
    private readonly turns: WriteTurns,
  ) {}

  /** Counts a commit. */
  committed(): void {
    if (++this.commits < this.due || this.busy) return;
    this.busy = true;
    this.run()
      .catch(() => undefined) // the log stays as it is until the next time
      .finally(() => {
        this.busy = false;
      });
  }

  private async run(): Promise<void> {
    const { commits } = this;
    this.commits = 0;
    let pages = await this.writeBack();
    this.due = Math.min(COMMITS.most, Math.ceil((commits * PAGES) / Math.max(1, pages)));
    for (let pass = 1, added = pages; added > FEW && pass < MOST_PASSES; pass++) {
      const before = pages;
      pages = await this.writeBack();
      added = pages - before;
    }
    const end = await this.turns.take();
    try {
      await this.writeBack();
    } finally {
      end();
    }
  }
}
