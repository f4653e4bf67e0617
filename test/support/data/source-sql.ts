import { readFileSync, readdirSync } from 'node:fs';
import { ROOT } from '../process/process.js';
import ts from 'typescript';

const STATEMENT = /^\s*(SELECT|INSERT|UPDATE|DELETE|WITH)\s/;

/** An SQL text in the sources, and a pattern of the statements that are built with it. */
export interface SourceSql {
  position: string;
  pattern: RegExp;
}

/** Finds every SQL statement, and the beginning of every built one, in `src` without the excluded folders. */
export function findSourceSql(without: readonly string[]): SourceSql[] {
  const files = readdirSync(`${ROOT}src`, { recursive: true, encoding: 'utf8' });
  const included = files.filter(
    (file) => file.endsWith('.ts') && !without.some((folder) => file.startsWith(folder)),
  );
  return included.flatMap((file) => {
    const source = ts.createSourceFile(
      file,
      readFileSync(`${ROOT}src/${file}`, 'utf8'),
      ts.ScriptTarget.Latest,
      true,
    );
    const found: SourceSql[] = [];
    const visit = (node: ts.Node): void => {
      const parts = partsOf(node);
      if (parts && STATEMENT.test(parts[0] ?? '')) {
        const { line } = source.getLineAndCharacterOfPosition(node.getStart());
        const pattern = new RegExp(parts.map(escapeRegExp).join('[^]*?'));
        found.push({ position: `${file}:${line + 1}`, pattern });
      }
      ts.forEachChild(node, visit);
    };
    visit(source);
    return found;
  });
}

const escapeRegExp = (text: string): string => text.replace(/[\\^$.*+?()[\]{}|]/g, '\\$&');

/** Returns the fixed parts of a string or a template, or undefined for another node. */
function partsOf(node: ts.Node): string[] | undefined {
  if (ts.isStringLiteralLike(node)) return [node.text];
  if (!ts.isTemplateExpression(node)) return undefined;
  return [node.head.text, ...node.templateSpans.map(({ literal }) => literal.text)];
}
