import type { MigrationInterface, QueryRunner } from 'typeorm';
import { isObject } from '../../common/json.js';
import {
  type FieldWords,
  splitWords,
  splitWordsAndParts,
  toPhoneKey,
  weighWords,
} from '../../common/search-words.js';
import { foldCase, foldSpellings, foldText, toNormalForm, truncate } from '../../common/text.js';
import { type SqlValue, chunkValues, toPlaceholders } from '../engine/sql.js';

const PAGE = 1000;
/** Number of users between two lines of progress. */
const PROGRESS = 50_000;
/** Maximum number of rows in a statement. */
const MAX_ROWS = 1000;
const MAX_KEY = 255;

interface UserTexts {
  uuid: string;
  username: string;
  email: string;
  external_id: string;
  firstname: string;
  middle_name: string;
  surname: string;
  known_as: string;
  phone: string;
  mobile: string;
  hide_email: number;
  attributes: string | null;
}
type Fold = (text: string) => string[];

/**
 * Adds the second spelling of letters such as `ü` to the search words of existing users, and adds the domain of their
 * e-mail addresses and the reversed digits of their telephone numbers to `user_values`. Each page can be written again.
 */
export class SearchWords1795600012000 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    for await (const users of readPages(runner, 'Added search words')) {
      await replaceRows(runner, 'user_values (attribute, value_key, user_uuid)', users.flatMap(toValues));
      const words = users.filter(hasSpellings).flatMap((user) => toWords(user, foldSpellings));
      await replaceRows(runner, 'user_words (word, user_uuid, weight, public_weight)', words);
    }
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query("DELETE FROM user_values WHERE attribute IN ('email_domain', 'phone')");
    for await (const users of readPages(runner, 'Removed search words')) {
      for (const user of users.filter(hasSpellings)) {
        const added = toWords(user, foldSpellings).map(([word]) => word);
        for (const words of chunkValues(added, MAX_ROWS)) {
          const sql = `DELETE FROM user_words WHERE user_uuid = ? AND word IN (${toPlaceholders(words.length)})`;
          await runner.query(sql, [user.uuid, ...words]);
        }
        const words = toWords(user, (text) => [foldText(text)]);
        await replaceRows(runner, 'user_words (word, user_uuid, weight, public_weight)', words);
      }
    }
  }
}

async function* readPages(runner: QueryRunner, progress: string): AsyncGenerator<UserTexts[]> {
  let done = 0;
  for (let after: string | undefined = ''; after !== undefined;) {
    const users: UserTexts[] = await runner.dataSource.query<UserTexts[]>(
      `SELECT uuid, username, email, external_id, firstname, middle_name, surname, known_as, phone, mobile, hide_email, attributes
       FROM users WHERE uuid > ? ORDER BY uuid LIMIT ${PAGE}`,
      [after],
      runner,
    );
    yield users;
    done += users.length;
    after = users.at(-1)?.uuid;
    if (done > 0 && (after === undefined || done % PROGRESS === 0))
      process.stderr.write(`${progress} of ${done} users\n`);
  }
}

/** Writes rows, and overwrites rows whose keys exist. */
async function replaceRows(runner: QueryRunner, into: string, rows: readonly SqlValue[][]): Promise<void> {
  for (const part of chunkValues(rows, MAX_ROWS)) {
    const values = part.map((row) => `(${toPlaceholders(row.length)})`).join(', ');
    await runner.query(`REPLACE INTO ${into} VALUES ${values}`, part.flat());
  }
}

function toValues({ uuid, email, phone, mobile }: UserTexts): SqlValue[][] {
  const domain = ['email_domain', toKey(email.slice(email.lastIndexOf('@') + 1)), uuid];
  const numbers = [phone, mobile].map((number) => ['phone', toPhoneKey(number), uuid]);
  return [domain, ...numbers].filter(([, key]) => key !== '');
}

const toKey = (text: string): string => {
  const collapsed = toNormalForm(text, 'NFKC').trim().replace(/\s+/gu, ' ');
  return truncate(toNormalForm(foldCase(collapsed), 'NFKC'), MAX_KEY);
};

const hasSpellings = (user: UserTexts): boolean =>
  Object.values(user).some((text: unknown) => typeof text === 'string' && foldSpellings(text).length > 1);

/** Returns the rows of `user_words` of a user, as the user writer creates them. */
function toWords(user: UserTexts, fold: Fold): [string, string, number, number][] {
  const { firstname, middle_name, surname, known_as, username, email, external_id } = user;
  const localPart = email.slice(0, email.lastIndexOf('@'));
  const names = [firstname, middle_name, surname, known_as];
  return weighWords([
    ...names.map((name): FieldWords => [splitWordsAndParts(name, fold), 4]),
    [splitWordsAndParts(username, fold), 2],
    [[email, localPart].flatMap((text) => splitWords(text, fold)), 2, user.hide_email === 1],
    [splitWords(external_id, fold), 1],
    [splitWordsAndParts(displayNameOf(user), fold), 4, true],
  ]).map(({ word, weight, public_weight }) => [word, user.uuid, weight, public_weight]);
}

function displayNameOf({ attributes }: UserTexts): string {
  const parsed: unknown = attributes === null ? {} : JSON.parse(attributes);
  const name = isObject(parsed) ? parsed['displayName'] : '';
  return typeof name === 'string' ? name.toWellFormed().replaceAll('\0', ' ') : '';
}
