import { WEAK_BEGINNING, findConstructions, hasSemicolon } from './constructions.mjs';

const CASES = new Set(['describe', 'it', 'test']);

/** Returns the text of a comment without the stars at the start of its lines. */
const textOf = (comment) => comment.value.replace(/^\s*\*+ ?/gm, '').trim();

/** Returns the fixed text of a string or a template, or undefined for another expression. */
function readText(node) {
  if (node?.type === 'Literal' && typeof node.value === 'string') return node.value;
  if (node?.type === 'TemplateLiteral') return node.quasis.map(({ value }) => value.cooked).join('…');
  return undefined;
}

/** Returns true for test functions such as `it`, `test.each(table)` and `describe.skip`. */
function isTestFunction(callee) {
  if (callee.type === 'Identifier') return CASES.has(callee.name);
  if (callee.type === 'MemberExpression') return isTestFunction(callee.object);
  if (callee.type === 'CallExpression') return isTestFunction(callee.callee);
  return callee.type === 'TaggedTemplateExpression' && isTestFunction(callee.tag);
}

const meta = { type: 'problem', schema: [], messages: { wording: '{{fault}}' } };
const report = (context, node, faults) => {
  for (const fault of faults) context.report({ ...node, messageId: 'wording', data: { fault } });
};

export default {
  rules: {
    /** Checks comments, except comments for tools (`eslint-…`, `@ts-…`). */
    comments: {
      meta,
      create: (context) => ({
        Program: () => {
          for (const comment of context.sourceCode.getAllComments()) {
            const text = textOf(comment);
            if (/^(eslint|@ts-|@jest-|prettier-ignore|#!)/.test(text)) continue;
            const faults = findConstructions(text);
            if (hasSemicolon(text)) faults.push('a semicolon: write two sentences');
            const isDocstring = comment.type === 'Block' && comment.value.startsWith('*');
            if (isDocstring && WEAK_BEGINNING.test(text))
              faults.push(`a docstring begins with a verb or a noun, not with "${text.split(' ', 1)}"`);
            report(context, { loc: comment.loc }, faults);
          }
        },
      }),
    },
    /** Checks the titles of tests. */
    titles: {
      meta,
      create: (context) => ({
        CallExpression: (node) => {
          const title = isTestFunction(node.callee) ? readText(node.arguments[0]) : undefined;
          if (title === undefined) return;
          const faults = findConstructions(title);
          if (hasSemicolon(title)) faults.push('a semicolon: write two tests, or one statement');
          report(context, { node: node.arguments[0] }, faults);
        },
      }),
    },
    /** Checks texts of three or more words, because they may be shown to users. */
    texts: {
      meta,
      create: (context) => {
        const check = (node) => {
          const text = readText(node) ?? '';
          if (/\w+ \w+ \w+/.test(text)) report(context, { node }, findConstructions(text));
        };
        return { Literal: check, TemplateLiteral: check };
      },
    },
  },
};
