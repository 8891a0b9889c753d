# shellcheck shell=sh
# The shell reader of Majordomus Knowledge, as functions to source:
#
#     majordomus_home=tools/majordomus/shell        # the folder that holds lib/ and awk/
#     . "$majordomus_home/lib/majordomus.sh"
#     majordomus_candidate_rows . | while IFS="$(printf '\t')" read -r kind id class rest; do ...
#
#   majordomus_candidates REPO [text|json]   what `majordomus knowledge candidates` prints
#   majordomus_candidate_rows REPO           the same as rows for a script, see below
#   majordomus_flatten FILE [text|json]      what `majordomus yaml flatten FILE` prints
#   majordomus_flatten_front FILE [text|json]  the same of the file's front matter
#
# REPO is the repository's root. Each runs in a subshell, says on standard error what is wrong, and returns the exit
# status of docs/contract.md, section 2. Nothing is written to a file.
#
# Rows: columns with a tab between them; records by id, then unreadable files by path. In a value a backslash and a
# control character, so a tab or a line feed too, are escaped as in JSON; a missing value is `-`.
#
#   record      id class status epistemics date episode branch path title about route
#   unreadable  path reason
#
# The branch is looked up for the episodes of records that await review.
#
# Needs a POSIX shell and awk (MAJORDOMUS_AWK names another awk, split at spaces), find, cat, printf, tr, wc. zsh must
# emulate sh. Every other name here begins with majordomus_ and ends in an underscore, and is not for others.

majordomus_candidates() (
  majordomus_begin_
  majordomus_candidates_ "$1" "${2:-text}"
)

majordomus_candidate_rows() (
  majordomus_begin_
  majordomus_candidates_ "$1" rows
)

majordomus_flatten() (
  majordomus_begin_
  majordomus_flatten_ "$1" '' "${2:-text}"
)

majordomus_flatten_front() (
  majordomus_begin_
  majordomus_flatten_ "$1" front "${2:-text}"
)

# Makes the shell's state known; what a script that sources this has set stays its own, outside the subshell.
majordomus_begin_() {
  set +e
  set -f # MAJORDOMUS_AWK is split, never a pattern
  IFS=' '
  LC_ALL=C
  MAJORDOMUS_NUL=
  MAJORDOMUS_CLOSED=
  MAJORDOMUS_FILTERS=
  export LC_ALL MAJORDOMUS_NUL MAJORDOMUS_CLOSED MAJORDOMUS_FILTERS
  majordomus_awk_words_=${MAJORDOMUS_AWK:-awk}
  majordomus_awk_home_=${majordomus_home:?names the folder that holds lib/ and awk/}/awk
  case $majordomus_awk_home_ in
  /*) ;;
  *) majordomus_awk_home_=$PWD/$majordomus_awk_home_ ;; # what follows changes the working directory
  esac
  # shellcheck disable=SC2086 # split at spaces: the first word is the program
  set -- $majordomus_awk_words_
  command -v "${1:-}" >/dev/null 2>&1 || majordomus_refuse_ 13 "cannot run '$majordomus_awk_words_': no such program"
}

# STATUS MESSAGE: says it and leaves.
majordomus_refuse_() {
  majordomus_complain_ "$2"
  exit "$1"
}

majordomus_complain_() {
  case $1 in
  # Something else than printable ASCII: awk shows its control characters. No [:print:] here: mksh before R56 has none.
  *[!\ -~]*) printf '%s\n' "majordomus: $1" | (majordomus_awk_ show) >&2 ;;
  *) printf '%s\n' "majordomus: $1" >&2 ;;
  esac
}

# Becomes awk with one of awk/main-NAME.awk and the libraries that it needs. Called in a subshell only: ksh93 and zsh run
# the last command of a pipeline in the shell itself, so that one is put into parentheses.
majordomus_awk_() {
  majordomus_libraries_=$majordomus_awk_home_
  case $1 in
  show) set -- -f "$majordomus_libraries_/bytes.awk" -f "$majordomus_libraries_/main-show.awk" ;;
  *)
    set -- -f "$majordomus_libraries_/tables.awk" -f "$majordomus_libraries_/bytes.awk" \
      -f "$majordomus_libraries_/yaml.awk" -f "$majordomus_libraries_/json.awk" \
      -f "$majordomus_libraries_/layout.awk" -f "$majordomus_libraries_/queue.awk" \
      -f "$majordomus_libraries_/candidates.awk" \
      -f "$majordomus_libraries_/main-$1.awk"
    ;;
  esac
  # shellcheck disable=SC2086 # split at spaces: `busybox awk`
  exec $majordomus_awk_words_ "$@"
}

# Leaves with what awk ended with: a status of the contract, or 13 where awk itself failed.
majordomus_end_() {
  case $1 in
  0 | 10 | 12 | 13) exit "$1" ;;
  # A signal; SIGPIPE, as a rule, whose reader has gone. ksh93 adds 256 to its number, others 128.
  129 | 1[3-9]? | 2??) exit 141 ;;
  *) majordomus_refuse_ 13 "'$majordomus_awk_words_' failed: exit status $1" ;;
  esac
}

# Whether a file holds NUL. `wc` may put spaces before its number.
majordomus_has_nul_() {
  case $(tr -dc '\000' <"$1" 2>/dev/null | wc -c) in
  *[1-9]*) return 0 ;;
  *) return 1 ;;
  esac
}

# REPO FORM: prints the queue and leaves.
majordomus_candidates_() {
  case $1 in
  /*) majordomus_root_=$1 ;;
  *) majordomus_root_=./$1 ;; # so that no CDPATH is looked at, and `-` is a folder
  esac
  if [ ! -e "$majordomus_root_/.ai/manifest.yaml" ]; then
    majordomus_refuse_ 12 "no layer in '$1': run 'majordomus init'"
  fi
  cd -P "$majordomus_root_" || exit 13
  majordomus_root_=${PWD%/}
  MAJORDOMUS_FORM=$2
  export MAJORDOMUS_FORM
  if [ ! -f .ai/manifest.yaml ] || [ -h .ai/manifest.yaml ]; then MAJORDOMUS_CLOSED=manifest; fi

  # The places that `init` makes are tried first, and awk says, 64, when the manifest puts them elsewhere. This saves
  # the usual call one process of three. Where a link is on the way, the manifest is asked before anything is followed.
  MAJORDOMUS_KNOWLEDGE=.ai/repo/knowledge
  MAJORDOMUS_SESSIONS=.ai/repo/sessions
  export MAJORDOMUS_KNOWLEDGE MAJORDOMUS_SESSIONS
  if ! majordomus_is_linked_ .ai/repo/knowledge/candidates .ai/repo/sessions .ai/local/state/sessions-open; then
    majordomus_list_
    [ "$majordomus_status_" -eq 64 ] || majordomus_end_ "$majordomus_status_"
  fi
  majordomus_ask_manifest_
  majordomus_list_
  majordomus_end_ "$majordomus_status_"
}

# PATH...: whether a part of one of these paths is a symbolic link.
majordomus_is_linked_() {
  for majordomus_rest_ in "$@"; do
    majordomus_part_=
    while [ -n "$majordomus_rest_" ]; do
      majordomus_part_=$majordomus_part_${majordomus_rest_%%/*}
      [ -h "$majordomus_part_" ] && return 0
      case $majordomus_rest_ in
      */*) majordomus_rest_=${majordomus_rest_#*/} ;;
      *) majordomus_rest_= ;;
      esac
      majordomus_part_=$majordomus_part_/
    done
  done
  return 1
}

# Takes the places from the manifest, and insists that no link leads from them outside the repository.
majordomus_ask_manifest_() {
  MAJORDOMUS_NUL=
  [ -n "$MAJORDOMUS_CLOSED" ] || ! majordomus_has_nul_ .ai/manifest.yaml || MAJORDOMUS_NUL=some
  majordomus_places_=$(majordomus_awk_ layout) || majordomus_end_ $?
  MAJORDOMUS_NUL=
  MAJORDOMUS_KNOWLEDGE=${majordomus_places_%%"$majordomus_line_feed_"*}
  majordomus_places_=${majordomus_places_#*"$majordomus_line_feed_"}
  MAJORDOMUS_SESSIONS=${majordomus_places_%%"$majordomus_line_feed_"*}
  majordomus_outside_=${majordomus_places_#*"$majordomus_line_feed_"}
  majordomus_insist_inside_ "$MAJORDOMUS_KNOWLEDGE" "sections.knowledge of '.ai/manifest.yaml'"
  majordomus_insist_inside_ "$MAJORDOMUS_SESSIONS" "sections.sessions of '.ai/manifest.yaml'"
  for majordomus_path_ in "$MAJORDOMUS_KNOWLEDGE/candidates" .ai/local/state .ai/local/state/sessions-open; do
    majordomus_insist_inside_ "$majordomus_path_" "'$majordomus_path_'"
  done
}
majordomus_line_feed_='
'

# PATH WHAT: refuses a folder that is not below the root once its links are followed.
majordomus_insist_inside_() {
  (
    cd -P "./$1" 2>/dev/null || exit 0
    case $PWD/ in
    "$majordomus_root_"/*) exit 0 ;;
    esac
    exit 1
  ) || majordomus_refuse_ 10 "cannot use $2: $majordomus_outside_"
}

# Lists the files and has awk print the queue: majordomus_status_ is awk's. An awk that cannot hold NUL says so, 65, and is
# then told which files hold one.
majordomus_list_() {
  set -- # the folders to list: how they are spelled tells awk which is which
  majordomus_is_open_ candidates "$MAJORDOMUS_KNOWLEDGE/candidates" && set -- "$MAJORDOMUS_KNOWLEDGE/candidates/."
  majordomus_is_open_ sessions "$MAJORDOMUS_SESSIONS" && set -- "$@" "./$MAJORDOMUS_SESSIONS/."
  majordomus_is_open_ open .ai/local/state/sessions-open && set -- "$@" ././.ai/local/state/sessions-open/.
  MAJORDOMUS_LEDGER=
  if [ -f .ai/local/state/ledger.jsonl ] && [ ! -h .ai/local/state/ledger.jsonl ]; then
    MAJORDOMUS_LEDGER=.ai/local/state/ledger.jsonl
    [ -r "$MAJORDOMUS_LEDGER" ] || MAJORDOMUS_CLOSED="$MAJORDOMUS_CLOSED ledger"
  fi
  export MAJORDOMUS_LEDGER
  majordomus_find_ "$@" | (majordomus_awk_ candidates)
  majordomus_status_=$?
  if [ "$majordomus_status_" -eq 65 ]; then
    MAJORDOMUS_NUL=listed
    majordomus_find_ "$@" | (majordomus_awk_ candidates)
    majordomus_status_=$?
  fi
}

# NAME PATH: whether a folder is there and can be listed; awk is told which cannot.
majordomus_is_open_() {
  if [ -d "$2" ]; then
    if [ -r "$2" ] && [ -x "$2" ]; then return 0; fi
  else
    majordomus_is_hidden_ "$2" || return 1
  fi
  MAJORDOMUS_CLOSED="$MAJORDOMUS_CLOSED $1"
  return 1
}

# PATH: whether what is there cannot be told, for a folder on the way to it may not be entered.
majordomus_is_hidden_() {
  majordomus_part_=$1
  while :; do
    case $majordomus_part_ in */*) majordomus_part_=${majordomus_part_%/*} ;; *) return 1 ;; esac
    if [ -d "$majordomus_part_" ]; then
      [ ! -x "$majordomus_part_" ]
      return
    fi
  done
}

# Prints the files of folders, given as PATH/., as awk/main-candidates.awk wants them. Nothing below them is entered: with
# `/.` behind its path a folder is called `.`, and all else is pruned. The manifest comes last and says that find came so
# far. Becomes find: called at the head of a pipeline only.
majordomus_find_() {
  set -- "$@" .ai/manifest.yaml ! -name . -prune ! -name '.*' ! -name README.md \( -name '*.md' -o -name '*.yaml' \)
  if [ -n "$MAJORDOMUS_NUL" ]; then
    # As a rule no file holds NUL. Where one does, the sizes of all tell which: a process for each would take long, and is
    # kept for a batch of which not every size is known, for a file may not be read.
    find "$@" -type f -exec sh -c '
      awk=$1 program=$2
      shift 2
      case $(cat "$@" 2>/dev/null | tr -dc "\000" | wc -c) in *[1-9]*) ;; *) exit ;; esac
      {
        printf "%s\n" "$@"
        echo //
        wc -c "$@"
        echo //
        cat "$@" | tr -c "\000" "[x*]" | tr "\000" "\n"
      } 2>/dev/null | $awk -f "$program" && exit
      for file do
        case $(tr -dc "\000" <"$file" 2>/dev/null | wc -c) in *[1-9]*) printf "nul %s\n" "$file" ;; esac
      done' sh "$majordomus_awk_words_" "$majordomus_awk_home_/main-nul.awk" {} +
  fi
  exec find "$@" \( -type f -print -o -type l -exec printf 'link %s\n' {} + \)
}

# FILE FRONT FORM: prints the leaves of a YAML file, or of its front matter where FRONT is not empty, and leaves.
majordomus_flatten_() {
  MAJORDOMUS_FILE=$1
  MAJORDOMUS_FRONT=$2
  MAJORDOMUS_FORM=$3
  export MAJORDOMUS_FILE MAJORDOMUS_FRONT MAJORDOMUS_FORM
  case $1 in
  /*) majordomus_path_=$1 ;;
  *) majordomus_path_=./$1 ;;
  esac
  if [ ! -e "$majordomus_path_" ]; then
    majordomus_refuse_ 12 "cannot read '$1': no such file"
  elif [ -d "$majordomus_path_" ]; then
    majordomus_refuse_ 13 "cannot read '$1': is a directory"
  elif [ ! -r "$majordomus_path_" ]; then
    majordomus_refuse_ 13 "cannot read '$1': permission denied"
  fi
  if [ ! -f "$majordomus_path_" ]; then
    # A pipe can be read only once, so an awk that cannot hold NUL gets a byte for it that is no UTF-8 either.
    (majordomus_awk_ flatten) </dev/null >/dev/null 2>&1
    if [ $? -eq 65 ]; then
      MAJORDOMUS_NUL=none
      { tr '\000' '\376' <"$majordomus_path_" && echo .; } | (majordomus_awk_ flatten)
      majordomus_end_ $?
    fi
  fi
  { cat <"$majordomus_path_" && echo .; } | (majordomus_awk_ flatten)
  majordomus_status_=$?
  if [ "$majordomus_status_" -eq 65 ]; then
    MAJORDOMUS_NUL=none
    majordomus_has_nul_ "$majordomus_path_" && MAJORDOMUS_NUL=some
    { cat <"$majordomus_path_" && echo .; } | (majordomus_awk_ flatten)
    majordomus_status_=$?
  fi
  majordomus_end_ "$majordomus_status_"
}
