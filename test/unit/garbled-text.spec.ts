import { expect, test } from '@jest/globals';
import { isBrokenName, isGarbled } from '../../src/import/guards/garbled-text.js';
import { isLinear } from '../support/data/growth.js';

test.each([
  ['Müller', 'M?ller'],
  ['Müller', 'Mller'],
  ['Müller', 'Muller'],
  ['Müller', 'Mueller'],
  ['Müller', 'MÃ¼ller'],
  ['Müller', 'M\ufffdller'],
  ['Müller', 'MŸller'],
  ['Müller', 'M³ller'],
  ['MÜLLER', 'MUELLER'],
  ['Strauß', 'Strauss'],
  ['Jose\u0301', 'Jose'],
  ['Øster', 'Oster'],
  ['Иванов', '??????'],
  ['Иванов', 'Èâàíîâ'],
  ['MÃ¼ller', 'MÃƒÂ¼ller'],
  ['José', 'Jos&eacute;'],
  ['José', 'Jos&#233;'],
  ['José', 'Jos&#xE9;'],
  ['José', 'Jos&amp;eacute;'],
  ['Marks & Co', 'Marks &amp; Co'],
])('the change from %s to %s counts as garbled text', (old, now) => {
  expect(isGarbled(old, now)).toBe(true);
});

test.each([
  ['Müller', 'Müller'],
  ['Müller', 'Möller'],
  ['Jos&eacute;', 'José'],
  ['José', 'José & Co;'],
  ['José', 'Jos&#234;'],
  ['Ada', '&Ada;'],
  ["O'Brien", 'O Brien'],
  ['Müller', 'Müller-Bell'],
  ['Müller', 'Bell'],
  ['Muller', 'Müller'],
  ['M?ller', 'Müller'],
  ['MÃ¼ller', 'Müller'],
  ['José', 'Joseph'],
  ['Jose\u0301', 'José'],
  ['Böhm-Müller', 'Böhm'],
  ['Иванов', 'Петров'],
])('the change from %s to %s does not count as garbled text', (old, now) => {
  expect(isGarbled(old, now)).toBe(false);
});

test('a long accented text is checked for garbling in linear time', () => {
  for (const length of [100, 10_000])
    expect(isGarbled('é'.repeat(length), `${'?'.repeat(length - 1)}x`)).toBe(false);
  const createCheck = (length: number) => () => isGarbled('é'.repeat(length), `${'?'.repeat(length - 1)}x`);
  expect(isLinear(40_000, createCheck)).toBe(true);
});

test.each(['M?ller', 'Jos?', '?smund', 'MÃ¼ller', 'M\ufffdller'])(
  'the name %p of a new user counts as garbled',
  (name) => {
    expect(isBrokenName(name)).toBe(true);
  },
);

test.each(['Müller', 'São', 'JOÃO', 'Ann', ''])(
  'the name %p of a new user does not count as garbled',
  (name) => {
    expect(isBrokenName(name)).toBe(false);
  },
);
