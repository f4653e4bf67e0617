import eslint from '@eslint/js';
import tseslint from 'typescript-eslint';
import { basename } from 'node:path';
import words from './tools/words/eslint-plugin.mjs';

/** Suffixes that a file of src may have before `.ts`. */
const suffixes = [
  'controller',
  'service',
  'repository',
  'entity',
  'module',
  'guard',
  'strategy',
  'filter',
  'adapter',
  'engine',
  'dto',
  'query',
  'input',
  'view',
  'mapping',
  'command',
];
const fileName = new RegExp(`^[a-z0-9]+(-[a-z0-9]+)*(\\.(${suffixes.join('|')}))?\\.ts$`);

const rollcall = {
  rules: {
    'file-name': {
      meta: {
        type: 'problem',
        schema: [],
        messages: { wrong: `Name the file in kebab-case, with no suffix or one of: ${suffixes.join(', ')}.` },
      },
      create: (context) => ({
        Program: (node) => {
          if (!fileName.test(basename(context.filename))) context.report({ node, messageId: 'wrong' });
        },
      }),
    },
  },
};

export default tseslint.config(
  {
    ignores: [
      'build/',
      'console/api/generated.d.ts',
      'dist/',
      '.ci/',
      'test/contract/generated-client/',
      'coverage/',
      'artifacts/',
      '*.mjs',
      '*.cjs',
    ],
  },
  eslint.configs.recommended,
  ...tseslint.configs.strictTypeChecked,
  {
    languageOptions: { parserOptions: { projectService: true, tsconfigRootDir: import.meta.dirname } },
    rules: {
      'max-lines': ['error', 400],
      '@typescript-eslint/no-extraneous-class': ['error', { allowWithDecorator: true }],
      '@typescript-eslint/no-unsafe-class-instance-assignment': 'off',
      '@typescript-eslint/restrict-template-expressions': ['error', { allowNumber: true }],
      '@typescript-eslint/no-unused-vars': ['error', { argsIgnorePattern: '^_', varsIgnorePattern: '^_' }],
      // In Nest, async methods of controllers often only return a promise.
      '@typescript-eslint/require-await': 'off',
      '@typescript-eslint/return-await': ['error', 'error-handling-correctness-only'],
    },
  },
  {
    plugins: { words },
    rules: { 'words/comments': 'error', 'words/titles': 'error' },
  },
  { files: ['src/**', 'console/**', 'ormconfig.ts'], rules: { 'words/texts': 'error' } },
  {
    files: ['console/**'],
    // Short handlers such as `onClick={() => setOpen(true)}`.
    rules: { '@typescript-eslint/no-confusing-void-expression': ['error', { ignoreArrowShorthand: true }] },
  },
  {
    files: ['src/**'],
    plugins: { rollcall },
    rules: {
      'rollcall/file-name': 'error',
      'no-restricted-syntax': [
        'error',
        {
          selector: 'TSAsExpression > TSAsExpression',
          message:
            'A cast of a cast hides a wrong type. Narrow with a type guard, or give the value a better type.',
        },
        { selector: 'TSTypeAssertion', message: 'Write `as`, so that casts can be found.' },
      ],
    },
  },
  {
    files: ['src/**'],
    ignores: ['src/platform/common/text.ts'],
    rules: {
      'no-restricted-properties': [
        'error',
        {
          property: 'normalize',
          message: 'Use toNormalForm, because normalize() can take minutes for hostile input.',
        },
      ],
    },
  },
  {
    // Plain Node.js scripts, outside the TypeScript project.
    files: ['samples/*.mjs', 'test/support/jest/*.mjs', 'tools/{mutants,words}/*.mjs'],
    extends: [tseslint.configs.disableTypeChecked],
    rules: { 'rollcall/file-name': 'off' }, // the rule expects TypeScript file names
    languageOptions: {
      parserOptions: { projectService: false },
      globals: Object.fromEntries(
        [
          'AbortSignal',
          'Response',
          'URL',
          'URLSearchParams',
          'console',
          'document',
          'fetch',
          'process',
          'sessionStorage',
          'window',
        ].map((name) => [name, 'readonly']),
      ),
    },
  },
  {
    files: ['test/**'],
    rules: {
      // Response bodies are any JSON. A wrong path gives undefined, which fails the expectation.
      '@typescript-eslint/no-unsafe-assignment': 'off',
      '@typescript-eslint/no-unsafe-member-access': 'off',
      '@typescript-eslint/no-unsafe-argument': 'off',
      '@typescript-eslint/no-unsafe-call': 'off',
      '@typescript-eslint/no-unsafe-return': 'off',
      '@typescript-eslint/restrict-template-expressions': 'off',
      '@typescript-eslint/no-non-null-assertion': 'off',
      '@typescript-eslint/no-confusing-void-expression': 'off',
    },
  },
);
