import { type ChangeNumbers, IntList, NumberSet, TextNumbers } from './number-collections.js';
import type { ManagerChange, SetConstraint } from './set-constraint.js';

/**
 * The managers of users after all changes of a set. Each user is a node with a number from 1. Node 0 means no manager.
 */
export class ManagerGraph {
  private readonly users = new TextNumbers();
  /** Maps the node of each user to the node of the user's manager. */
  private readonly managers = new IntList();
  /** Maps the node of each user to the previous manager, which the user keeps if the change fails. */
  private readonly fallbacks = new IntList();
  /** Maps the node of each user to the change that creates the user or sets the manager. 0 without such a change. */
  private readonly changes = new IntList();
  /** Contains 1 for the node of each user who is in the database. */
  private readonly existing = new IntList();
  /** Nodes of existing users whose manager changes, and of restored users. Their changes wait for their managers. */
  private readonly moved = new IntList();
  /** Nodes of restored users. */
  private readonly restored = new NumberSet();
  /** Changes of users who have a manager before the change, each with the node of this manager at the same index. */
  private readonly reports = new IntList();
  private readonly formerManagers = new IntList();

  add({ change, user, creates, restores }: SetConstraint, { before, after }: ManagerChange): void {
    const node = this.getNode(user);
    this.changes.set(node, change);
    this.managers.set(node, after === null ? 0 : this.getNode(after));
    if (restores) this.restored.add(node);
    if (restores || !creates) this.moved.push(node);
    if (creates) return;
    this.existing.set(node, 1);
    this.fallbacks.set(node, before === null ? 0 : this.getNode(before));
  }

  /** Adds a user of the database with the current manager of this user. */
  addExistingManager(user: string, manager: string | null): void {
    const node = this.getNode(user);
    this.existing.set(node, 1);
    if (this.changes.at(node) === 0 && manager !== null) this.managers.set(node, this.getNode(manager));
  }

  /**
   * Lists the changes that set a manager who is not in the database. Each is paired with the change that creates this
   * manager, or with 0 if no change does.
   * @param restores true to list only the changes that restore users, false to list only the other changes.
   */
  *listManagerCreators(restores: boolean): Generator<[change: number, creator: number]> {
    for (let node = 1; node < this.changes.length; node++) {
      const manager = this.managers.at(node);
      if (this.changes.at(node) === 0 || manager === 0 || this.existing.at(manager) === 1) continue;
      if (this.restored.has(node) === restores) yield [this.changes.at(node), this.changes.at(manager)];
    }
  }

  /** Lists the changes that make one of the given users a manager. */
  *findAssignments(managers: Iterable<string>): Generator<number> {
    const nodes = new Set(Array.from(managers, (user) => this.users.findNumber(user)));
    for (let node = 1; node < this.changes.length; node++) {
      if (this.changes.at(node) !== 0 && nodes.has(this.managers.at(node))) yield this.changes.at(node);
    }
  }

  restoreManagers(failed: ChangeNumbers): void {
    for (let node = 1; node < this.changes.length; node++) {
      const change = this.changes.at(node);
      if (change === 0 || !failed.has(change)) continue;
      this.managers.set(node, this.fallbacks.at(node));
      this.changes.set(node, 0);
    }
  }

  /**
   * Finds cycles of managers, and returns the changes in each cycle, without the changes that restore users. A cycle
   * without other changes is not returned, but one manager in it is removed.
   */
  findCycles(): number[][] {
    const state = new Uint8Array(Math.max(this.managers.length, this.changes.length)); // 0: not visited, 1: visited on the current walk, 2: finished
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
        const members = walk.slice(walk.indexOf(node)).filter((member) => !this.restored.has(member));
        const causes = members.map((member) => this.changes.at(member)).filter((change) => change !== 0);
        // Managers that other transactions change meanwhile can appear to form a cycle. One manager is removed, because
        // `listOrderPairs` would never end in a cycle.
        if (causes.length === 0) this.managers.set(node, 0);
        else found.push(causes);
      }
      for (const done of walk) state[done] = 2;
    }
    return found;
  }

  /**
   * Yields pairs of a change and a change that must be applied earlier. Changes of managers come before changes of
   * their reports, to avoid temporary cycles.
   */
  *listOrderPairs(): Generator<[change: number, earlier: number]> {
    for (let index = 0; index < this.moved.length; index++) {
      const node = this.moved.at(index);
      const change = this.changes.at(node);
      let manager = this.managers.at(node);
      while (manager !== 0 && this.changes.at(manager) === 0) manager = this.managers.at(manager);
      if (change !== 0 && manager !== 0) yield [change, this.changes.at(manager)];
    }
  }

  /**
   * Records that the user of a change reports to `manager` before the change. A deletion of this manager then waits for
   * the change.
   */
  addReport(change: number, manager: string): void {
    this.reports.push(change);
    this.formerManagers.push(this.getNode(manager));
  }

  /**
   * Yields pairs of the deletion of a user and a change of a report of this user, which must be applied earlier. The
   * deletion also changes the report, whose version would then differ from the plan.
   */
  *listDeletionPairs(deletions: ReadonlyMap<number, string>): Generator<[deletion: number, earlier: number]> {
    const byNode = new Map(
      Array.from(deletions, ([change, user]) => [this.users.findNumber(user), change] as const),
    );
    for (let index = 0; index < this.reports.length; index++) {
      const deletion = byNode.get(this.formerManagers.at(index));
      if (deletion !== undefined) yield [deletion, this.reports.at(index)];
    }
  }

  private getNode(user: string): number {
    const node = this.users.assignNumber(user);
    if (node >= this.changes.length) this.changes.set(node, 0); // extends `changes`, because the loops over all nodes stop at `changes.length`
    return node;
  }
}
