import { Command } from 'commander';

const HELP = `
Settings are environment variables or lines of .env in this folder; data go to DATA_DIR (./data). The first start makes a Webmaster and an
API key, and prints them once. SIGTERM and SIGINT end it; exit code 0. \`rollcall\` alone does the same.`;

/** `rollcall start`: the service itself, in this process. */
export function startCommand(): Command {
  return new Command('start')
    .description('Start the service')
    .addHelpText('after', HELP)
    .action(async () => {
      await import(new URL('./main.js', import.meta.url).href);
    });
}
