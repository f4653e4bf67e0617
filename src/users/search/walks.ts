import { Injectable } from '@nestjs/common';
import type { Cursor } from './cursor.js';

/** Users that an index skips faster than a place is found. */
const NEAR = 500;
/** The farthest that a page goes on from a place before it. */
const REACH = 1000;
const MAX_WALKS = 100;
const MAX_PLACES = 32;

/** Where the page behind so many users begins. */
interface Place {
  offset: number;
  cursor: Cursor;
}

/** What is searched, with its order, and the counter of all changes, read before the page. */
interface Walk {
  of: string;
  changes: number;
}

/**
 * Places where pages have ended, so that a walk by `offset` goes on from there instead of skipping all users before it
 * (ADR 0007). A place holds as long as no user changes. A place that is missing costs time and nothing else.
 */
@Injectable()
export class UserWalks {
  /** By what is searched and its order; the one used last is last. */
  private readonly walks = new Map<string, { changes: number; places: Place[] }>();

  /** The last known place at or shortly before an offset. */
  find({ of, changes }: Walk, offset: number): Place | undefined {
    const known = this.walks.get(of);
    if (known?.changes !== changes) return undefined;
    const before = known.places.filter((place) => place.offset <= offset && offset - place.offset <= REACH);
    return before.reduce<Place | undefined>(
      (last, place) => (last && last.offset >= place.offset ? last : place),
      undefined,
    );
  }

  note({ of, changes }: Walk, place: Place): void {
    if (place.offset < NEAR) return;
    const known = this.walks.get(of);
    const places = known?.changes === changes ? known.places : [];
    this.walks.delete(of);
    this.walks.set(of, { changes, places: [...places, place].slice(-MAX_PLACES) });
    const [oldest] = this.walks.keys();
    if (this.walks.size > MAX_WALKS && oldest !== undefined) this.walks.delete(oldest);
  }
}
