import type { Log } from '../../platform/telemetry/log.js';

/** Maximum number of files that are logged individually. */
const MAX_NAMES = 100;

/** Logs skipped files of a folder that is read repeatedly. Logs the same file with the same reason only once. */
export class SkippedFileLog {
  private logged: ReadonlyMap<string, string> = new Map();
  private current = new Map<string, string>();
  private unlisted = 0;
  private hasLoggedUnlisted = false;

  constructor(
    private readonly log: Log,
    private readonly folder: string,
  ) {}

  startPass(): void {
    this.current = new Map();
    this.unlisted = 0;
  }

  add(file: string, reason: string): void {
    if (this.current.size >= MAX_NAMES) this.unlisted++;
    else {
      const isNew = this.logged.get(file) !== reason;
      this.current.set(file, reason);
      if (isNew) this.log.warn('file skipped', { folder: this.folder, file, reason });
    }
  }

  /** Returns the reason why a file was skipped in the last complete pass. */
  find(file: string): string | undefined {
    return this.logged.get(file);
  }

  /**
   * Ends a pass. Forgets files that were not skipped in this pass, so that they are logged if they are skipped again.
   */
  endPass(): void {
    if (this.unlisted > 0 && !this.hasLoggedUnlisted)
      this.log.warn('more files skipped', { folder: this.folder, files: this.unlisted });
    this.hasLoggedUnlisted = this.unlisted > 0;
    this.logged = this.current;
  }
}
