import { expect, test } from '@jest/globals';
import { MemberChange } from '../../src/groups/member-change.js';
import { createRandom } from '../support/data/random.js';

const id = (n: number) => `00000000-0000-7000-8000-00000000000${n}`;
type Step = ['add' | 'remove' | 'replace', ...number[]];

const combine = async (steps: readonly Step[]): Promise<MemberChange> => {
  const change = new MemberChange();
  for (const [op, ...ids] of steps) await change[op](ids.map(id));
  return change;
};
/** Returns the members of a group after the combined change, as the writer stores them. */
const applyCombined = async (members: readonly number[], steps: readonly Step[]): Promise<string[]> => {
  const { added, removed, isReplacement: replaces } = await combine(steps);
  const remaining = replaces ? [] : members.map(id).filter((uuid) => !removed.has(uuid));
  return [...new Set([...remaining, ...added])].sort();
};
/** Returns the members after each operation is applied separately. */
const applyEach = (members: readonly number[], steps: readonly Step[]): string[] => {
  let set = new Set(members);
  for (const [op, ...ids] of steps) {
    if (op === 'replace') set = new Set(ids);
    for (const each of ids)
      if (op === 'remove') set.delete(each);
      else set.add(each);
  }
  return [...set].map(id).sort();
};

test('combined member changes have the same result as separate changes', async () => {
  const random = createRandom(20_250_105);
  for (let run = 0; run < 1000; run++) {
    const steps = Array.from({ length: 1 + random(6) }, (): Step => {
      const op = (['add', 'remove', 'replace'] as const)[random(3)] ?? 'add';
      return [op, ...Array.from({ length: random(4) }, () => random(6))];
    });
    const members = [0, 1, 2, 3, 4, 5].filter(() => random(2) === 0);
    const set = applyEach(members, steps);
    expect({ steps, members, set: await applyCombined(members, steps) }).toEqual({ steps, members, set });
  }
});

test('member ids that differ only in case count as one user', async () => {
  const change = new MemberChange();
  await change.add([id(1).toUpperCase(), id(1), 'unknown', '', '\0', `${id(2)} `]);
  expect([...change.added]).toEqual([id(1)]);
});
