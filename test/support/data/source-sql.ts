import { readFileSync, readdirSync } from 'node:fs';
import { ROOT } from '../process/process.js';
import ts from 'typescript';

const STATEMENT = /^\s*(SELECT|INSERT|UPDATE|DELETE|WITH)\s/;

/** A piece of SQL in the sources, and what a statement that was made with it looks like. */
export interface SourceSql {
  place: string;
  pattern: RegExp;
}

/** Every statement, or part of one, in `src`, without the excluded folders. */
export function sourceSql(without: readonly string[]): SourceSql[] {
  const files = readdirSync(`${ROOT}src`, { recursive: true, encoding: 'utf8' });
  const asked = files.filter(
    (file) => file.endsWith('.ts') && !without.some((folder) => file.startsWith(folder)),
  );
  return asked.flatMap((file) => {
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
        const pattern = new RegExp(parts.map(literally).join('[^]*?'));
        found.push({ place: `${file}:${line + 1}`, pattern });
      }
      ts.forEachChild(node, visit);
    };
    visit(source);
    return found;
  });
}

const literally = (text: string): string => text.replace(/[\\^$.*+?()[\]{}|]/g, '\\$&');

/** The fixed parts of a template text, between the inserted values. */
function partsOf(node: ts.Node): string[] | undefined {
  if (ts.isStringLiteralLike(node)) return [node.text];
  if (!ts.isTemplateExpression(node)) return undefined;
  return [node.head.text, ...node.templateSpans.map(({ literal }) => literal.text)];
}
