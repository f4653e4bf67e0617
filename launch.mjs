// Runs a program of this clone with a sufficiently new Node.js: the Node.js of npm or of the shell, or else the one
// that `npm ci` has installed in this clone.
//   node [flags of Node.js] launch.mjs <program> [arguments]
import { spawn, spawnSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { delimiter, dirname, resolve } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';

process.on('SIGUSR1', () => undefined); // without a listener, Node.js would open an inspector

const { engines } = JSON.parse(readFileSync(new URL('package.json', import.meta.url), 'utf8'));
const [NEEDED] = /\d+\.\d+/.exec(engines.node);

const isNewEnough = (version) => version.localeCompare(NEEDED, 'en', { numeric: true }) >= 0;
const versionOf = (node) =>
  spawnSync(node, ['-p', 'process.versions.node'], { encoding: 'utf8' }).stdout?.trim() ?? '';

/** Returns the path of the Node.js to use, or undefined if none is new enough. */
function findNode() {
  const ofNpm = process.env.npm_node_execpath; // npm puts node_modules/.bin before its own Node.js in PATH
  if (ofNpm && ofNpm !== process.execPath && isNewEnough(versionOf(ofNpm))) return ofNpm;
  if (isNewEnough(process.versions.node)) return process.execPath;
  const folder = `node_modules/node-${process.platform}-${process.arch}`;
  const installed = fileURLToPath(new URL(`${folder}/bin/node`, import.meta.url));
  return existsSync(installed) ? installed : undefined;
}

const node = findNode();
const [program, ...args] = process.argv.slice(2);
if (!program) {
  console.error('Usage: node launch.mjs <program> [arguments]');
  process.exit(1);
}
if (!node) {
  console.error(
    `Rollcall needs Node.js ${NEEDED} or later, but this is ${process.versions.node}. Install Node.js 24 from https://nodejs.org.`,
  );
  process.exit(1);
}

if (node === process.execPath) {
  process.argv.splice(1, 2, resolve(program));
  await import(pathToFileURL(resolve(program)).href);
} else {
  const path = [dirname(node), process.env.PATH].join(delimiter);
  const env = { ...process.env, PATH: path, npm_node_execpath: node };
  const flags = [...process.execArgv, '--disable-sigusr1'];
  const child = spawn(node, [...flags, program, ...args], { stdio: 'inherit', env });
  // Ctrl-C in a terminal also reaches the child, and a second SIGINT would end it at once.
  const isAtTerminal = process.stdin.isTTY === true;
  for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP', 'SIGQUIT', 'SIGUSR2'])
    process.on(signal, () => {
      if (signal !== 'SIGINT' || !isAtTerminal) child.kill(signal);
    });
  child.on('exit', (code, signal) => {
    if (signal === null) process.exit(code);
    process.removeAllListeners(signal);
    process.kill(process.pid, signal);
  });
}
