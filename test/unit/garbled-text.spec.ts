import { expect, test } from '@jest/globals';
import { isBrokenName, isGarbled } from '../../src/import/guards/garbled-text.js';
import { areUnlike, isOtherName } from '../../src/import/plan/name-likeness.js';
import { hasAccents, isBrokenForm, losesAccents } from '../../src/import/plan/text-damage.js';
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

test.each([
  ['Müller', 'MÃ¼ller'],
  ['Müller', 'MÃƒÂ¼ller'],
  ['MÃ¼ller', 'MÃƒÂ¼ller'],
  ['Müller', 'M√ºller'],
  ['Müller', 'M├╝ller'],
  ['Müller', 'MГјller'],
  ['João', 'JoÃ£o'],
  ['Ágnes', 'Ãgnes'],
  ['José', 'JoseÌ\x81'],
  ['Voilà', 'VoilÃ'],
  ['Иванов', 'Ð˜Ð²Ð°Ð½Ð¾Ð²'],
  ['O’Brien', 'Oâ€™Brien'],
  ['Müller', 'M?ller'],
  ['Müller', 'M??ller'],
  ['Böhm-Müller', 'B?hm-Müller'],
  ['José', 'Jose?'],
  ['Иванов', '??????'],
  ['M?llér', 'M?ll?r'],
])('%s is broken in %s', (old, now) => {
  expect(isBrokenForm(old, now)).toBe(true);
  expect(isBrokenForm(now, old)).toBe(false);
});

test.each([
  ['Müller', 'Müller'],
  ['M?ller', 'M?ller'],
  ['Ann', 'Ann?'],
  ['Zoë', 'Zoë?!'],
  ['Müller', 'Muller'],
  ['Müller', 'Möller?'],
  ['Müller', 'Bell'],
  ['José', ''],
])('%s is not broken in %s', (old, now) => {
  expect(isBrokenForm(old, now)).toBe(false);
});

test.each([
  ['Müller', 'Muller'],
  ['Müller', 'MULLER'],
  ['Müller', 'Mller'],
  ['Müller', 'M_ller'],
  ['Müller', 'M&uuml;ller'],
  ['Jose\u0301', 'Jose'],
  ['Renée', 'Renee'],
  ['Müller-Weiß', 'Muller-Weiss'],
  ['Łukasz Øster', 'Lukasz Oster'],
  ['Müller', 'MŸller'],
  ['Kovač', 'Kovaè'],
  ['Иванов', 'Èâàíîâ'],
  ['Иванов', '______'],
])('%s loses accents in %s', (old, now) => {
  expect(losesAccents(old, now)).toBe(true);
  expect(losesAccents(now, old)).toBe(now === 'MŸller' || now === 'Kovaè' || now === 'Èâàíîâ');
});

test.each([
  ['Müller', 'Mueller'],
  ['Weiß', 'Weiss'],
  ['Åse', 'Aase'],
  ['Müller', 'MÜLLER'],
  ['Müller', 'Möller'],
  ['Müller', 'Müller-Bell'],
  ['Müller', 'Bell'],
  ['Renée', 'René'],
  ['Anne', 'Ann'],
  ['Иванова', 'Иванов'],
  ['Иванов', 'Ivanov'],
  ['O’Brien', "O'Brien"],
  ['Zoë', ''],
])('%s keeps its accents in %s', (old, now) => {
  expect(losesAccents(old, now)).toBe(false);
});

test('accents are found in letters only', () => {
  expect(['Zoë', 'Zoe\u0308', 'Ж'].every(hasAccents)).toBe(true);
  expect(['Zoe', 'O’Brien', '€', ''].some(hasAccents)).toBe(false);
});

test('repeated letters are compared in linear time', () => {
  const createCheck = (length: number) => () => {
    losesAccents('éeé'.repeat(length / 4), `${'e'.repeat(length / 2)}x`);
    isBrokenForm('é?'.repeat(length), `${'?'.repeat(2 * length)}x`);
  };
  expect(isLinear(128, createCheck)).toBe(true);
});

test.each([
  ['Anna', 'Bernd'],
  ['Li', 'Wu'],
  ['A', 'B'],
  ['王', '李'],
])('%s and %s are unlike', (a, b) => {
  expect([areUnlike(a, b), areUnlike(b, a)]).toEqual([true, true]);
});

test.each([
  ['Anna', 'ANNÄ'],
  ['Müller', 'Mueller'],
  ['Johan', 'Johann'],
  ['J.', 'John'],
  ['Łukasz', 'Lukasz'],
  ['', 'Anna'],
  ['-', 'Anna'],
])('%s and %s are alike', (a, b) => {
  expect([areUnlike(a, b), areUnlike(b, a)]).toEqual([false, false]);
});

test.each([
  ['Anna', 'Bell', 'Bernd', 'Cook', true],
  ['Anna', 'Bell', 'Anna', 'Cook', false],
  ['Anna', 'Bell', 'Bell', 'Anna', false],
  ['Ana María', 'López', 'Ana', 'María López', false],
  ['Anna', 'Bell', '', 'Cook', false],
])('%s %s and %s %s are different people: %p', (firstname, surname, other, otherSurname, expected) => {
  expect(isOtherName({ firstname, surname }, { firstname: other, surname: otherSurname })).toBe(expected);
});
