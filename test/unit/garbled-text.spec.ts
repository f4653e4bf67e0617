import { expect, test } from '@jest/globals';
import { areUnlike, hasUnlikeName, isOtherName } from '../../src/import/plan/name-likeness.js';
import { hasAccents, isBrokenForm, losesAccents } from '../../src/import/plan/text-damage.js';
import { isLinear } from '../support/data/growth.js';

test.each([
  ['Müller', ['MÃ¼ller', 'MÃƒÂ¼ller', 'M√ºller', 'M├╝ller', 'MГјller', 'M?ller', 'M??ller']],
  ['MÃ¼ller', ['MÃƒÂ¼ller']],
  ['Ágnes', ['Ãgnes']],
  ['José', ['JoseÌ\x81', 'Jose?']],
  ['Voilà', ['VoilÃ']],
  ['Иванов', ['Ð˜Ð²Ð°Ð½Ð¾Ð²', '??????']],
  ['O’Brien', ['Oâ€™Brien']],
  ['Böhm-Müller', ['B?hm-Müller']],
  ['M?llér', ['M?ll?r']],
])('%s is broken in %p, but not the other way round', (old, forms) => {
  expect(forms.filter((now) => isBrokenForm(old, now) && !isBrokenForm(now, old))).toEqual(forms);
});

test.each([
  ['Müller', ['Müller', 'Muller', 'Möller?', 'Bell', '']],
  ['M?ller', ['M?ller']],
  ['Ann', ['Ann?']],
  ['Zoë', ['Zoë?!']],
])('%s is not broken in %p', (old, forms) => {
  expect(forms.filter((now) => isBrokenForm(old, now))).toEqual([]);
});

test.each([
  ['Müller', ['Muller', 'Mller', 'M_ller', 'M&uuml;ller', 'MULLER', 'MŸller']],
  ['Jose\u0301', ['Jose']],
  ['Renée', ['Renee']],
  ['Müller-Weiß', ['Muller-Weiss']],
  ['Kovač', ['Kovaè']],
  ['Иванов', ['Èâàíîâ', '______']],
])('%s loses accents in %p', (old, forms) => {
  expect(forms.filter((now) => losesAccents(old, now))).toEqual(forms);
});

test.each([
  ['Müller', ['Mueller', 'MÜLLER', 'Möller', 'Müller-Bell', 'Bell', '']],
  ['Muller', ['Müller', 'Mller']],
  ['Weiß', ['Weiss']],
  ['Åse', ['Aase']],
  ['Renée', ['René']],
  ['Иванова', ['Иванов', 'Ivanova']],
  ['O’Brien', ["O'Brien"]],
])('%s keeps its accents in %p', (old, forms) => {
  expect(forms.filter((now) => losesAccents(old, now))).toEqual([]);
});

test('accents are found in letters only', () => {
  expect(['Zoë', 'Zoe\u0308', 'Ж', 'Zoe', 'O’Brien', '€', ''].filter(hasAccents)).toHaveLength(3);
});

test('repeated letters are compared in linear time', () => {
  const createCheck = (length: number) => () => {
    losesAccents('éeé'.repeat(length / 4), `${'e'.repeat(length / 2)}x`);
    isBrokenForm('é?'.repeat(length), `${'?'.repeat(2 * length)}x`);
  };
  expect(isLinear(128, createCheck)).toBe(true);
});

test.each([
  ['Anna', 'Bernd', true],
  ['Li', 'Wu', true],
  ['A', 'B', true],
  ['王', '李', true],
  ['Łukasz', 'LUKAS', false],
  ['Müller', 'Mueller', false],
  ['J.', 'John', false],
  ['', 'Anna', false],
])('%s and %s are unlike: %p', (a, b, expected) => {
  expect([areUnlike(a, b), areUnlike(b, a)]).toEqual([expected, expected]);
});

test.each([
  ['Anna', 'Bell', 'Bernd', 'Cook', [true, true]],
  ['Anna', 'Bell', 'Anna', 'Cook', [false, true]],
  ['Anna', 'Bell', 'Bell', 'Anna', [false, false]],
  ['Ana María', 'López', 'Ana', 'María López', [false, false]],
  ['Anna', 'Bell', '', 'Cook', [false, true]],
])(
  '%s %s and %s %s have other names, and any unlike name: %p',
  (firstname, surname, other, last, expected) => {
    const [old, now] = [
      { firstname, surname },
      { firstname: other, surname: last },
    ];
    expect([isOtherName(old, now), hasUnlikeName(old, now)]).toEqual(expected);
  },
);
