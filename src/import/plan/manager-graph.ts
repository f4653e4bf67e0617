import { IntList } from './int-list.js';
import type { LineSet } from './line-set.js';
import { TextNumbers } from './text-numbers.js';

/**
 * Who stands above whom at the end of a file: the managers that rows set, laid over those of the database. Users who
 * exist are known by their uuid, those whom the file creates by their line. Users are numbered; 0 is nobody.
 */
export class ManagerGraph {
  private readonly uuids = new TextNumbers();
  private readonly nodeOfUuid = new IntList();
  private readonly nodeOfLine = new IntList();
  private readonly manager = new IntList();
  /** The manager if the row that sets it fails. */
  private readonly fallback = new IntList();
  /** The row that sets the manager; 0 where the database has the say. */
  private readonly line = new IntList();
  /** Rows whose user exists already: only those can close a circle in the midst of a run. */
  private readonly moves = new IntList();

  constructor() {
    this.append(); // 0 is nobody
  }

  /**
   * A row gives a user another manager, or takes it away.
   * @param before the manager that the user has had.
   */
  move(line: number, user: string, manager: string | null, before: string | null): void {
    const node = this.node(user);
    this.moves.push(node);
    this.fallback.set(node, before === null ? 0 : this.node(before));
    this.place(line, node, manager);
  }

  /** A row creates a user. */
  create(line: number, manager: string | null): void {
    this.place(line, this.append(), manager);
  }

  /** The manager of a row's user is the user of another row. One without a node has nobody above. */
  point(line: number, other: number): void {
    const manager = this.nodeOfLine.at(other);
    if (manager !== 0) this.manager.set(this.nodeOfLine.at(line), manager);
  }

  /** A user's manager in the database, where no row sets another one. */
  know(user: string, manager: string | null): void {
    const node = this.node(user);
    if (this.line.at(node) === 0 && manager !== null) this.manager.set(node, this.node(manager));
  }

  /** Rows that fail leave everything as it was. */
  undo(failed: LineSet): void {
    for (let node = 1; node < this.line.length; node++) {
      const line = this.line.at(node);
      if (line === 0 || !failed.has(line)) continue;
      this.manager.set(node, this.fallback.at(node));
      this.line.set(node, 0);
    }
  }

  /** The rows that stand on a circle. A circle that no row makes is cut. */
  circles(): number[] {
    const state = new Uint8Array(this.line.length); // 0 not seen, 1 on the present walk, 2 done
    const found: number[] = [];
    for (let start = 1; start < this.line.length; start++) {
      const walk: number[] = [];
      let node = start;
      while (node !== 0 && state[node] === 0) {
        state[node] = 1;
        walk.push(node);
        node = this.manager.at(node);
      }
      if (node !== 0 && state[node] === 1) {
        const lines = walk.slice(walk.indexOf(node)).map((on) => this.line.at(on));
        const made = lines.filter((line) => line !== 0);
        // Managers that change while they are read can seem to stand in a circle; `order` must come to an end.
        if (made.length === 0) this.manager.set(node, 0);
        for (const line of made) found.push(line);
      }
      for (const done of walk) state[done] = 2;
    }
    return found;
  }

  /**
   * Pairs of rows of which the second must be applied first: applied from the top down, no row closes a circle with a
   * row that is still to come. New users need none: nobody stands below them yet.
   */
  *order(): Generator<[line: number, above: number]> {
    for (let index = 0; index < this.moves.length; index++) {
      const node = this.moves.at(index);
      const line = this.line.at(node);
      let above = this.manager.at(node);
      while (above !== 0 && this.line.at(above) === 0) above = this.manager.at(above);
      if (line !== 0 && above !== 0) yield [line, this.line.at(above)];
    }
  }

  private place(line: number, node: number, manager: string | null): void {
    this.line.set(node, line);
    this.nodeOfLine.set(line, node);
    this.manager.set(node, manager === null ? 0 : this.node(manager));
  }

  private node(user: string): number {
    const number = this.uuids.number(user);
    const known = this.nodeOfUuid.at(number);
    if (known !== 0) return known;
    const node = this.append();
    this.nodeOfUuid.set(number, node);
    return node;
  }

  private append(): number {
    const node = this.line.length;
    for (const list of [this.manager, this.fallback, this.line]) list.push(0);
    return node;
  }
}
