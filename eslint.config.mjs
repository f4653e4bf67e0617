import eslint from '@eslint/js';
import tseslint from 'typescript-eslint';

export default tseslint.config(
  {
    ignores: [
      'build/',
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
      'max-lines': ['error', 250],
      '@typescript-eslint/no-extraneous-class': ['error', { allowWithDecorator: true }],
      '@typescript-eslint/no-unsafe-class-instance-assignment': 'off',
      '@typescript-eslint/restrict-template-expressions': ['error', { allowNumber: true }],
      '@typescript-eslint/no-unused-vars': ['error', { argsIgnorePattern: '^_', varsIgnorePattern: '^_' }],
      // Parameter decorators and async doors that only pass a promise on are ordinary Nest.
      '@typescript-eslint/require-await': 'off',
      '@typescript-eslint/return-await': ['error', 'error-handling-correctness-only'],
    },
  },
  {
    files: ['src/**'],
    ignores: ['src/common/text.ts'],
    rules: {
      'no-restricted-properties': [
        'error',
        { property: 'normalize', message: 'Use normalForm: a client can make normalize() take minutes.' },
      ],
    },
  },
  {
    // Plain Node, in no TypeScript project.
    files: ['samples/*.mjs'],
    extends: [tseslint.configs.disableTypeChecked],
    languageOptions: {
      parserOptions: { projectService: false },
      globals: Object.fromEntries(
        ['AbortSignal', 'Response', 'URL', 'URLSearchParams', 'console', 'fetch', 'process'].map((name) => [
          name,
          'readonly',
        ]),
      ),
    },
  },
  {
    files: ['test/**'],
    rules: {
      // Answers are any JSON; a wrong path into one is an undefined that no expectation accepts.
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
