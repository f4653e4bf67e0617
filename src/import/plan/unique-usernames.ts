import { truncate } from '../../platform/common/text.js';
import { toLoginIdentifier, toLoginKey, toOwnerHash } from '../../users/model/comparison-keys.js';
import { MAX } from '../../users/model/formats.js';
import type { UserDirectory } from '../../users/search/user-directory.service.js';
import { IntList, TextNumbers } from '../../users/set-rules/number-collections.js';
import { isUnique, parseTemplate } from '../mapping/template.js';
import { findColumn } from '../file/columns.js';
import type { NamedProfile } from '../runs/import-profile.js';

/** Returns true if the usernames of new users come from a template with the function `unique`. */
export const hasUniqueUsernames = (profile: NamedProfile | null): boolean =>
  Object.entries(profile?.set ?? {}).some(
    ([name, text]) => findColumn(name)?.field === 'username' && isUnique(parseTemplate(text)),
  );

/** A row of a new user, with the username that the template has built. */
export interface NewUsername {
  line: number;
  username: string;
  externalId: string;
}

/**
 * Chooses the usernames of the new users of a file: the result of the template, with a number (2, 3, …) if it is taken
 * or released. A released username is free for its last owner. Needs about 40 bytes for each username.
 */
export class UniqueUsernames {
  private readonly chosen = new TextNumbers();
  private readonly bases = new TextNumbers();
  /** Highest number that was tried for each username in `bases`, at the same index. */
  private readonly tried = new IntList();

  /** @param isSetInFile returns true if another row than `line` sets the identifier. */
  constructor(
    private readonly directory: Pick<UserDirectory, 'findOwners' | 'findReleasedUsernames'>,
    private readonly isSetInFile: (identifier: string, line: number) => boolean,
  ) {}

  /**
   * Chooses the usernames of rows in their order. Needs two statements, and two more each time that the number of
   * candidates is doubled.
   * @returns the username by line.
   */
  async choose(rows: readonly NewUsername[]): Promise<Map<number, string>> {
    const names = new Map<number, string>();
    let open = rows;
    for (let spare = 1; open.length > 0; spare *= 2) {
      const counts = Map.groupBy(open, ({ username }) => this.bases.assignNumber(toLoginKey(username)));
      const candidates = [...counts].flatMap(([base, { length, 0: first }]) =>
        Array.from({ length: length * spare }, (_, at) =>
          addNumber(first?.username ?? '', this.tried.at(base) + at + 1),
        ),
      );
      const owners = await this.directory.findOwners(candidates.map(toLoginIdentifier));
      const released = await this.directory.findReleasedUsernames(candidates);
      const isFree = (username: string, { line, externalId }: NewUsername): boolean => {
        const identifier = toLoginIdentifier(username);
        const owner = released.get(toLoginKey(username));
        if (owner !== undefined && (owner === '' || owner !== toOwnerHash(externalId))) return false;
        return (
          !owners.has(identifier) &&
          this.chosen.findNumber(identifier) === 0 &&
          !this.isSetInFile(identifier, line)
        );
      };
      const limits = new Map(
        [...counts].map(([base, { length }]) => [base, this.tried.at(base) + length * spare]),
      );
      open = open.filter((row) => {
        const base = this.bases.assignNumber(toLoginKey(row.username));
        for (let tried = this.tried.at(base); tried < (limits.get(base) ?? 0);) {
          this.tried.set(base, ++tried);
          const name = addNumber(row.username, tried);
          if (!isFree(name, row)) continue;
          this.chosen.assignNumber(toLoginIdentifier(name));
          names.set(row.line, name);
          return false;
        }
        return true;
      });
    }
    return names;
  }
}

/** Appends a number to a username, except the number 1. Shortens a long username by the length of the number. */
const addNumber = (username: string, number: number): string =>
  number === 1 ? username : `${truncate(username, MAX.username - String(number).length)}${number}`;
