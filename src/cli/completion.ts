/** Completion scripts for shells, made from the command table. Pure; it is given the table, which loads it. */
import { distinct } from "../ground/bytes.ts";

interface Option {
  readonly name: string;
  readonly value?: string;
  readonly help: string;
}

interface Command {
  readonly words: string;
  readonly operands?: string;
  readonly summary: string;
  readonly options?: readonly Option[];
}

/** What a script is made from: the commands, and the options of every one. */
export interface CompletionTable {
  readonly commands: readonly Command[];
  readonly commonOptions: readonly Option[];
}

export const completionShells = ["bash", "zsh", "fish"] as const;

export type CompletionShell = (typeof completionShells)[number];

/** The script of a shell. It offers words, options and the values of options that take one of a few; else files. */
export function completionScript(shell: CompletionShell, table: CompletionTable): string {
  return { bash, zsh, fish }[shell](table);
}

/** A word that may come next, and what it means. */
type Offer = readonly [word: string, help: string];

/** What may follow the words of a group, or no words: words of commands, each once. */
function wordsAfter({ commands }: CompletionTable, group: string): Offer[] {
  const at = group === "" ? 0 : 1;
  const fitting = commands.filter((command) => group === "" || command.words.startsWith(`${group} `));
  return distinct(fitting.map((command) => command.words.split(" ")[at] ?? "")).map((word) => {
    const whole = group === "" ? word : `${group} ${word}`;
    return [word, fitting.find((command) => command.words === whole)?.summary ?? `commands of ${word}`];
  });
}

function groups({ commands }: CompletionTable): string[] {
  const pairs = commands.map((command) => command.words).filter((words) => words.includes(" "));
  return distinct(pairs.map((words) => words.replace(/ .*/, "")));
}

function optionsOf({ commonOptions }: CompletionTable, options: readonly Option[] = []): Offer[] {
  return [...options, ...commonOptions].map((option) => [`--${option.name}`, option.help]);
}

/** The values of options that take one of a few, the same wherever the option stands; else the option is left out. */
function choices({ commands }: CompletionTable): [option: string, values: readonly string[]][] {
  const all = commands.flatMap((command) => command.options ?? []);
  const values = (option: Option) => (option.value?.includes("|") === true ? option.value : "");
  const names = distinct(all.map((option) => option.name));
  const found = names.map((name): [string, string[]] => [name, distinct(all.filter((one) => one.name === name).map(values))]);
  return found.flatMap(([name, [only = "", ...others]]) => (only === "" || others.length > 0 ? [] : [[`--${name}`, only.split("|")]]));
}

function takesOperands(command: Command): boolean {
  return command.operands !== undefined;
}

/** A text in single quotes of a POSIX shell. */
function inQuotes(text: string): string {
  return `'${text.replaceAll("'", `'\\''`)}'`;
}

function wordList(offers: readonly Offer[]): string {
  return inQuotes(offers.map(([word]) => word).join(" "));
}

function bash(table: CompletionTable): string {
  const next = ["", ...groups(table)].map((group) => `  ${inQuotes(group)}) list=${wordList(wordsAfter(table, group))} ;;\n`);
  const own = table.commands.map((command) => {
    const name = inQuotes(command.words);
    return `  ${name} | ${name}' '*) options=${wordList(optionsOf(table, command.options))}${takesOperands(command) ? "" : " list=$options"} ;;\n`;
  });
  const values = choices(table).map(([option, words]) => `  ${option}) list=${inQuotes(words.join(" "))} ;;\n`);
  return `# Completion of majordomus for bash: source it, or put it where bash-completion looks.
_majordomus() {
  local word words= list= options=${wordList(optionsOf(table))} index
  local current=\${COMP_WORDS[COMP_CWORD]} previous=\${COMP_WORDS[COMP_CWORD - 1]}
  for ((index = 1; index < COMP_CWORD; index++)); do
    word=\${COMP_WORDS[index]}
    case $word in
    --repo) ((index++)) ;;
    -*) ;;
    *) words=\${words:+$words }$word ;;
    esac
  done
  case $words in
${next.join("")}${own.join("")}  esac
  case $current in
  -*) list=$options ;;
  esac
  case $previous in
${values.join("")}  esac
  COMPREPLY=()
  while IFS= read -r word; do COMPREPLY+=("$word"); done < <(compgen -W "$list" -- "$current")
}
complete -o default -F _majordomus majordomus
`;
}

function zshList(offers: readonly Offer[]): string {
  return offers.map(([word, help]) => ` ${inQuotes(`${word}:${help.replaceAll(":", "\\:")}`)}`).join("");
}

function zsh(table: CompletionTable): string {
  const next = ["", ...groups(table)].map((group) => `  ${inQuotes(group)}) list=(${zshList(wordsAfter(table, group))} ) ;;\n`);
  const own = table.commands.map((command) => {
    const name = inQuotes(command.words);
    return `  ${name} | ${name}' '*) options=(${zshList(optionsOf(table, command.options))} )${takesOperands(command) ? "" : ` list=("\${options[@]}")`} ;;\n`;
  });
  const values = choices(table).map(([option, words]) => `  ${option}) list=(${words.map((word) => ` ${inQuotes(word)}`).join("")} ) ;;\n`);
  return `#compdef majordomus
# Completion of majordomus for zsh: put it as _majordomus into a folder of $fpath, or source it after compinit.
_majordomus() {
  local word given= index
  local -a list options
  options=(${zshList(optionsOf(table))} )
  for ((index = 2; index < CURRENT; index++)); do
    word=\${words[index]}
    case $word in
    --repo) ((index++)) ;;
    -*) ;;
    *) given=\${given:+$given }$word ;;
    esac
  done
  case $given in
${next.join("")}${own.join("")}  esac
  case \${words[CURRENT]} in
  -*) list=("\${options[@]}") ;;
  esac
  case \${words[CURRENT - 1]} in
${values.join("")}  esac
  if ((\${#list})); then _describe -o majordomus list; else _files; fi
}
if [[ \${funcstack[1]} = _majordomus ]]; then _majordomus "$@"; else compdef _majordomus majordomus; fi
`;
}

/** A text in single quotes of fish, where a backslash escapes. */
function fishQuoted(text: string): string {
  return `'${text.replace(/['\\]/g, "\\$&")}'`;
}

function fish(table: CompletionTable): string {
  const next = ["", ...groups(table)].flatMap((group) =>
    wordsAfter(table, group).map(
      ([word, help]) => `complete -c majordomus -f -n "__majordomus_at '${group}'" -a ${word} -d ${fishQuoted(help)}\n`,
    ),
  );
  const optionLine = (condition: string, option: Option) => {
    const values = option.value?.includes("|") === true ? ` -x -a ${fishQuoted(option.value.replaceAll("|", " "))}` : " -r";
    const value = option.value === undefined ? "" : values;
    return `complete -c majordomus${condition} -l ${option.name}${value} -d ${fishQuoted(option.help)}\n`;
  };
  const own = table.commands.flatMap((command) =>
    (command.options ?? []).map((option) => optionLine(` -n "__majordomus_within '${command.words}'"`, option)),
  );
  return `# Completion of majordomus for fish: put it into ~/.config/fish/completions/majordomus.fish.
function __majordomus_given
    set -l given
    set -l skip 0
    for word in (commandline -opc)[2..-1]
        if test $skip = 1
            set skip 0
        else if test "$word" = --repo
            set skip 1
        else if not string match -q -- '-*' $word
            set -a given $word
        end
    end
    string join ' ' -- $given
end
function __majordomus_at
    test (__majordomus_given | string collect -a) = "$argv[1]"
end
function __majordomus_within
    string match -q -- "$argv[1] *" (__majordomus_given | string collect -a)' '
end
${next.join("")}${own.join("")}${table.commonOptions.map((option) => optionLine("", option)).join("")}`;
}
