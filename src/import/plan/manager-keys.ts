import { toExactKey, toLoginKey } from '../../users/model/comparison-keys.js';
import { TextNumbers } from '../../users/set-rules/number-collections.js';
import { findColumn, toHeaderKey } from '../file/columns.js';
import { sourcesOf, parseTemplate } from '../mapping/template.js';
import type { NamedProfile } from '../runs/import-profile.js';

/** Maps the cells of the source column `manager_key` to the ExternalIds of their rows. */
export class ManagerKeys {
  private readonly numbers = new TextNumbers();
  /** ExternalId by the number of its cell. Empty if rows with different ExternalIds have the same cell. */
  private readonly externalIds: string[] = [];

  /** @param identifier import column that the source column fills, if it identifies a user. */
  private constructor(readonly identifier: 'external_id' | 'login' | undefined) {}

  /** Returns undefined for a profile without `manager_key`. */
  static create(profile: NamedProfile | null): ManagerKeys | undefined {
    const { manager_key: source, columns = {}, set = {} } = profile ?? {};
    if (source === undefined) return undefined;
    const isSource = (name: string): boolean => toHeaderKey(name) === toHeaderKey(source);
    const targets = [
      ...Object.entries(columns).flatMap(([name, target]) => (isSource(name) ? target : [])),
      ...Object.entries(set).flatMap(([target, text]) =>
        sourcesOf(parseTemplate(text)).every(isSource) ? target : [],
      ),
    ];
    const fields = targets.map((name) => findColumn(name)?.field);
    if (fields.includes('external_id')) return new ManagerKeys('external_id');
    return new ManagerKeys(fields.includes('email') || fields.includes('username') ? 'login' : undefined);
  }

  add(cell: string, externalId: string): void {
    if (cell === '' || externalId === '') return;
    const number = this.numbers.assignNumber(this.toKey(cell));
    const known = this.externalIds[number];
    this.externalIds[number] = known === undefined || known === externalId ? externalId : '';
  }

  /** Returns the ExternalId of the row with this cell, an empty string for several rows, or undefined for none. */
  findExternalId(cell: string): string | undefined {
    const number = this.numbers.findNumber(this.toKey(cell));
    return number === 0 ? undefined : this.externalIds[number];
  }

  private toKey(cell: string): string {
    return this.identifier === 'login' ? toLoginKey(cell) : toExactKey(cell);
  }
}
