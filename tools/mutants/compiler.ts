import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import ts from 'typescript';

/** Compiles single files of src as the build does, without type checks. */
export class Compiler {
  private readonly service: ts.LanguageService;
  /** Files that have changed, with their texts. */
  private readonly changed = new Map<string, { version: number; text: string }>();

  constructor(private readonly folder: string) {
    const config = join(folder, 'tsconfig.build.json');
    const { options, fileNames } = ts.parseJsonConfigFileContent(
      ts.readConfigFile(config, (path) => ts.sys.readFile(path)).config,
      ts.sys,
      folder,
    );
    this.service = ts.createLanguageService({
      getCompilationSettings: () => options,
      getScriptFileNames: () => fileNames,
      getScriptVersion: (path) => String(this.changed.get(path)?.version ?? 0),
      getScriptSnapshot: (path) => {
        const text =
          this.changed.get(path)?.text ?? (existsSync(path) ? readFileSync(path, 'utf8') : undefined);
        return text === undefined ? undefined : ts.ScriptSnapshot.fromString(text);
      },
      getCurrentDirectory: () => folder,
      getDefaultLibFileName: (compilerOptions) => ts.getDefaultLibFilePath(compilerOptions),
      fileExists: (path) => ts.sys.fileExists(path),
      readFile: (path, encoding) => ts.sys.readFile(path, encoding),
      readDirectory: (...args) => ts.sys.readDirectory(...args),
      directoryExists: (path) => ts.sys.directoryExists(path),
      getDirectories: (path) => ts.sys.getDirectories(path),
    });
  }

  /** Returns the JavaScript of a file with a changed text. */
  compile(file: string, text: string): string {
    const path = join(this.folder, file);
    this.changed.set(path, { version: (this.changed.get(path)?.version ?? 0) + 1, text });
    const { outputFiles } = this.service.getEmitOutput(path);
    const output = outputFiles.find(({ name }) => name.endsWith('.js'));
    if (!output) throw new Error(`${file} does not compile.`);
    return output.text;
  }
}
