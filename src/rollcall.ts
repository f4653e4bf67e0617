#!/usr/bin/env -S node --max-semi-space-size=4
// The `rollcall` command. Without arguments and with `start`, it runs the service in this process, because a second
// process would only cost memory. The first line contains `--max-semi-space-size`, because V8 accepts it only on the
// command line. The service and the other commands are two large programs, of which only the requested one is loaded.
const [command, ...others] = process.argv.slice(2);
const serves = command === undefined || (command === 'start' && others.length === 0);
await import(new URL(serves ? './main.js' : './cli.js', import.meta.url).href);

export {};
