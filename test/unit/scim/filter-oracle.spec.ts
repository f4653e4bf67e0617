import { expect, test } from '@jest/globals';
import { filter as oracleFilter, parse as oracleParse } from 'scim2-parse-filter';
import { buildMatcher } from '../../../src/scim/protocol/filter.js';
import { parseFilter } from '../../../src/scim/protocol/filter-parser.js';
import type { ScimObject } from '../../../src/scim/protocol/attribute.js';
import { ENTERPRISE_SCHEMA } from '../../../src/scim/protocol/urns.js';
import { oneOf, randoms } from '../../support/data/random.js';
import { USER } from './resources.js';

type Random = ReturnType<typeof randoms>;

/** Small letters, which the oracle, minding case, compares as we do; no backslash, which it misreads. */
const WORDS = ['a', 'b', 'ab', 'ba', 'aab', 'bab', 'é', 'a"b', 'a b', 'not', 'and', '1', '(a)', '[b]'];
const TEXTS = ['userName', 'displayName', 'title', 'name.givenName', `${ENTERPRISE_SCHEMA}:department`];
const PARTS = ['value', 'type', 'display'];
const OPERATORS = ['eq', 'ne', 'co', 'sw', 'ew', 'gt', 'ge', 'lt', 'le'];

/** The same filter as we and as the oracle read it: its `ne` is true for another element, ours denies `eq`. */
interface Pair {
  ours: string;
  theirs: string;
}

class Grammar {
  constructor(private readonly random: Random) {}

  filter(depth: number, leaf: () => Pair): Pair {
    const choice = depth === 0 ? 0 : this.random(6);
    if (choice < 2) return leaf();
    if (choice === 2) {
      const inner = this.filter(depth - 1, leaf);
      return { ours: `${this.word('not')} (${inner.ours})`, theirs: `not (${inner.theirs})` };
    }
    const parts = Array.from({ length: 2 + this.random(2) }, () => this.filter(depth - 1, leaf));
    const word = oneOf(this.random, ['and', 'or']);
    const isBare = this.random(2) === 0;
    const joined = (side: 'ours' | 'theirs', spelt: string) => {
      const text = parts.map((part) => part[side]).join(` ${spelt} `);
      return isBare ? text : `(${text})`;
    };
    return { ours: joined('ours', this.word(word)), theirs: joined('theirs', word) };
  }

  readonly condition = (): Pair => {
    const choice = this.random(5);
    if (choice === 0) return this.elements();
    if (choice === 1) return this.compared(oneOf(this.random, ['emails', 'emails.type', 'emails.display']));
    return this.compared(oneOf(this.random, TEXTS));
  };

  private elements(): Pair {
    const inner = this.filter(2, () => this.compared(oneOf(this.random, PARTS)));
    return { ours: `${this.word('emails')}[${inner.ours}]`, theirs: `emails[${inner.theirs}]` };
  }

  private compared(name: string): Pair {
    const path = name === 'emails' ? 'emails.value' : name;
    if (this.random(6) === 0) return { ours: `${this.word(name)} pr`, theirs: `${name} pr` };
    const op = oneOf(this.random, OPERATORS);
    const value = JSON.stringify(oneOf(this.random, WORDS));
    const ours = `${this.word(name)} ${this.word(op)} ${value}`;
    return { ours, theirs: op === 'ne' ? `not (${path} eq ${value})` : `${path} ${op} ${value}` };
  }

  private word(text: string): string {
    return this.random(4) === 0 ? text.toUpperCase() : text;
  }
}

/** @param most e-mail addresses: the oracle takes the conditions in brackets for those of any elements, not of one. */
function resource(random: Random, most: number): ScimObject {
  const maybe = (name: string): ScimObject => (random(3) === 0 ? {} : { [name]: oneOf(random, WORDS) });
  const emails = Array.from({ length: random(most + 1) }, () => ({
    ...maybe('value'),
    ...maybe('type'),
    ...maybe('display'),
  })).filter((email) => Object.keys(email).length > 0);
  return {
    ...maybe('userName'),
    ...maybe('displayName'),
    ...maybe('title'),
    ...(random(2) === 0 && { name: { familyName: 'x', ...maybe('givenName') } }),
    ...(emails.length > 0 && { emails }),
    ...(random(2) === 0 && { [ENTERPRISE_SCHEMA]: { division: 'x', ...maybe('department') } }),
  };
}

test('an independent reader finds the same resources, for 5,000 random filters', () => {
  const random = randoms(20_26);
  const grammar = new Grammar(random);
  let found = 0;
  let compared = 0;
  while (compared < 5000) {
    const { ours, theirs } = grammar.filter(3, grammar.condition);
    if (ours.length > 2048 || (ours.match(/ (eq|ne|co|sw|ew|gt|ge|lt|le|pr)\b/gi) ?? []).length > 20)
      continue;
    const filter = parseFilter(ours, USER);
    const oracle = oracleFilter(oracleParse(theirs));
    for (let i = 0; i < 5; i++) {
      const one = resource(random, ours.includes('s[') || ours.includes('S[') ? 1 : 2);
      const expected = oracle(one);
      if (buildMatcher(filter)(one) !== expected) {
        throw new Error(`${ours}: ${String(expected)} for the oracle, with ${JSON.stringify(one)}`);
      }
      if (expected) found++;
    }
    compared++;
  }
  expect(found).toBeGreaterThan(5000);
  expect(found).toBeLessThan(20_000);
});
