import { execFileSync } from 'node:child_process';
import {
  cpSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  readdirSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { Compiler } from './compiler.js';
import type { Fault } from './faults.js';

/** Programs into which src is bundled. */
const PROGRAMS = ['cli', 'migrator', 'main', 'import-worker', 'read-worker', 'rollcall'].map(
  (name) => `dist/${name}.js`,
);

/** Position of a fault in a file of the build. */
export interface Position {
  file: string;
  offset: number;
}

/** A copy of the project in a temporary folder, so that an interrupted run leaves no fault in the sources. */
export class Project {
  private readonly compiler: Compiler;
  /** Files of the build without a fault. */
  private readonly built: ReadonlyMap<string, string>;

  private constructor(readonly folder: string) {
    this.compiler = new Compiler(folder);
    const files = readdirSync(join(folder, 'build'), { recursive: true, encoding: 'utf8' })
      .filter((file) => file.endsWith('.js'))
      .map((file) => `build/${file}`);
    this.built = new Map([...files, ...PROGRAMS].map((file) => [file, this.read(file)]));
  }

  /** Copies and builds all files that git tracks or would add. */
  static create(): Project {
    const folder = mkdtempSync(join(tmpdir(), 'rollcall-mutants-'));
    const list = execFileSync('git', ['ls-files', '-z', '--cached', '--others', '--exclude-standard']);
    for (const file of list.toString().split('\0').slice(0, -1)) {
      mkdirSync(join(folder, dirname(file)), { recursive: true });
      cpSync(file, join(folder, file));
    }
    symlinkSync(join(process.cwd(), 'node_modules'), join(folder, 'node_modules'));
    execFileSync(process.execPath, ['build.mjs'], { cwd: folder, stdio: 'inherit' });
    return new Project(folder);
  }

  /**
   * Introduces a fault into the sources and the build.
   * @returns its positions in the build. The list is empty for the console.
   */
  plant({ file, before, after }: Fault): Position[] {
    const source = this.read(file);
    if (source.split(before).length !== 2) throw new Error(`${file} must contain exactly once: ${before}`);
    this.write(
      file,
      source.replace(before, () => after),
    );
    this.bundle('bundle-service.mjs', 'bundleService');
    return [...this.built].flatMap(([builtFile, text]) => {
      const offset = findDifference(text, this.read(builtFile));
      return offset === undefined ? [] : [{ file: builtFile, offset }];
    });
  }

  /** Removes the fault from a file. The bundled programs contain it until the next fault is introduced. */
  restore(file: string): void {
    this.write(file, readFileSync(file, 'utf8'));
  }

  remove(): void {
    rmSync(this.folder, { recursive: true });
  }

  private write(file: string, source: string): void {
    writeFileSync(join(this.folder, file), source);
    if (file.startsWith('console/')) this.bundle('bundle-console.mjs', 'bundleConsole');
    else writeFileSync(join(this.folder, toBuilt(file)), this.compiler.compile(file, source));
  }

  private bundle(script: string, name: string): void {
    const code = `await (await import('./${script}')).${name}();`;
    execFileSync(process.execPath, ['--input-type=module', '--eval', code], { cwd: this.folder });
  }

  private read(file: string): string {
    return readFileSync(join(this.folder, file), 'utf8');
  }
}

const toBuilt = (file: string): string => file.replace(/^src/, 'build').replace(/ts$/, 'js');

/** Returns the offset of the first difference, or undefined for equal texts. */
function findDifference(a: string, b: string): number | undefined {
  if (a === b) return undefined;
  let at = 0;
  while (a[at] === b[at]) at++;
  return at;
}
