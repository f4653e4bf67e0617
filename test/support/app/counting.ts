import { type Sql, insertHeadOf } from '../../../src/platform/database/engine/sql.js';

/** Passes statements on and records their first words, so that a test can count them. */
export function traceStatements(sql: Sql): { sql: Sql; statements: string[] } {
  const statements: string[] = [];
  const note = (text: string) => statements.push(text.replace(/\s+/g, ' ').slice(0, 40));
  return {
    statements,
    sql: {
      dialect: sql.dialect,
      query: (text, params) => (note(text), sql.query(text, params)),
      queryOne: (text, params) => (note(text), sql.queryOne(text, params)),
      execute: (text, params) => (note(text), sql.execute(text, params)),
      insert: (statement, rows) => (note(insertHeadOf(statement)), sql.insert(statement, rows)),
    },
  };
}
