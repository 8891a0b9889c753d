# `knowledge candidates` of many repositories in one process, for the fuzzer. Standard input is, for each, a line of \002,
# the folder with its slash, the form, and the paths of the ledger, the knowledge and the sessions, a tab between; then what
# find would print of it. The answer on both streams is ended by \002, on standard output with the exit status behind it.
# many_reset(), which forgets a repository, is written by the fuzzer from the globals of the libraries.
BEGIN {
	bytes_load()
	tables_load()
	yaml_load()
	json_load()
}

substr($0, 1, 1) == "\002" {
	many_print()
	split(substr($0, 2), many_field, "\t")
	BYTES_ROOT = many_field[1]
	ENVIRON["MAJORDOMUS_FORM"] = many_field[2]
	ENVIRON["MAJORDOMUS_LEDGER"] = many_field[3]
	ENVIRON["MAJORDOMUS_KNOWLEDGE"] = many_field[4]
	ENVIRON["MAJORDOMUS_SESSIONS"] = many_field[5]
	next
}

{
	if ($0 == ".ai/manifest.yaml") LISTED_ALL = 1
	else if (index($0, "/")) LISTED[++LISTED_COUNT] = $0
	else LISTED[LISTED_COUNT] = LISTED[LISTED_COUNT] "\n" $0
}

END {
	many_print()
}

function many_print(   status) {
	if (BYTES_ROOT == "") return
	status = candidates_print()
	printf "\002%d\n", status
	printf "\002" | "cat 1>&2"
	many_reset()
}
