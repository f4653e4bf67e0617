import { findNearest } from '../../platform/common/nearest.js';
import { toNormalForm } from '../../platform/common/text.js';
import { COLUMNS, findColumn, toHeaderKey, isPasswordHeader } from '../file/columns.js';
import { IGNORED } from '../runs/import-profile.js';
import { EMAIL, type TemplateSource, mostlyPass } from './template-offers.js';
import { isClearStatusWord, isStatusWord } from './word-offers.js';

/** Maps an import column to its common names in exports of directories, learning platforms and HR systems. */
const COMMON_NAMES: Readonly<Record<string, string>> = {
  ExternalId:
    'id, object id, user id, sis id, sis user id, person id, employee id, employee no, employee number, employee code, ' +
    'emp id, emp no, staff id, staff number, personnel number, personnel no, person number, payroll id, payroll number, ' +
    'worker id, student id, student number, id number, matriculation number, immutable id, source id, personalnummer, ' +
    'mitarbeiternummer, matricule, numero empleado, anstallningsnummer, ' +
    'personal-nr, persnr, mitarbeiter-id, mitarbeiter-nr, personen-id, schüler-id, schülernummer, lehrer-id, pupil id, numéro élève, id alumno, matricola, leerlingnummer',
  Username:
    'user, user name, login, login id, login name, logon, logon name, account, account name, user principal name, upn, uid, ' +
    'sam account name, network id, benutzername, identifiant, usuario, ' +
    'anmeldename, kennung, benutzerkennung, benutzer, nom utilisateur, nombre usuario, nome utente, gebruikersnaam',
  Email:
    'mail, e-mail address, email address, mail address, primary email, work email, business email, student email, ' +
    'pupil email, school email, company email, smtp address, primary email address, e-mail-adresse, courriel, correo, correo electronico, ' +
    'dienst-e-mail, e-mail dienstlich, mailadresse, adresse e-mail, adresse mail, correo institucional, e-mailadres',
  ForeName:
    'first, given, given name, forenames, name first, legal first name, vorname, prenom, nombre, fornamn, ' +
    'nombres, nome, voornaam',
  Surname:
    'last, family name, sn, name last, second name, legal last name, nachname, familienname, nom, apellido, apellidos, efternamn, ' +
    'zuname, nom de famille, primer apellido, cognome, achternaam',
  MiddleName: 'middle, middle initial, middle names, second given name, additional name',
  KnownAs:
    'nickname, nick name, preferred name, preferred first name, display name, short name, alias, goes by, rufname',
  Phone:
    'telephone, telephone number, phone number, phone 1, work phone, office phone, business phone, primary phone, tel, ' +
    'telefon, extension, landline, phone work, ' +
    'telefonnummer, telefon dienstlich, téléphone, teléfono, durchwahl',
  Mobile:
    'mobile phone, mobile number, cell, cell phone, cellphone, cellular, phone 2, gsm, handy, mobil, portable, movil, phone mobile, ' +
    'mobiltelefon, handynummer, mobilnummer',
  Status:
    'state, account status, user status, employment status, employee status, enabled, account enabled, active, is active, ' +
    'suspended, disabled, blocked, block credential, account state, statut, estado, ' +
    'aktiv, gesperrt, beschäftigungsstatus, mitarbeiterstatus, actif, activo, user account control',
  Roles:
    'groups, group, permissions, user role, user roles, access level, ' +
    'rolle, rollen, berechtigungen, rol',
  Authname: 'sso, sso id, saml id, saml name, name id, federation id, sso username',
  Manager:
    'manager id, manager email, supervisor, supervisor id, reports to, line manager, line manager id, boss, vorgesetzter, ' +
    'vorgesetzte, vorgesetzter id, führungskraft, responsable, superior, jefe',
  Linkedin: 'linkedin url, linked in',
  Facebook: 'facebook url',
  Twitter: 'twitter url, x',
  ImageUrl: 'picture, photo, avatar, image, photo url, picture url, avatar url, thumbnail photo',
  AboutMe: 'about, bio, biography, description, profile, notes',
};

const BY_NAME: ReadonlyMap<string, string> = new Map(
  Object.entries(COMMON_NAMES).flatMap(([column, names]) =>
    names.split(', ').map((name) => [toNameKey(name), column] as const),
  ),
);

/** Returns the key of a column name without remarks in brackets, such as `[Required]`, and without accents. */
function toNameKey(name: string): string {
  return toHeaderKey(toNormalForm(name.replace(/[[(][^\])]*[\])]/g, ''), 'NFKD').replace(/\p{M}/gu, ''));
}

const RELATIVES = 'parent|guardian|mother|father|emergency|eltern|erziehungsberechtig|notfall';
/** Matches a word in the name of a column with values of relatives, which must not become values of the user. */
const RELATIVE = new RegExp(`^(${RELATIVES})`);
/** Matches a word in the name of a column with contact data of relatives, such as `studentparentemail`, or private data. */
const PRIVATE = new RegExp(
  `privat|${RELATIVES}|^(persönlich|home|personal|personnel|domicile|spouse|partner)`,
);
const CONTACT_COLUMNS: readonly (string | undefined)[] = [
  'Email',
  'Phone',
  'Mobile',
  'HidePhone',
  'HideEmail',
];
/** Matches the key of a column with preferred first names. */
const CALLED_BY = /^(rufname|goesby|preferredfirstname)$/;
const PHONE = /^\+?[\d\s()./-]{7,24}$/;
const CELL_TESTS: readonly (readonly [column: string, test: (cell: string) => boolean])[] = [
  ['Email', (cell) => EMAIL.test(cell)],
  ['Phone', (cell) => PHONE.test(cell) && /^[+0(]/.test(cell) && cell.replace(/\D/g, '').length >= 7],
  ['Status', isClearStatusWord],
];

/** Returns true if a word in a name such as `homePhone` or `E-Mail (privat)` matches. */
const hasWord = (name: string, pattern: RegExp): boolean =>
  toNormalForm(name, 'NFC')
    .replace(/(\p{Ll})(\p{Lu})/gu, '$1 $2')
    .toLowerCase()
    .split(/[^\p{L}]+/u)
    .some((word) => pattern.test(word));

type Source = Pick<TemplateSource, 'name' | 'cells'>;

/**
 * Suggests an import column for each source column, or `ignore` for columns with passwords, private contact data or
 * values of relatives. Compares common names first, then similar names, then cells. Suggests each import column only
 * once.
 * @param filled import columns that already have a source column.
 * @returns an import column, `ignore` or undefined for each source column.
 */
export function suggestColumns(columns: readonly Source[], filled: Iterable<string>): (string | undefined)[] {
  const used = new Set(filled);
  const reserveIfUnused = (column: string | undefined): string | undefined => {
    if (column === undefined || used.has(column)) return undefined;
    used.add(column);
    return column;
  };
  const found = columns.map(({ name }): string | undefined =>
    isPasswordHeader(name) || hasWord(name, RELATIVE) ? IGNORED : undefined,
  );
  for (const suggest of [suggestByName, suggestBySpelling, suggestByCells])
    for (const [index, column] of columns.entries()) {
      const suggested = found[index] ?? suggest(column);
      const isPrivate = CONTACT_COLUMNS.includes(suggested) && hasWord(column.name, PRIVATE);
      found[index] ??= isPrivate ? IGNORED : reserveIfUnused(suggested);
    }
  // Preferred first names become ForeName if no other column contains first names.
  const called = found.findIndex((_, at) => CALLED_BY.test(toNameKey(columns[at]?.name ?? '')));
  if (called >= 0) found[called] = reserveIfUnused('ForeName') ?? found[called];
  // In exports with a column of first names, `Name` contains the surnames.
  const name = columns.findIndex((column) => toNameKey(column.name) === 'name');
  if (name >= 0 && used.has('ForeName')) found[name] ??= reserveIfUnused('Surname');
  return found;
}

/** Maximum length of a name whose spelling is compared. No common name is longer. */
const MAX_SPELLED = 40;

/** Returns true for the name of an import column and for its common names in exports of other systems. */
export const isCommonColumnName = (name: string): boolean => suggestByName({ name, cells: [] }) !== undefined;

/** Ignores a common name of Status if the cells are other words, such as the states of addresses. */
function suggestByName({ name, cells }: Source): string | undefined {
  const column = findColumn(toNameKey(name))?.name ?? BY_NAME.get(toNameKey(name));
  const hasOtherWords =
    column === 'Status' && cells.length > 0 && !cells.some((cell) => isStatusWord(name, cell));
  return hasOtherWords ? undefined : column;
}

function suggestBySpelling({ name }: Source): string | undefined {
  const key = toNameKey(name);
  const max = Math.floor(key.length / 4);
  if (key.length < 5 || key.length > MAX_SPELLED) return undefined;
  const names = COLUMNS.map((column) => toHeaderKey(column.name));
  const ours = findNearest(key, names, max);
  if (ours !== undefined) return findColumn(ours)?.name;
  return BY_NAME.get(findNearest(key, BY_NAME.keys(), max) ?? '');
}

/** Suggests an import column if most cells look like its values. */
const suggestByCells = ({ cells }: Source): string | undefined =>
  CELL_TESTS.find(([, test]) => mostlyPass(cells, test))?.[0];
