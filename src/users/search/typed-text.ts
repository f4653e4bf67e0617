import { splitFoldedText } from '../../platform/common/search-words.js';
import { countCharacters, foldText } from '../../platform/common/text.js';
import { isUuid } from '../../platform/common/uuid.js';
import { MAX, hasTopLevelDomain, isEmailAddress } from '../model/formats.js';
import { MIN_PREFIX } from './filter.js';
import type { FoundConditions } from './user.query.js';

/** Pattern of a telephone number, or its end, with at least four digits. */
const PHONE = /^(?=.{4,64}$)[+()./\s-]*(?:\d[+()./\s-]*){4,}$/;

/**
 * Lists the filters that a text can stand for when a person types it, the most specific first. The last applies if no
 * user matches the others, and each of the others matches at most one user.
 */
export function listMeanings(text: string): FoundConditions[] {
  if (/^@\S+$/.test(text)) return [{ email_domain: text.slice(1) }];
  if (text.length <= MAX.email && isEmailAddress(text) && hasTopLevelDomain(text))
    return [{ email: text }, toBeginnings(text)];
  const id = /\d/.test(text) ? [{ external_id: text }] : [];
  if (isUuid(text)) return [...id, { uuid: text }];
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
