import { Argument, Command } from 'commander';

const SHELLS = ['bash', 'zsh', 'fish'] as const;
type Shell = (typeof SHELLS)[number];

const HELP = `
Add the line for your shell to its start-up file:
  bash   source <(rollcall completion bash)
  zsh    source <(rollcall completion zsh)
  fish   rollcall completion fish | source`;

interface CommandWords {
  path: string;
  words: string[];
}

/**
 * Creates `rollcall completion SHELL`, which prints a script that completes commands and options. The script contains all
 * words, because starting this program for each completion would take half a second.
 */
export const createCompletionCommand = () =>
  new Command('completion')
    .description('print a script that completes the commands and options of rollcall in a shell')
    .addArgument(new Argument('<shell>').choices(SHELLS))
    .addHelpText('after', HELP)
    .action((target: Shell, _flags: object, self: Command) => {
      const nodes = collectWords(self.parent ?? self, '');
      process.stdout.write(target === 'fish' ? renderFish(nodes) : renderPosix(nodes, target));
    });

function collectWords(command: Command, path: string): CommandWords[] {
  const visible = command.createHelp().visibleOptions(command);
  const options = visible.map(({ long, short }) => long ?? short ?? '');
  const children = command.commands.map((child) => collectWords(child, `${path} ${child.name()}`.trim()));
  const names = command.commands.map((child) => child.name());
  return [{ path, words: [...names, ...options] }, ...children.flat()];
}

/**
 * Renders the script for Bash, or for zsh with its Bash emulation. If no word matches, the script completes file names.
 */
function renderPosix(nodes: readonly CommandWords[], target: Shell): string {
  const cases = nodes.map(({ path, words }) => `    '${path}') echo '${words.join(' ')}' ;;`);
  return `${target === 'zsh' ? 'autoload -U +X bashcompinit && bashcompinit\n' : ''}_rollcall_words() {
  case "$1" in
${cases.join('\n')}
  esac
}
_rollcall() {
  local path='' word i
  for ((i = 1; i < COMP_CWORD; i++)); do
    word="\${COMP_WORDS[i]}"
    if [ -n "$(_rollcall_words "\${path:+$path }$word")" ]; then path="\${path:+$path }$word"; fi
  done
  COMPREPLY=($(compgen -W "$(_rollcall_words "$path")" -- "\${COMP_WORDS[COMP_CWORD]}"))
}
complete -o default -F _rollcall rollcall
`;
}

function renderFish(nodes: readonly CommandWords[]): string {
  const paths = nodes.filter(({ path }) => path !== '').map(({ path }) => `'${path}'`);
  return `function __rollcall_at
  set -l path
  for word in (commandline -opc)[2..-1]
    contains -- (string join ' ' $path $word) ${paths.join(' ')}; and set path $path $word
  end
  set -l now (string join ' ' $path)
  test "$now" = "$argv"
end
${nodes.map(({ path, words }) => `complete -c rollcall -n '__rollcall_at ${path}' -a '${words.join(' ')}'`).join('\n')}
`;
}
