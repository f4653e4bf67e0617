import { expect, test } from '@jest/globals';
import { filter as oracleFilter, parse as oracleParse } from 'scim2-parse-filter';
import { buildMatcher } from '../../../src/scim/protocol/filter.js';
import { parseFilter } from '../../../src/scim/protocol/filter-parser.js';
import type { ScimObject } from '../../../src/scim/protocol/attribute.js';
import { ENTERPRISE_SCHEMA } from '../../../src/scim/protocol/urns.js';
import { pickOne, createRandom } from '../../support/data/random.js';
import { USER } from './resources.js';

type Random = ReturnType<typeof createRandom>;

/** Lower-case words without a backslash: the oracle compares case-sensitively and misreads a backslash. */
const WORDS = ['a', 'b', 'ab', 'ba', 'aab', 'bab', 'é', 'a"b', 'a b', 'not', 'and', '1', '(a)', '[b]'];
const TEXTS = ['userName', 'displayName', 'title', 'name.givenName', `${ENTERPRISE_SCHEMA}:department`];
const PARTS = ['value', 'type', 'display'];
const OPERATORS = ['eq', 'ne', 'co', 'sw', 'ew', 'gt', 'ge', 'lt', 'le'];

/** One filter for our parser and for the oracle. Our `ne` negates `eq`, but its `ne` accepts another element. */
interface Pair {
  ours: string;
  theirs: string;
}

class Grammar {
  constructor(private readonly random: Random) {}

  create(depth: number, leaf: () => Pair): Pair {
    const choice = depth === 0 ? 0 : this.random(6);
    if (choice < 2) return leaf();
    if (choice === 2) {
      const inner = this.create(depth - 1, leaf);
      return { ours: `${this.spell('not')} (${inner.ours})`, theirs: `not (${inner.theirs})` };
    }
    const parts = Array.from({ length: 2 + this.random(2) }, () => this.create(depth - 1, leaf));
    const word = pickOne(this.random, ['and', 'or']);
    const isBare = this.random(2) === 0;
    const join = (side: 'ours' | 'theirs', spelt: string) => {
      const text = parts.map((part) => part[side]).join(` ${spelt} `);
      return isBare ? text : `(${text})`;
    };
    return { ours: join('ours', this.spell(word)), theirs: join('theirs', word) };
  }

  readonly createCondition = (): Pair => {
    const choice = this.random(5);
    if (choice === 0) return this.createElements();
    if (choice === 1) return this.buildFor(pickOne(this.random, ['emails', 'emails.type', 'emails.display']));
    return this.buildFor(pickOne(this.random, TEXTS));
  };

  private createElements(): Pair {
    const inner = this.create(2, () => this.buildFor(pickOne(this.random, PARTS)));
    return { ours: `${this.spell('emails')}[${inner.ours}]`, theirs: `emails[${inner.theirs}]` };
  }

  private buildFor(name: string): Pair {
    const path = name === 'emails' ? 'emails.value' : name;
    if (this.random(6) === 0) return { ours: `${this.spell(name)} pr`, theirs: `${name} pr` };
    const op = pickOne(this.random, OPERATORS);
    const value = JSON.stringify(pickOne(this.random, WORDS));
    const ours = `${this.spell(name)} ${this.spell(op)} ${value}`;
    return { ours, theirs: op === 'ne' ? `not (${path} eq ${value})` : `${path} ${op} ${value}` };
  }

  private spell(text: string): string {
    return this.random(4) === 0 ? text.toUpperCase() : text;
  }
}

/** Creates a user. The oracle does not apply conditions in brackets to one element, so `most` limits the emails. */
function createUser(random: Random, most: number): ScimObject {
  const pickMaybe = (name: string): ScimObject => (random(3) === 0 ? {} : { [name]: pickOne(random, WORDS) });
  const emails = Array.from({ length: random(most + 1) }, () => ({
    ...pickMaybe('value'),
    ...pickMaybe('type'),
    ...pickMaybe('display'),
  })).filter((email) => Object.keys(email).length > 0);
  return {
    ...pickMaybe('userName'),
    ...pickMaybe('displayName'),
    ...pickMaybe('title'),
    ...(random(2) === 0 && { name: { familyName: 'x', ...pickMaybe('givenName') } }),
    ...(emails.length > 0 && { emails }),
    ...(random(2) === 0 && { [ENTERPRISE_SCHEMA]: { division: 'x', ...pickMaybe('department') } }),
  };
}

test('random SCIM filters match the same users as an independent library', () => {
  const random = createRandom(20_26);
  const grammar = new Grammar(random);
  let found = 0;
  let compared = 0;
  while (compared < 5000) {
    const { ours, theirs } = grammar.create(3, grammar.createCondition);
    if (ours.length > 2048 || (ours.match(/ (eq|ne|co|sw|ew|gt|ge|lt|le|pr)\b/gi) ?? []).length > 20)
      continue;
    const filter = parseFilter(ours, USER);
    const oracle = oracleFilter(oracleParse(theirs));
    for (let i = 0; i < 5; i++) {
      const one = createUser(random, ours.includes('s[') || ours.includes('S[') ? 1 : 2);
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
