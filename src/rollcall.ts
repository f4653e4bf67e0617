#!/usr/bin/env -S node --max-semi-space-size=4
// The `rollcall` command. Without arguments it starts the service in this process, because a second process would only cost
// memory. V8 accepts `--max-semi-space-size` only on its command line. Both programs are large, so only the requested one
// is loaded.
const [command, ...others] = process.argv.slice(2);
const serves = command === undefined || (command === 'start' && others.length === 0);
await import(new URL(serves ? './main.js' : './cli.js', import.meta.url).href);

export {};
