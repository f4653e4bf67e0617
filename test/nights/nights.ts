import { changePhones, drop, hire, mapCells, patch, patchIf } from './changes.js';
import { FIELDS, type Person, people, toCsv } from './people.js';
import { type Case, NIGHTLY, type Source, createCase } from './stage.js';

/** An ordinary nightly file, which is applied without an approval. */
interface Night extends Case {
  /** Outcomes of the rows, and `missing` for people who are blocked as missing. */
  expected: Readonly<Record<string, number>>;
}

const passes = (
  name: string,
  expected: Night['expected'],
  file: Source,
  more: Partial<Case> = {},
): Night => ({ ...createCase(name, file, more), expected });

const SAME = { unchanged: 50 };
const keep: Source = (all) => all;
const changeDomain = mapCells('email', (cell) => cell.replace('@', '@new.'));
/** The manager of the last four people leaves, and they report to the head of the company. */
const replaceManager = (all: readonly Person[]): Person[] => {
  const { manager } = all.at(-1)!;
  const move = patchIf(
    (person) => person.manager === manager,
    () => ({ manager: all[0]!.external_id }),
  );
  return move(all).filter(({ external_id }) => external_id !== manager);
};

/** Ordinary nights that need the whole service. More of them are in test/unit/guard-accidents.spec.ts. */
export const NIGHTS: readonly Night[] = [
  // New, missing, blocked and changed people.
  passes(
    'new people without roles, with the option default_roles',
    { created: 8, unchanged: 50 },
    hire(8, { roles: '' }),
    { options: `${NIGHTLY}&default_roles=Author` },
  ),
  passes('the return of four missing people', { reactivated: 4, unchanged: 46 }, keep, {
    before: [{ file: drop(2) }, { file: drop(4) }],
  }),
  passes(
    'a missing manager whose team has a new manager',
    { missing: 1, updated: 4, unchanged: 45 },
    replaceManager,
  ),

  // The same people in another format.
  passes('rows in another order', SAME, (all) => all.toReversed()),
  passes('a missing phone column', SAME, (all) =>
    toCsv(
      all,
      FIELDS.filter((field) => field !== 'phone'),
    ),
  ),
  passes('Windows-1252 with the encoding option', SAME, (all) => Buffer.from(toCsv(all), 'latin1'), {
    options: `${NIGHTLY}&encoding=windows-1252`,
  }),
  passes('accents as combining characters', SAME, (all) => toCsv(all).normalize('NFD')),
  passes(
    'spaces around all cells',
    SAME,
    patch((person) => Object.fromEntries(FIELDS.map((field) => [field, ` ${person[field]} `]))),
  ),
  passes(
    'TRUE and FALSE in place of yes and no in the HideEmail column',
    SAME,
    mapCells('hide_email', (cell) => (cell === 'yes' ? 'TRUE' : 'FALSE')),
  ),
  passes('every row repeated', { skipped: 50, unchanged: 50 }, (all) => [...all, ...all]),
  passes(
    'blank statuses, roles, usernames and e-mails',
    SAME,
    patch(() => ({ status: '', roles: '', username: '', email: '' })),
  ),
  passes('as many rows as the option expected_rows', { created: 1, unchanged: 50 }, hire(1), {
    options: `${NIGHTLY}&expected_rows=51`,
  }),

  // Files after earlier nights, and another source.
  passes('the same changed file as last night', SAME, changePhones(8), {
    before: [{ file: changePhones(8) }],
  }),
  passes('the same file after an approved change of every e-mail', SAME, changeDomain, {
    before: [{ file: changeDomain, then: 'approved' }],
  }),
  passes('a first file of a sister company', { created: 6 }, (_, dataset) => people(`${dataset}b`, 6), {
    options: (dataset) => `dataset=${dataset}b&${NIGHTLY}`,
  }),
];
