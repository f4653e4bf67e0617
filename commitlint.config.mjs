import { VERBS, isOneTopic } from './tools/words/commit-subjects.mjs';
import { findConstructions } from './tools/words/constructions.mjs';

/**
 * Rules of commit messages: `type(scope): imperative subject`, at most 72 characters, one change. The reason goes into
 * the body.
 */
export default {
  defaultIgnores: false,
  plugins: [
    {
      rules: {
        imperative: ({ subject }) => [
          VERBS.has(subject?.split(' ', 1)[0] ?? ''),
          'begin the subject with a verb in the imperative (add a missing verb to tools/words/commit-subjects.mjs)',
        ],
        'one-topic': ({ subject }) => [isOneTopic(subject ?? ''), 'write one commit for each topic'],
        wording: ({ subject }) => {
          const faults = findConstructions(subject ?? '');
          return [faults.length === 0, faults.join(', ')];
        },
      },
    },
  ],
  rules: {
    'header-max-length': [2, 'always', 72],
    'type-enum': [
      2,
      'always',
      ['feat', 'fix', 'perf', 'refactor', 'style', 'test', 'docs', 'build', 'ci', 'chore', 'revert'],
    ],
    'type-empty': [2, 'never'],
    'subject-empty': [2, 'never'],
    'subject-full-stop': [2, 'never', '.'],
    'body-leading-blank': [2, 'always'],
    imperative: [2, 'always'],
    'one-topic': [2, 'always'],
    wording: [2, 'always'],
  },
};
