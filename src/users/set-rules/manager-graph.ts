import type { ChangeNumbers, NumberStorage } from './number-storage.js';
import type { SetConstraint } from './set-constraint.js';

/**
 * The managers at the end of a set: those that changes set, laid over those of the database. A user is a
 * node, numbered from 1; 0 is nobody.
 */
export class ManagerGraph {
  private readonly users = this.storage.texts();
  private readonly manager = this.storage.integers();
  /** The manager if the change that sets it fails. */
  private readonly fallback = this.storage.integers();
  /** The change that creates the user or sets its manager; 0 where the database decides. */
  private readonly change = this.storage.integers();
  /** 1: the user is in the database. */
  private readonly exists = this.storage.integers();
  /** Users that exist and get another manager: only those can close a circle halfway through a run. */
  private readonly moves = this.storage.integers();

  constructor(private readonly storage: NumberStorage) {}

  /** A change creates a user, or gives an existing one another manager or none. */
  add(
    { change, user, creates }: SetConstraint,
    { before, after }: NonNullable<SetConstraint['manager']>,
  ): void {
    const node = this.node(user);
    this.change.set(node, change);
    this.manager.set(node, after === null ? 0 : this.node(after));
    if (creates) return;
    this.exists.set(node, 1);
    this.fallback.set(node, before === null ? 0 : this.node(before));
    this.moves.push(node);
  }

  /** A user of the database with its manager there. */
  addExistingManager(user: string, manager: string | null): void {
    const node = this.node(user);
    this.exists.set(node, 1);
    if (this.change.at(node) === 0 && manager !== null) this.manager.set(node, this.node(manager));
  }

  /** Changes that name a manager who is not in the database, each with the change that creates the manager; 0 for none. */
  *awaited(): Generator<[change: number, creator: number]> {
    for (let node = 1; node < this.change.length; node++) {
      const manager = this.manager.at(node);
      if (this.change.at(node) === 0 || manager === 0 || this.exists.at(manager) === 1) continue;
      yield [this.change.at(node), this.change.at(manager)];
    }
  }

  /** The changes that give their users one of these managers. */
  *changesBelow(managers: Iterable<string>): Generator<number> {
    const nodes = new Set(Array.from(managers, (user) => this.users.find(user)));
    for (let node = 1; node < this.change.length; node++) {
      if (this.change.at(node) !== 0 && nodes.has(this.manager.at(node))) yield this.change.at(node);
    }
  }

  /** Changes that fail leave everything as it was. */
  undo(failed: ChangeNumbers): void {
    for (let node = 1; node < this.change.length; node++) {
      const change = this.change.at(node);
      if (change === 0 || !failed.has(change)) continue;
      this.manager.set(node, this.fallback.at(node));
      this.change.set(node, 0);
    }
  }

  /** The changes on each circle of managers. A circle that no change makes is cut. */
  circles(): number[][] {
    const state = new Uint8Array(Math.max(this.manager.length, this.change.length)); // 0 new, 1 on this walk, 2 done
    const found: number[][] = [];
    for (let start = 1; start < this.change.length; start++) {
      const walk: number[] = [];
      let node = start;
      while (node !== 0 && state[node] === 0) {
        state[node] = 1;
        walk.push(node);
        node = this.manager.at(node);
      }
      if (node !== 0 && state[node] === 1) {
        const changes = walk.slice(walk.indexOf(node)).map((on) => this.change.at(on));
        const made = changes.filter((change) => change !== 0);
        // Managers that change while they are read can look like a circle; `order` must come to an end.
        if (made.length === 0) this.manager.set(node, 0);
        else found.push(made);
      }
      for (const done of walk) state[done] = 2;
    }
    return found;
  }

  /**
   * Pairs of changes of which the second must be applied first: from the top down, no change closes a circle with one that
   * is still to come. New users need none: nobody is below them yet.
   */
  *order(): Generator<[change: number, above: number]> {
    for (let index = 0; index < this.moves.length; index++) {
      const node = this.moves.at(index);
      const change = this.change.at(node);
      let above = this.manager.at(node);
      while (above !== 0 && this.change.at(above) === 0) above = this.manager.at(above);
      if (change !== 0 && above !== 0) yield [change, this.change.at(above)];
    }
  }

  private node(user: string): number {
    const node = this.users.number(user);
    if (node >= this.change.length) this.change.set(node, 0); // its length is the number of nodes
    return node;
  }
}
