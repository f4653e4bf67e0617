import { exactKey, loginKey } from '../../users/model/keys.js';
import { TextNumbers } from './compact-storage.js';

/**
 * What rows that fail name somebody by, in some 16 bytes a name: such a row claims nothing, but the users whom its cells
 * name are in the file, whatever is wrong with the row. Username and e-mail address are one space, as in a login.
 */
export class FailedNames {
  private readonly externalIds = new TextNumbers();
  private readonly logins = new TextNumbers();

  addExternalId(externalId: string): void {
    const key = exactKey(externalId);
    if (key !== '') this.externalIds.number(key);
  }

  /** @param name a username or an e-mail address. */
  addLogin(name: unknown): void {
    const key = typeof name === 'string' ? loginKey(name) : '';
    if (key !== '') this.logins.number(key);
  }

  /** Whether a row that failed names the user. */
  has(user: { external_id: string; username_key: string; email_key: string }): boolean {
    if (this.externalIds.find(exactKey(user.external_id)) !== 0) return true;
    return [user.username_key, user.email_key].some((key) => this.logins.find(key) !== 0);
  }
}
