import { createWriteStream } from 'node:fs';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { parseArgs } from 'node:util';
import { toCsvLine } from '../src/platform/common/csv.js';
import { ABOUT, FORENAMES, ROLES, SURNAMES } from './names.js';

/**
 * `npm run sample:users -- --rows N [--seed S] [--changed P] [--out FILE]`: writes a CSV file of fictional users. The
 * same seed gives the same file. `--changed` changes surname and phone of P percent of the users, like the file of the
 * next night.
 */
const HEADER = [
  'ExternalId',
  'Username',
  'Email',
  'ForeName',
  'Surname',
  'KnownAs',
  'Phone',
  'Mobile',
  'Status',
  'Roles',
  'Authname',
  'Manager',
  'HideEmail',
  'AboutMe',
];
/** Number of reports of a manager. */
const SPAN = 8;
const LINES_AT_ONCE = 500;

interface Sample {
  rows: number;
  seed: number;
  changed: number;
}

/**
 * Returns a number from 0 to 1 that depends only on the seed, the row and the position in the row. It is computed with
 * the mixing steps of MurmurHash3.
 */
function chance(seed: number, row: number, position: number): number {
  let mixed =
    Math.imul(seed ^ 0x9e3779b9, 0x85ebca6b) ^
    Math.imul(row, 0xc2b2ae35) ^
    Math.imul(position + 1, 0x27d4eb2f);
  mixed = Math.imul(mixed ^ (mixed >>> 15), 0x85ebca6b);
  mixed = Math.imul(mixed ^ (mixed >>> 13), 0xc2b2ae35);
  return ((mixed ^ (mixed >>> 16)) >>> 0) / 2 ** 32;
}

function userCells({ seed, changed }: Sample, row: number): string[] {
  const at = (position: number): number => chance(seed, row, position);
  const pick = (list: readonly string[], position: number): string =>
    list[Math.floor(at(position) * list.length)] ?? '';
  // Changed rows are evenly spaced, so that every part of the file has exactly this share.
  const isChanged = Math.floor((row * changed) / 100) > Math.floor(((row - 1) * changed) / 100);
  const number = String(row).padStart(4, '0');
  return [
    `HR-${number}`,
    `user.${number}`,
    `user.${number}@example.org`,
    pick(FORENAMES, 1),
    isChanged ? `${pick(SURNAMES, 2)} Newname` : pick(SURNAMES, 2),
    at(3) < 0.1 ? pick(FORENAMES, 4) : '',
    isChanged ? '+1 202 555 0199' : `+44 20 7946 0${String(Math.floor(at(5) * 1000)).padStart(3, '0')}`,
    `+1 202 555 01${String(Math.floor(at(6) * 100)).padStart(2, '0')}`,
    at(7) < 0.01 ? 'Blocked' : 'Active',
    pick(ROLES, 8),
    `user.${number}@idp.example.org`,
    row === 1 ? '' : `HR-${String(Math.floor((row + SPAN - 2) / SPAN)).padStart(4, '0')}`,
    at(9) < 0.05 ? 'true' : 'false',
    at(10) < 0.15 ? pick(ABOUT, 11) : '',
  ];
}

export function* sampleLines(sample: Sample): Generator<string> {
  yield toCsvLine(HEADER);
  for (let from = 1; from <= sample.rows; from += LINES_AT_ONCE) {
    const count = Math.min(LINES_AT_ONCE, sample.rows - from + 1);
    yield Array.from({ length: count }, (_, index) => toCsvLine(userCells(sample, from + index))).join('');
  }
}

function readArguments(): Sample & { out: string | undefined } {
  const { values } = parseArgs({
    options: {
      rows: { type: 'string' },
      seed: { type: 'string' },
      changed: { type: 'string' },
      out: { type: 'string' },
    },
  });
  const number = (name: 'rows' | 'seed' | 'changed', fallback: number, most: number): number => {
    const value = values[name] === undefined ? fallback : Number(values[name]);
    if (!(value >= 0 && value <= most)) throw new Error(`--${name} must be a number up to ${most}`);
    return value;
  };
  return {
    rows: number('rows', 1000, 10_000_000),
    seed: number('seed', 1, 2 ** 31),
    changed: number('changed', 0, 100),
    out: values.out,
  };
}

if (process.argv[1]?.endsWith('generate.ts')) {
  try {
    const { out, ...sample } = readArguments();
    await pipeline(
      Readable.from(sampleLines(sample)),
      out === undefined ? process.stdout : createWriteStream(out),
    );
  } catch (error) {
    process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`);
    process.exitCode = 2;
  }
}
