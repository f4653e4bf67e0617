import { truncate } from '../../platform/common/text.js';
import type { RoleCatalogue } from '../../access/roles.js';
import { toHeaderKey } from '../file/columns.js';
import type { NamedProfile } from '../runs/import-profile.js';
import { MAX_TEXT, MAX_WORDS, type PreviewWordsDto } from './import-preview.dto.js';
import { buildStatusMap } from './built-in-profiles.js';
import { toTranslations, toValueKey } from './record-mapper.js';
import type { TemplateSource } from './template-offers.js';

const YES = 'true, yes, 1, j, ja, y, x, oui, o, si, sí';
const NO = 'false, no, 0, n, nein, non';
/** Words that mean an active user in a column of any name. */
const CLEARLY_ACTIVE =
  'active, aktiv, activ, actif, activo, activa, attivo, ativo, aktywny, actief, enabled, employed, provisioned, staged';
const ACTIVE = `${CLEARLY_ACTIVE}, a, current, working, present, angestellt, beschäftigt, eingestellt, im dienst, anwesend, présent, en poste, inscrit, matriculado, alta`;
/** Words that mean a blocked user in a column of any name. */
const CLEARLY_BLOCKED =
  'inactive, inaktiv, inactif, inactivo, inactiva, inattivo, inativo, nieaktywny, blocked, gesperrt, bloqué, bloqueado, ' +
  'disabled, deaktiviert, désactivé, desactivado, suspended, suspendiert, suspendu, suspendido, terminated, left, deleted, ' +
  'gelöscht, archived, deprovisioned, locked, deactivated, ausgetreten, ausgeschieden, gekündigt';
const BLOCKED = `${CLEARLY_BLOCKED}, i, leaver, abgegangen, parti, sorti, baja`;
/** Name of the column of Active Directory in which a number with the bit 2 means a disabled account. */
const ACCOUNT_FLAGS = /^user.?account.?control$/i;
/** Names of columns in which yes means a blocked user. */
const YES_MEANS_BLOCKED =
  /suspen|disab|block|lock|delet|gelösch|sperr|inakti|inacti|deakti|terminat|ausgetret|archiv|\bleft\b/i;

const NEGATION = /\b(not|never|nicht|nie|non|no|ne|pas)\b/i;

const toMeanings = (active: string, blocked: string): ReadonlyMap<string, string> =>
  toTranslations(buildStatusMap(active, blocked));
const MEANINGS = toMeanings(`${ACTIVE}, ${YES}`, `${BLOCKED}, ${NO}`);
const CLEAR_MEANINGS = toMeanings(CLEARLY_ACTIVE, CLEARLY_BLOCKED);
const REVERSED_MEANINGS = toMeanings(`${ACTIVE}, ${NO}`, `${BLOCKED}, ${YES}`);

function findMeaning(name: string, word: string): string | undefined {
  if (ACCOUNT_FLAGS.test(name) && /^\d{3,}$/.test(word)) return Number(word) & 2 ? 'Blocked' : 'Active';
  const terms = word.split(/[^\p{L}]+/u);
  // Recognizes phrases with a blocking word, such as `Voluntarily Terminated`, but not `Not blocked`.
  const isBlocked = terms.some((term) => CLEAR_MEANINGS.get(term) === 'Blocked') && !NEGATION.test(word);
  return (
    (YES_MEANS_BLOCKED.test(name) ? REVERSED_MEANINGS : MEANINGS).get(word) ??
    (isBlocked ? 'Blocked' : undefined)
  );
}

/** Returns true if a cell of a status column has a known meaning. @param name name of the column. */
export const isStatusWord = (name: string, cell: string): boolean =>
  findMeaning(name, toValueKey(cell)) !== undefined;

/** Returns true for a cell that is a status, whatever the name of its column. */
export const isClearStatusWord = (cell: string): boolean => CLEAR_MEANINGS.has(toValueKey(cell));

/** Returns true for a source column of Status or Roles, whose cells are words. */
export const hasWords = ({ target }: TemplateSource): boolean => target === 'Status' || target === 'Roles';

/**
 * Counts the words in the source columns of Status and Roles. Finds the value that the profile replaces each word with,
 * and the probable meaning of the word.
 */
export function countWords(
  sources: readonly TemplateSource[],
  profile: NamedProfile | null,
  roles: RoleCatalogue,
): PreviewWordsDto[] {
  const listed = new Map(
    Object.entries(profile?.values ?? {}).map(([name, words]) => [toHeaderKey(name), toTranslations(words)]),
  );
  const mapped = new Set(Object.keys(profile?.columns ?? {}).map(toHeaderKey));
  return sources.flatMap(({ name, target = '', cells }) => {
    const isStatus = target === 'Status';
    const values = listed.get(toHeaderKey(name)) ?? listed.get(toHeaderKey(target));
    const all = cells.flatMap((cell) => [...new Set(isStatus ? [cell] : cell.split(/[;|]/))]);
    const rows = Map.groupBy(all, toValueKey);
    rows.delete('');
    const words = Array.from(rows, ([key, [word = '', ...others]]) => {
      const suggestion = isStatus ? findMeaning(name, key) : roles.find(word);
      // If the profile maps this column, an import accepts only words of the profile and the values Active and Blocked.
      const isUnknown = isStatus && mapped.has(toHeaderKey(name)) && suggestion?.toLowerCase() !== key;
      const meaning = values?.get(key) ?? values?.get('*') ?? (isUnknown ? undefined : suggestion);
      return {
        word: truncate(word.trim(), MAX_TEXT),
        rows: others.length + 1,
        meaning: meaning ?? null,
        suggestion: suggestion ?? null,
      };
    });
    const sorted = words.toSorted((a, b) => b.rows - a.rows);
    return [{ source: name, column: target, words: sorted.slice(0, MAX_WORDS) }];
  });
}
