import { type Example, Examples, type Found } from './guard-examples.js';
import { CutValues } from './cut-values.js';
import { isGarbled } from './garbled-text.js';
import { DistinctValues, FrequentValues } from './value-counts.js';

/** A column with more values than this is one in which users differ. */
const FEW_VALUES = 10;

/** How a plan changes one column of the users that it matches. Memory does not grow with the rows. */
export class ColumnShape {
  changed = 0;
  emptied = 0;
  garbled = 0;
  /** Of `emptied`, of a column that holds yes or no: those that were yes. */
  readonly changes = new Examples();
  readonly clearings = new Examples();
  readonly damages = new Examples();
  private readonly cuts = new CutValues();
  private readonly news = new FrequentValues();
  private readonly olds = new DistinctValues(FEW_VALUES);
  /** Of a column that holds yes or no. */
  private switchedOn = 0;

  constructor(readonly field: string) {}

  add(old: unknown, now: unknown, row: { line: number; externalId: string }): void {
    const example = (): Example => ({ ...row, old, new: now });
    if (typeof now === 'boolean') {
      this.switch(now, example);
      return;
    }
    const [had, has] = [isFilled(this.field, old), isFilled(this.field, now)];
    if (had && has) {
      this.changed++;
      this.changes.add(example);
      this.cuts.add(old, now, example);
      if (isDamage(old, now)) {
        this.garbled++;
        this.damages.add(example);
      }
    } else if (had) {
      this.emptied++;
      this.clearings.add(example);
    }
    if (had) this.olds.add(textOf(old));
    if (has) this.news.add(textOf(now), example);
  }

  /** A value of a user whose row is only looked at. */
  sample(value: unknown): void {
    if (!this.olds.isMore && isFilled(this.field, value)) this.olds.add(textOf(value));
  }

  /** Takes back what `add` has counted, for a row that has failed after all. */
  remove(old: unknown, now: unknown, line: number): void {
    for (const examples of [this.changes, this.clearings, this.damages]) examples.remove(line);
    if (typeof now === 'boolean') {
      if (now) this.switchedOn--;
      else this.emptied--;
      return;
    }
    const [had, has] = [isFilled(this.field, old), isFilled(this.field, now)];
    if (had && has) {
      this.changed--;
      this.cuts.remove(old, now, line);
      if (isDamage(old, now)) this.garbled--;
    } else if (had) {
      this.emptied--;
    }
    if (has) this.news.remove(textOf(now), line);
  }

  /** Users whose value is replaced. Where some lose a yes, those that get one count too: a column may be turned round. */
  get replaced(): number {
    return this.emptied > 0 ? this.changed + this.switchedOn : this.changed;
  }

  /** Values that were cut at one length. */
  get cut(): Found {
    return this.cuts.most;
  }

  /** The value that most users get; of a column in which users had more than a few. */
  get same(): Found | undefined {
    if (!this.olds.isMore) return undefined;
    return this.news.most;
  }

  private switch(on: boolean, example: () => Example): void {
    if (on) this.switchedOn++;
    else this.emptied++;
    (on ? this.changes : this.clearings).add(example);
  }
}

const isDamage = (old: unknown, now: unknown): boolean =>
  typeof old === 'string' && typeof now === 'string' && isGarbled(old, now);

const textOf = (value: unknown): string => (typeof value === 'string' ? value : JSON.stringify(value));

/** Whether there is a value. Having no role is one: a first role is a right more. */
function isFilled(field: string, value: unknown): boolean {
  if (field === 'roles') return true;
  if (value === '' || value === null || value === undefined || value === false) return false;
  return typeof value !== 'object' || Object.keys(value).length > 0;
}
