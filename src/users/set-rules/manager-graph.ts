import type { ChangeNumbers, NumberStorage } from './number-storage.js';
import type { ManagerChange, SetConstraint } from './set-constraint.js';

/**
 * The managers of users after all changes of a set. Combines the managers in the database with the changes. Each user
 * is a node with a number from 1. Node 0 stands for no manager.
 */
export class ManagerGraph {
  private readonly users = this.storage.createTexts();
  /** Maps the node of a user to the node of its manager. */
  private readonly managers = this.storage.createIntegers();
  /** Maps the node of a user to the node of its manager if the change fails. */
  private readonly fallbacks = this.storage.createIntegers();
  /**
   * Maps the node of a user to the change that creates the user or sets its manager, or to 0 if there is no such
   * change.
   */
  private readonly changes = this.storage.createIntegers();
  /** Maps the node of a user to 1 if the user is in the database. */
  private readonly existing = this.storage.createIntegers();
  /** Existing users whose manager changes. Only these can form a cycle while the changes are applied one by one. */
  private readonly moved = this.storage.createIntegers();

  constructor(private readonly storage: NumberStorage) {}

  /** Adds a change that creates a user, or sets or clears the manager of an existing user. */
  add({ change, user, creates }: SetConstraint, { before, after }: ManagerChange): void {
    const node = this.getNode(user);
    this.changes.set(node, change);
    this.managers.set(node, after === null ? 0 : this.getNode(after));
    if (creates) return;
    this.existing.set(node, 1);
    this.fallbacks.set(node, before === null ? 0 : this.getNode(before));
    this.moved.push(node);
  }

  /** Adds a user of the database with its current manager. */
  addExistingManager(user: string, manager: string | null): void {
    const node = this.getNode(user);
    this.existing.set(node, 1);
    if (this.changes.at(node) === 0 && manager !== null) this.managers.set(node, this.getNode(manager));
  }

  /**
   * Yields changes that set a manager who is not in the database, with the change that creates the manager, or with 0
   * if no change does.
   */
  *listAwaited(): Generator<[change: number, creator: number]> {
    for (let node = 1; node < this.changes.length; node++) {
      const manager = this.managers.at(node);
      if (this.changes.at(node) === 0 || manager === 0 || this.existing.at(manager) === 1) continue;
      yield [this.changes.at(node), this.changes.at(manager)];
    }
  }

  /** Yields the changes that set one of the managers. */
  *findReports(managers: Iterable<string>): Generator<number> {
    const nodes = new Set(Array.from(managers, (user) => this.users.findNumber(user)));
    for (let node = 1; node < this.changes.length; node++) {
      if (this.changes.at(node) !== 0 && nodes.has(this.managers.at(node))) yield this.changes.at(node);
    }
  }

  /** Restores the previous managers of failed changes. */
  revert(failed: ChangeNumbers): void {
    for (let node = 1; node < this.changes.length; node++) {
      const change = this.changes.at(node);
      if (change === 0 || !failed.has(change)) continue;
      this.managers.set(node, this.fallbacks.at(node));
      this.changes.set(node, 0);
    }
  }

  /**
   * Finds the cycles of managers. Breaks cycles that no change causes.
   * @returns the changes on each of the other cycles.
   */
  findCycles(): number[][] {
    const state = new Uint8Array(Math.max(this.managers.length, this.changes.length)); // 0 new, 1 on this walk, 2 done
    const found: number[][] = [];
    for (let start = 1; start < this.changes.length; start++) {
      const walk: number[] = [];
      let node = start;
      while (node !== 0 && state[node] === 0) {
        state[node] = 1;
        walk.push(node);
        node = this.managers.at(node);
      }
      if (node !== 0 && state[node] === 1) {
        const changes = walk.slice(walk.indexOf(node)).map((member) => this.changes.at(member));
        const causes = changes.filter((change) => change !== 0);
        // Concurrent changes can make the stored managers look like a cycle, in which `listOrder` would not terminate.
        if (causes.length === 0) this.managers.set(node, 0);
        else found.push(causes);
      }
      for (const done of walk) state[done] = 2;
    }
    return found;
  }

  /**
   * Yields pairs of a change and a change that must be applied before it. Changes of managers come before changes of
   * their reports, so that no intermediate state has a cycle. New users are omitted, because they have no reports yet.
   */
  *listOrder(): Generator<[change: number, earlier: number]> {
    for (let index = 0; index < this.moved.length; index++) {
      const node = this.moved.at(index);
      const change = this.changes.at(node);
      let manager = this.managers.at(node);
      while (manager !== 0 && this.changes.at(manager) === 0) manager = this.managers.at(manager);
      if (change !== 0 && manager !== 0) yield [change, this.changes.at(manager)];
    }
  }

  private getNode(user: string): number {
    const node = this.users.assignNumber(user);
    if (node >= this.changes.length) this.changes.set(node, 0); // the length limits the loops over all nodes
    return node;
  }
}
