#!/usr/bin/env -S node --max-semi-space-size=4
// The command of the package. Without arguments it starts the service, in this process: a second one would only cost memory.
// V8 takes the flag on its command line only. Both programs are big, so only the one that is asked for is read.
const [command, ...others] = process.argv.slice(2);
const serves = command === undefined || (command === 'start' && others.length === 0);
await import(new URL(serves ? './main.js' : './cli.js', import.meta.url).href);

export {};
