import { foldText } from '../../platform/common/text.js';

interface FullName {
  firstname: string;
  surname: string;
}

const WORD = /[\p{L}\p{N}]+/gu;

/**
 * Returns true if two texts have under half of their letter pairs in common, without case and accents. An empty text is
 * like every text. A text without letter pairs, such as an initial, is like the texts that begin with it.
 */
export function areUnlike(a: string, b: string): boolean {
  const [old, now] = [listWords(a), listWords(b)];
  if (old.length === 0 || now.length === 0) return false;
  const [oldPairs, nowPairs] = [listPairs(old), listPairs(now)];
  if (oldPairs.length === 0 || nowPairs.length === 0) {
    const [short = '', long = ''] = [old.join(''), now.join('')].sort((x, y) => x.length - y.length);
    return !long.startsWith(short);
  }
  const unmatched = [...nowPairs];
  const common = oldPairs.filter((pair) => {
    const at = unmatched.indexOf(pair);
    return at >= 0 && unmatched.splice(at, 1).length > 0;
  });
  return (2 * common.length) / (oldPairs.length + nowPairs.length) < 0.5;
}

/**
 * Returns true if both forename and surname are replaced by unlike ones. Exchanged names, and names whose words moved
 * between forename and surname, belong to the same person.
 */
export function isOtherName(a: FullName, b: FullName): boolean {
  const joinNames = ({ firstname, surname }: FullName): string => `${firstname} ${surname}`;
  return (
    areUnlike(a.firstname, b.firstname) &&
    areUnlike(a.surname, b.surname) &&
    areUnlike(joinNames(a), joinNames(b))
  );
}

/**
 * Returns true if forename or surname is replaced by an unlike one. Stricter than `isOtherName`, for decisions that an
 * operator can make by hand.
 */
export function hasUnlikeName(a: FullName, b: FullName): boolean {
  const isExchanged = !areUnlike(a.firstname, b.surname) && !areUnlike(a.surname, b.firstname);
  return !isExchanged && (areUnlike(a.firstname, b.firstname) || areUnlike(a.surname, b.surname));
}

const listWords = (text: string): string[] => foldText(text).match(WORD) ?? [];

function listPairs(words: readonly string[]): string[] {
  return words.flatMap((word) => Array.from({ length: word.length - 1 }, (_, at) => word.slice(at, at + 2)));
}
