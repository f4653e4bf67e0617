import { expect, test } from '@jest/globals';
import { MemberChange } from '../../src/groups/member-change.js';
import { randoms } from '../support/data/random.js';

const id = (n: number) => `00000000-0000-7000-8000-00000000000${n}`;
type Step = ['add' | 'remove' | 'replace', ...number[]];

const changeOf = (steps: readonly Step[]): MemberChange => {
  const change = new MemberChange();
  for (const [op, ...ids] of steps) change[op](ids.map(id));
  return change;
};
/** The members of a group after the change, as the writer makes them. */
const after = (members: readonly number[], steps: readonly Step[]): string[] => {
  const { added, removed, isReplacement: replaces } = changeOf(steps);
  const kept = replaces ? [] : members.map(id).filter((uuid) => !removed.has(uuid));
  return [...new Set([...kept, ...added])].sort();
};
/** The same, one operation after the other. */
const oneByOne = (members: readonly number[], steps: readonly Step[]): string[] => {
  let set = new Set(members);
  for (const [op, ...ids] of steps) {
    if (op === 'replace') set = new Set(ids);
    for (const each of ids)
      if (op === 'remove') set.delete(each);
      else set.add(each);
  }
  return [...set].map(id).sort();
};

test('random operations result in the same members as applying them one by one', () => {
  const random = randoms(20_250_105);
  for (let run = 0; run < 1000; run++) {
    const steps = Array.from({ length: 1 + random(6) }, (): Step => {
      const op = (['add', 'remove', 'replace'] as const)[random(3)] ?? 'add';
      return [op, ...Array.from({ length: random(4) }, () => random(6))];
    });
    const members = [0, 1, 2, 3, 4, 5].filter(() => random(2) === 0);
    const set = oneByOne(members, steps);
    expect({ steps, members, set: after(members, steps) }).toEqual({ steps, members, set });
  }
});

test('ids in any case are one user, and what is no UUID is nobody', () => {
  const change = new MemberChange();
  change.add([id(1).toUpperCase(), id(1), 'nobody', '', '\0', `${id(2)} `]);
  expect([...change.added]).toEqual([id(1)]);
});
