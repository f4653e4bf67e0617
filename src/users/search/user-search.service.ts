import { Inject, Injectable } from '@nestjs/common';
import type { Actor } from '../../access/actor.js';
import { DATABASE, type Database } from '../../platform/database/engine/database.js';
import { type Clause, orderedJoinOperatorOf } from '../../platform/database/engine/sql.js';
import {
  type Direction,
  type PageOrder,
  type PageWindow,
  type Position,
  encodeCursor,
  parsePageWindow,
  readPages,
} from '../../platform/database/keyset-pages.js';
import type { User } from '../model/user.js';
import { UserSettings } from '../rules/user-settings.js';
import { UserCounts } from '../writer/user-counts.service.js';
import { toUserFilter, MIN_PREFIX } from './filter.js';
import { SearchBudget } from './search-budget.service.js';
import {
  type ConditionForm,
  type UserFilter,
  type WordMatch,
  buildScoreOrder,
  buildUserOrder,
  getCostDriver,
  isWordSearch,
  listBroadParts,
  toScore,
  toTestedUsers,
  toUserSet,
  toWordSet,
} from './search-plan.js';
import { type Hit, MAX_SKIPPED_USERS, NO_KEY, UserPages, type UserSet } from './user-pages.service.js';
import {
  type ResolvedQuery,
  type Sort,
  type UserConditions,
  type UserQuery,
  resolveSort,
  type FoundConditions,
} from './user.query.js';
import { splitFoldedText } from '../../platform/common/search-words.js';
import { countCharacters, foldText } from '../../platform/common/text.js';
import { isUuid } from '../../platform/common/uuid.js';
import { MAX, hasTopLevelDomain, isEmailAddress } from '../model/formats.js';

export interface UserPage {
  count: number;
  users: User[];
  /** Cursor of the next page, undefined on the last page. */
  next: string | undefined;
}

interface Search {
  filter: UserFilter;
  sort: Sort;
  order: Direction;
  place: PageWindow;
  /** Cached counts of a word search. Undefined for other searches. */
  wordCounts: WordCounts | undefined;
}

/** Numbers of users. Undefined if a search has conditions other than whole words and the status. */
type Totals = Awaited<ReturnType<UserCounts['countUsers']>> | undefined;

const BY_UUID: PageOrder = { order: 'asc', ranges: [{ key: NO_KEY, only: null, unique: false }] };
/** Number of users that `readAll` reads together. */
const READ_AT_ONCE = 500;

/** Number of word matches above which a search is broad. */
const MAX_NARROW_MATCHES = 500;
/** Maximum number of matches to count for each word or condition. */
const MAX_COUNTED_MATCHES = 10_000;
/** Maximum number of word searches whose counts are cached. */
const MAX_KEPT_COUNTS = 500;

/** Maximum age of cached counts, as in every cache. `version` alone keeps the counts exact. */
const MAX_KEPT_MILLIS = 60_000;

/** Cached counts of a word search, valid until `version` changes. The first search fills them in. */
interface WordCounts {
  version: number;
  expires: number;
  /** The number of matches of each word, see `countMatches`. */
  matches?: readonly number[];
  byScore?: Awaited<ReturnType<UserPages['countByKey']>>;
}

/** Searches users for `GET /users/search` (interface §5). */
@Injectable()
export class UserSearch {
  private readonly wordCounts = new Map<string, WordCounts>();

  constructor(
    @Inject(DATABASE) private readonly database: Database,
    private readonly pages: UserPages,
    private readonly counts: UserCounts,
    private readonly settings: UserSettings,
    private readonly budget: SearchBudget,
  ) {}

  /**
   * Searches users. A broad search needs a slot of `SearchBudget`.
   * @param getDisconnect returns a signal that aborts when the client disconnects.
   * @throws ProblemError `invalid_parameter`, `forbidden`, or an error of `SearchBudget.run`.
   */
  async search(sent: UserQuery, actor: Actor, getDisconnect: () => AbortSignal): Promise<UserPage> {
    const query = await this.resolveFind(sent, actor);
    const parsed = toUserFilter(query, actor, this.settings.roles);
    const { countedStatuses } = parsed;
    const isWords = isWordSearch(parsed);
    const totals =
      isWords || countedStatuses ? await this.counts.countUsers(countedStatuses ?? []) : undefined;
    const wordCounts = isWords && totals ? this.getWordCounts(parsed, totals.wordVersion) : undefined;
    const driver = getCostDriver(parsed);
    const matches =
      wordCounts?.matches ?? (driver === 'words' ? await this.countMatches(parsed.words) : undefined);
    if (wordCounts && matches) wordCounts.matches = matches;
    const filter = { ...parsed, words: sortByMatches(parsed.words, matches) };
    const { order = 'desc' } = query;
    const sort = resolveSort(query);
    const { ranges } = buildUserOrder(sort, order, toScore(filter), 'many');
    const place = parsePageWindow(query, [sort, order], ranges);
    const search = { filter, sort, order, place, wordCounts };
    const isBroad =
      totals && countedStatuses
        ? place.offset + totals.all - totals.matching > MAX_SKIPPED_USERS
        : driver === undefined || (matches !== undefined && isManyMatches(matches, isWords));
    if (!isBroad) return this.readPage(search, totals);
    return this.budget.run(actor, getDisconnect(), {
      run: (signal) => this.readPage(search, totals, signal),
      findBroadestPart: async (signal) => (await this.findBroadestPart(filter, signal)) ?? 'offset',
    });
  }

  /**
   * Returns all users that match the conditions, page by page, sorted by uuid.
   * @throws ConditionError
   */
  async readAll(
    conditions: FoundConditions,
    actor: Actor,
    signal?: AbortSignal,
  ): Promise<AsyncGenerator<Hit[]>> {
    const query = await this.resolveFind(conditions, actor);
    const users = toUserSet(toUserFilter(query, actor, this.settings.roles), 'many');
    const read = async (after: Position | undefined) =>
      (await this.pages.read(() => users, BY_UUID, { after, offset: 0, limit: READ_AT_ONCE }, signal)).rows;
    return readPages<Hit, Position | undefined>(undefined, (hit) => hit, read);
  }

  /** Counts the users that match all conditions. */
  async count(conditions: UserConditions, actor: Actor): Promise<number> {
    const query = await this.resolveFind(conditions, actor);
    return this.pages.count(toUserSet(toUserFilter(query, actor, this.settings.roles), 'few'), undefined);
  }

  /** Adds the conditions derived from the text in `find`: the first conditions with a match, otherwise the last. */
  private async resolveFind(query: ResolvedQuery, actor: Actor): Promise<ResolvedQuery> {
    const meanings = query.find === undefined ? [] : listMeanings(query.find);
    for (const found of meanings.slice(0, -1)) {
      const users = toUserSet(toUserFilter({ found }, actor, this.settings.roles), 'few');
      if ((await this.pages.countUpTo(users, 1, undefined)) > 0) return { ...query, found };
    }
    const [found] = meanings.slice(-1);
    return found ? { ...query, found } : query;
  }

  private async readPage(
    { filter, sort, order, place, wordCounts }: Search,
    totals: Totals,
    signal?: AbortSignal,
  ): Promise<UserPage> {
    const scores = wordCounts && (await this.countByScore(filter, wordCounts, signal));
    const count = scores
      ? scores.reduce((sum, { n }) => sum + n, 0)
      : totals
        ? totals.matching
        : await this.pages.count(filter, signal);
    if (!place.after && place.offset >= count) return { count, users: [], next: undefined };
    const form = (await this.pages.isLookUpFaster(count, totals?.all)) ? 'few' : 'many';
    const cursorOrder = buildUserOrder(sort, order, toScore(filter), form);
    const byScore = scores && sort === 'relevance' ? scores.map(({ value }) => value) : undefined;
    if (byScore && place.after) byScore.push(Number(place.after.key));
    const users = scores ? this.toWordMatches(filter, form, byScore === undefined) : toUserSet(filter, form);
    const pageOrder = byScore ? buildScoreOrder(order, toScore(filter), byScore) : cursorOrder;
    const { rows, last } = await this.pages.read(() => users, pageOrder, place, signal);
    const next = last && encodeCursor([sort, order], cursorOrder.ranges, last);
    return { count, users: rows.map(({ user }) => user), next };
  }

  private toWordMatches(filter: UserFilter, form: ConditionForm, isSorted: boolean): UserSet {
    if (isSorted && form === 'many') return toTestedUsers(filter);
    return toWordSet(filter, orderedJoinOperatorOf(this.database), isSorted);
  }

  /** Returns the cached counts of a word search, or empty counts if a search word or a status has changed since. */
  private getWordCounts({ words, tests, weight }: UserFilter, version: number): WordCounts {
    const id = JSON.stringify([weight, words.map(({ text }) => text), tests]);
    const kept = this.wordCounts.get(id);
    if (kept?.version === version && kept.expires > performance.now()) return kept;
    const counts: WordCounts = { version, expires: performance.now() + MAX_KEPT_MILLIS };
    this.wordCounts.delete(id);
    this.wordCounts.set(id, counts);
    const [oldest] = this.wordCounts.keys();
    if (this.wordCounts.size > MAX_KEPT_COUNTS && oldest !== undefined) this.wordCounts.delete(oldest);
    return counts;
  }

  private async countByScore(filter: UserFilter, kept: WordCounts, signal: AbortSignal | undefined) {
    const users = this.toWordMatches(filter, 'few', false);
    return (kept.byScore ??= await this.pages.countByKey(users, toScore(filter), signal));
  }

  /** Returns the name of the word or condition with the most matches, if any. */
  async findBroadestPart(filter: UserFilter, signal: AbortSignal): Promise<string | undefined> {
    const parts: { name: string; n: number }[] = [];
    for (const { name, sql, params } of listBroadParts(filter)) {
      const counting = `SELECT COUNT(*) AS n FROM (${sql} LIMIT ${MAX_COUNTED_MATCHES}) AS part`;
      const [row] = await this.database.scan<{ n: number }>(counting, params, signal);
      parts.push({ name, n: row?.n ?? 0 });
    }
    return parts.toSorted((one, other) => other.n - one.n)[0]?.name;
  }

  /** Returns the number of matches of each word, but at most `MAX_NARROW_MATCHES + 1`. */
  private async countMatches(words: readonly Clause[]): Promise<number[]> {
    const counts = words.map(
      ({ sql }, index) =>
        `(SELECT COUNT(*) FROM (SELECT 1 FROM ${sql} LIMIT ${MAX_NARROW_MATCHES + 1}) AS w${index}) AS n${index}`,
    );
    const values = words.flatMap(({ params }) => params);
    const row = await this.database.queryOne<Record<string, number>>(`SELECT ${counts.join(', ')}`, values);
    return words.map((_, index) => row?.[`n${index}`] ?? 0);
  }
}

/** Returns true if a search reads many rows of words. A word search reads the rows of its rarest word. */
const isManyMatches = (matches: readonly number[], isWords: boolean): boolean =>
  (isWords ? Math.min(...matches) : matches.reduce((sum, n) => sum + n, 0)) > MAX_NARROW_MATCHES;

/** Returns the words with the rarest first. */
function sortByMatches(words: readonly WordMatch[], matches: readonly number[] = []): WordMatch[] {
  return words
    .map((word, index) => ({ word, n: matches[index] ?? 0 }))
    .sort((one, other) => one.n - other.n)
    .map(({ word }) => word);
}

/** Pattern of a telephone number, or its end, with at least four digits. */
const PHONE = /^(?=.{4,64}$)[+()./\s-]*(?:\d[+()./\s-]*){4,}$/;

/**
 * Lists the possible meanings of typed text as conditions, the most specific first. The last conditions apply if no
 * user matches the others, and each of the others matches at most one user.
 */
function listMeanings(text: string): FoundConditions[] {
  if (/^@\S+$/.test(text)) return [{ email_domain: text.slice(1) }];
  if (text.length <= MAX.email && isEmailAddress(text) && hasTopLevelDomain(text))
    return [{ email: text }, toBeginnings(text)];
  const id = /\d/.test(text) ? [{ external_id: text }] : [];
  if (isUuid(text)) return [...id, { uuid: [text] }];
  return [...id, PHONE.test(text) ? { phone: text } : toBeginnings(text)];
}

/** Returns the search for words that start with the words of a text: `lov ad` finds Ada Lovelace. */
function toBeginnings(text: string): FoundConditions {
  const words = text.split(/\s+/u).map((word) => word.replace(/\*+$/, ''));
  const addStar = (word: string) => (isLongEnough(word) ? `${word}*` : word);
  return { fulltext_search: words.map(addStar).join(' ').trim() };
}

const isLongEnough = (word: string): boolean =>
  countCharacters(splitFoldedText(foldText(word)).at(-1) ?? '') >= MIN_PREFIX;
