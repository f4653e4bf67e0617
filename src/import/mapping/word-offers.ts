import { truncate } from '../../platform/common/text.js';
import type { RoleCatalogue } from '../../access/roles.js';
import { toHeaderKey } from '../file/columns.js';
import type { NamedProfile } from '../runs/import-options.js';
import { MAX_TEXT, MAX_WORDS, type PreviewWordsDto } from './import-preview.dto.js';
import { toValueKey } from './record-mapper.js';
import type { TemplateSource } from './template-offers.js';

const YES = 'true yes 1 j ja y x oui o si sí'.split(' ');
const NO = 'false no 0 n nein non'.split(' ');
const ACTIVE = (
  'a active aktiv activ actif active activo activa attivo ativo aktywny actief enabled employed current working present ' +
  'provisioned staged angestellt beschäftigt eingestellt anwesend présent inscrit matriculado alta'
).split(' ');
const BLOCKED = (
  'i inactive inaktiv inactif inactivo inactiva inattivo inativo nieaktywny blocked gesperrt bloqué bloqueado ' +
  'disabled deaktiviert désactivé desactivado suspended suspendiert suspendu suspendido terminated left leaver deleted ' +
  'gelöscht archived deprovisioned locked deactivated ausgetreten ausgeschieden gekündigt abgegangen parti sorti baja'
).split(' ');
/** Names of columns in which yes means a blocked user. */
const NEGATED =
  /suspen|disab|block|lock|delet|gelösch|sperr|inakti|inacti|deakti|terminat|ausgetret|archiv|\bleft\b/i;

const toMeanings = (active: readonly string[], blocked: readonly string[]) =>
  new Map([
    ...active.map((word) => [word, 'Active'] as const),
    ...blocked.map((word) => [word, 'Blocked'] as const),
  ]);
const MEANINGS = toMeanings([...ACTIVE, ...YES], [...BLOCKED, ...NO]);
const NEGATED_MEANINGS = toMeanings([...ACTIVE, ...NO], [...BLOCKED, ...YES]);

/** Counts the words in the source columns of Status and Roles, and finds their meaning in the profile or by the word. */
export function countWords(
  sources: readonly TemplateSource[],
  profile: NamedProfile | null,
  roles: RoleCatalogue,
): PreviewWordsDto[] {
  const translations = Object.entries(profile?.values ?? {}).map(
    ([name, words]) =>
      [
        toHeaderKey(name),
        new Map(Object.entries(words).map(([word, value]) => [toValueKey(word), value])),
      ] as const,
  );
  const listed = new Map(translations);
  return sources.flatMap(({ name, target, cells }) => {
    if (target !== 'Status' && target !== 'Roles') return [];
    const isStatus = target === 'Status';
    const known = NEGATED.test(name) ? NEGATED_MEANINGS : MEANINGS;
    const values = listed.get(toHeaderKey(name)) ?? listed.get(toHeaderKey(target));
    const all = cells.flatMap((cell) => [
      ...new Set(isStatus ? [cell.trim()] : cell.split(/[;|]/).map((role) => role.trim())),
    ]);
    const rows = Map.groupBy(
      all.filter((word) => word !== ''),
      toValueKey,
    );
    const words = Array.from(rows, ([key, [word = '', ...others]]) => {
      const meaning = values?.get(key) ?? (isStatus ? known.get(key) : roles.find(word)) ?? values?.get('*');
      return { word: truncate(word, MAX_TEXT), rows: others.length + 1, meaning: meaning ?? null };
    });
    return [
      { source: name, column: target, words: words.toSorted((a, b) => b.rows - a.rows).slice(0, MAX_WORDS) },
    ];
  });
}
