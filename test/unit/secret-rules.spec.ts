import { expect, test } from '@jest/globals';
import { isGuessableKey, findPasswordFault } from '../../src/platform/common/secret-rules.js';
import { createToken } from '../../src/platform/common/secrets.js';
import { loadCommonPasswordTest } from '../../src/users/passwords/new-passwords.service.js';

const findFault = async (password: string, known: string[] = []) =>
  findPasswordFault(password, { minLength: 12, known, isWord: await loadCommonPasswordTest() });
const codeOf = async (password: string, known?: string[]) => (await findFault(password, known))?.code;

test.each([
  ['too_long', 'k7#Vq2!mZx9p'.repeat(11)],
  ['too_short', 'k7#Vq2!mZx9'],
  ['too_short', '😀😁😂😃😄'],
  ['too_short', 'k7#V          q2!m'],
  ['too_short', 'k7#V \u3000\u00a0\u2003  q2!mZ'],
  ['too_short', `   ${' '.repeat(60)}k7#Vq2!mZ`],
  ['blank', ' '.repeat(12)],
  ['blank', '\t\n\u3000'.repeat(6)],
  ['invalid_format', 'k7#Vq2!mZx9p\0'],
  ['invalid_format', 'k7#Vq2!mZx9p\u001b[2J'],
  ['invalid_format', 'k7#Vq2!mZx9p\ud800'],
  ...[
    ...['password1234', 'Password1234!', 'P@ssw0rd2024', 'passwordpassword', 'qwerty123456', 'iloveyou2024!'],
    ...['1qaz2wsx3edc', 'abcdefghijkl', 'abcabcabcabc', '123456789012', 'aaaaaaaaaaaa', 'adminadmin123'],
    ...['letmein-letmein', 'ｐａｓｓｗｏｒｄ１２３４', 'administrator', 'qwertyuiop[]', '11112222333344'],
  ].map((password) => ['too_common', password]),
])('a password is refused as %s: %j', async (code, password) => {
  expect(await codeOf(password)).toBe(code);
});

test.each([
  ...['correct horse battery staple', 'open the window, please', 'k7#Vq2!mZx9p', 'Tr0ub4dor&3-Kx'],
  ...[
    'zażółć gęślą jaźń',
    'пароль не найден',
    '😀😁😂😃😄😅😆😇😈😉😊😋',
    'password is not my dog',
    '正しい馬の電池の部品です!',
  ],
])('the password %j is accepted', async (password) => {
  expect(await codeOf(password)).toBeUndefined();
});

test.each([
  ['must not be a common password', 'administrator'],
  ['must not consist mainly of sequences or repetitions', 'abcabcabcabc'],
  ['must not consist mainly of names, seasons or greetings', 'Winter-2023-24!'],
  ['must not consist mainly of names or common words', 'letmein-passw0rd'],
])('the message %j names the rule that the password %j breaks', async (message, password) => {
  expect((await findFault(password))?.message).toBe(message);
});

test('a password that contains the username is refused as too common', async () => {
  const known = ['Jane.Doe', 'jd@example.org'];
  for (const password of ['jane.doe2024', 'JANE.DOE123456', 'jd@example.org!', 'xjd@example.orgx'])
    expect([password, await codeOf(password, known)]).toEqual([password, 'too_common']);
  expect(await codeOf('jane.doe2024')).toBeUndefined(); // the name of another user
});

/** Names of a user, and passwords that are refused and accepted for this user. */
// prettier-ignore
const OWNERS: [string[], string[], string[]][] = [
  [['Hans', 'Becker', 'hbecker@beckerfoods.example', 'EMP-00417'],
    ['Hans-Becker-1975', 'hansbecker1975', 'BeckerHans_8305729', '+++B3ck3r+++H4ns+++', 'h.becker.29461830', 'hbecker#83057294', 'EMP-00417-8305729', 'Beckerfoods-2024!!', 'Sommer-Becker-2024', 'Han5-B3ck3r-1975', 'H@n5!8€ck€r!75', 'rekceb-snah-1975', '5n4h-r3kc3b-75', 'Snah+Becker+75', 'h-a-n-s-1-9-7-5', 'h.4.n.5.1.9.7.5', 'H\u0430ns-B\u0435\u0441k\u0435r-1975'],
    ['hans likes ripe plums', 'becker sells no bread 7', 'k7#Vq2!mHans', '8305729461830', 'h-e-c-k-a-n-s-4', 'thanks for becks', '4x5n-1r3q-b0c7-e8']],
  [['Jürgen', 'Müller', 'Ångström', 'Bjørn'],
    ['mullerjurgen75', 'Mueller/Juergen/75', 'MÜLLER!8305729461', 'angstrom-2461830', 'bjoern.bjorn.8305', 'j.u.e.r.g.e.n.1975', 'n3gr3uj_1975_!'],
    ['jurgen rides a tram', 'mulled wine for 8305', 'negro-tuj-2461-op']],
  [['Mueller', 'Li', '李', '明'], ['müller-83057294', 'Li_Li_Li_83057294', '李明#8305729461'], ['linen and lilies']],
  [[], ['Winter-2023-24!', 'Willkommen2025!', 'HappyNewYear-2025', 'Frühling#2019#20', 'S0mmer+83057294', 'été_1998_1999', 'Zima2024Zima!!', 'Лето2024Лето2024', 'Grüezi-2024!!!', 'Hello-World-2024', 'Tervetuloa2024', 'r3mmu5-2024-24'],
    ['winter is a cold season', 'hello from the moon', 'k7#Vq2!mZx9p', 'march of the 12 ducks', '3737-7373-4141-1', 'welcome to zurich 7']],
];

test.each(OWNERS)('a password made of the names %j is refused as too common', async (known, bad, good) => {
  for (const password of bad)
    expect([password, await codeOf(password, known)]).toEqual([password, 'too_common']);
  for (const password of good)
    expect([password, await codeOf(password, known)]).toEqual([password, undefined]);
});

test('random secrets are accepted as passwords and keys', async () => {
  const isWord = await loadCommonPasswordTest();
  for (let round = 0; round < 300; round++) {
    const token = createToken();
    const hex = Buffer.from(token).toString('hex').slice(0, 32);
    expect([token, await codeOf(token.slice(0, 12))]).toEqual([token, undefined]);
    expect([token, isGuessableKey(token, { isWord })]).toEqual([token, false]);
    expect([hex, isGuessableKey(hex, { isWord })]).toEqual([hex, false]);
  }
});

test.each([
  'a'.repeat(32),
  'abcdefghijklmnopqrstuvwxyz012345',
  'test-key-0123456789-0123456789-0123456789',
  'password-password-password-password',
  'correct-horse-battery-staple-2024',
  '12121212121212121212121212121212',
  'aaaaaaaabbbbbbbbccccccccdddddddd',
])('the secret key %s is recognized as guessable', async (key) => {
  expect(isGuessableKey(key, { isWord: await loadCommonPasswordTest() })).toBe(true);
});
