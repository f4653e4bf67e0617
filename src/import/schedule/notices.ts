import type { Log } from '../../platform/telemetry/log.js';

/** Names that are logged one by one; whoever may write to a folder may put any number there. */
const MAX_NAMES = 100;

/** What is logged of the names in a folder that is looked at again and again: each once, for as long as it is there. */
export class Notices {
  private known: ReadonlyMap<string, string> = new Map();
  private seen = new Map<string, string>();
  private more = 0;
  private knownMore = false;

  /** @param folder as the operator knows it. */
  constructor(
    private readonly log: Log,
    private readonly folder: string,
  ) {}

  /** Begins to look at the folder. */
  begin(): void {
    this.seen = new Map();
    this.more = 0;
  }

  add(file: string, reason: string): void {
    if (this.seen.size >= MAX_NAMES) this.more++;
    else {
      const isNew = this.known.get(file) !== reason;
      this.seen.set(file, reason);
      if (isNew) this.log.warning('file left alone', { folder: this.folder, file, reason });
    }
  }

  /** The folder was looked at as a whole: what was not there is logged anew when it returns. */
  end(): void {
    if (this.more > 0 && !this.knownMore)
      this.log.warning('more files left alone', { folder: this.folder, files: this.more });
    this.knownMore = this.more > 0;
    this.known = this.seen;
  }
}
