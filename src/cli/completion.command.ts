import { Argument, Command } from 'commander';

const SHELLS = ['bash', 'zsh', 'fish'] as const;
type Shell = (typeof SHELLS)[number];

const HELP = `
Put the line of the example for your shell into its start file:
  bash   source <(rollcall completion bash)
  zsh    source <(rollcall completion zsh)
  fish   rollcall completion fish | source`;

/** What may follow a command: its commands and options. @param path its words, such as `users find`. */
interface Node {
  path: string;
  words: string[];
}

/**
 * `rollcall completion SHELL`: a script that completes commands and options. The words are written into it, because a
 * program that was asked at every key would need half a second to start.
 */
export const completionCommand = () =>
  new Command('completion')
    .description('a script that completes the commands and options of rollcall in a shell')
    .addArgument(new Argument('<shell>').choices(SHELLS))
    .addHelpText('after', HELP)
    .action((target: Shell, _flags: object, self: Command) => {
      const nodes = nodesOf(self.parent ?? self, '');
      process.stdout.write(target === 'fish' ? fish(nodes) : posix(nodes, target));
    });

function nodesOf(command: Command, path: string): Node[] {
  const options = command
    .createHelp()
    .visibleOptions(command)
    .map(({ long, short }) => long ?? short ?? '');
  const children = command.commands.map((child) => nodesOf(child, `${path} ${child.name()}`.trim()));
  const names = command.commands.map((child) => child.name());
  return [{ path, words: [...names, ...options] }, ...children.flat()];
}

/** Bash, and zsh by its own emulation of bash's completion. Where nothing of ours fits, files are completed. */
function posix(nodes: readonly Node[], target: Shell): string {
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

function fish(nodes: readonly Node[]): string {
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
