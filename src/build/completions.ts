/**
 * Completions of the command for Bash, Zsh and Fish, made from the usage.
 *
 * @module
 */
import { COMMANDS, type Flag, FLAGS } from "../cli/usage.ts";
import { KIND_NAMES } from "../generated/kind-names.js";

/** What the value of a flag is, by its placeholder. */
const FILES: ReadonlySet<string> = new Set(["FILE", "PLACE", "KIND"]);

const wordsOf = ({ words, argument }: Flag): readonly string[] =>
  words ?? (argument === "KIND" ? KIND_NAMES : []);

const flagNames = ({ name, short }: Flag): string[] =>
  short ? [`--${name}`, `-${short}`] : [`--${name}`];

const withValue = FLAGS.filter(({ argument }) => argument !== undefined);
const commands = Object.keys(COMMANDS);

export function bashCompletion(): string {
  const cases = withValue.map((flag) => {
    const words = wordsOf(flag).join(" ");
    const files = FILES.has(flag.argument!) ? "compopt -o filenames; " : "";
    const more = files && ' $(compgen -f -- "$word")';
    const replies = `COMPREPLY=($(compgen -W "${words}" -- "$word")${more})`;
    return `    --${flag.name}) ${files}${replies} ;;\n`;
  });
  return `# Completion of nodeface for Bash
_nodeface() {
  local word="\${COMP_WORDS[COMP_CWORD]}" before="\${COMP_WORDS[COMP_CWORD - 1]}"
  COMPREPLY=()
  case "$before" in
${cases.join("")}    kinds) COMPREPLY=($(compgen -W "${KIND_NAMES.join(" ")}" -- "$word")) ;;
    *)
      if [[ $word == -* ]]; then
        COMPREPLY=($(compgen -W "${FLAGS.flatMap(flagNames).join(" ")}" -- "$word"))
      elif ((COMP_CWORD == 1)); then
        COMPREPLY=($(compgen -W "${commands.join(" ")}" -- "$word"))
      fi
      ;;
  esac
}
complete -F _nodeface nodeface
`;
}

export function zshCompletion(): string {
  const flags = FLAGS.map((flag) => {
    const [long, short] = flagNames(flag);
    const names = short ? `'(${long} ${short})'{${long},${short}}` : `'${long}`;
    const text = `[${withoutQuotes(flag.text).replaceAll(/[[\]:]/g, "\\$&")}]`;
    const value = flag.argument === undefined ? "" : `:${flag.argument}:${zshValues(flag)}`;
    return `    ${short ? `${names}'` : names}${text}${value}' \\\n`;
  });
  const described = Object.entries(COMMANDS).map(([name, { text }]) =>
    `      '${name}:${withoutQuotes(text).replaceAll(":", "\\:")}'\n`
  );
  return `#compdef nodeface
_nodeface() {
  local -a commands
  _arguments -s \\
${flags.join("")}    '1: :->first' \\
    '2: :->second' && return
  case $state in
    first)
      commands=(
${described.join("")}      )
      _describe command commands
      ;;
    second)
      [[ $words[2] == kinds ]] && compadd ${KIND_NAMES.join(" ")}
      ;;
  esac
}
_nodeface "$@"
`;
}

function zshValues(flag: Flag): string {
  if (!FILES.has(flag.argument!)) return `(${wordsOf(flag).join(" ")})`;
  const words = wordsOf(flag);
  return words.length === 0 ? "_files" : `{_files; compadd ${words.join(" ")}}`;
}

export function fishCompletion(): string {
  const first = Object.entries(COMMANDS).map(([name, { text }]) =>
    `complete -c nodeface -f -n __fish_use_subcommand -a ${name} -d '${withoutQuotes(text)}'\n`
  );
  const kinds = `-n '__fish_seen_subcommand_from kinds' -a '${KIND_NAMES.join(" ")}'`;
  const flags = FLAGS.map((flag) => {
    const short = flag.short ? ` -s ${flag.short}` : "";
    const words = wordsOf(flag);
    const values = words.length > 0 ? ` -a '${words.join(" ")}'` : "";
    const kind = flag.argument === undefined ? "" : FILES.has(flag.argument) ? " -rF" : " -x";
    return `complete -c nodeface -l ${flag.name}${short}${kind}${values} -d '${
      withoutQuotes(flag.text)
    }'\n`;
  });
  return `# Completion of nodeface for Fish
${first.join("")}complete -c nodeface -f ${kinds}
${flags.join("")}`;
}

const withoutQuotes = (text: string): string => text.replaceAll("'", "’");
