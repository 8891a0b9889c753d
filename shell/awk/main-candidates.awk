# `knowledge candidates` of the repository at the working directory. Standard input is what find prints of three
# directories, told apart by how their paths begin:
#
#   .ai/PLACE/./NAME      a regular file of the candidates
#   ./.ai/PLACE/./NAME    a session record
#   ././.ai/PLACE/./NAME  the file of an open episode
#   link PATH             a symbolic link, PATH one of these
#   nul PATH              a file that holds NUL, for an awk that cannot see that
#   .ai/manifest.yaml     find came as far as this, its last path; links may follow
#
# A line without a slash goes on with the name before it: a name may hold a line feed, but no slash.
#
# From the environment: MAJORDOMUS_FORM (text, json or rows), MAJORDOMUS_KNOWLEDGE and MAJORDOMUS_SESSIONS (the places that were listed),
# MAJORDOMUS_LEDGER (its path, empty where there is none), MAJORDOMUS_CLOSED (which of manifest, candidates,
# sessions, open and ledger may not be read), MAJORDOMUS_NUL (not empty: the nul lines are there),
# MAJORDOMUS_FILTERS and with it MAJORDOMUS_ABOUT, _ROUTE, _EPISODE and _MIN_EPISODES (queue.awk).
#
# Exit status beside the contract's: 64, the manifest puts the sections elsewhere; 65, this awk needs the nul lines.
{
	if ($0 == ".ai/manifest.yaml") LISTED_ALL = 1
	else if (index($0, "/")) LISTED[++LISTED_COUNT] = $0
	else LISTED[LISTED_COUNT] = LISTED[LISTED_COUNT] "\n" $0
}

END {
	bytes_load()
	if (!BYTES_KEEPS_NUL && ENVIRON["MAJORDOMUS_NUL"] == "") exit 65
	tables_load()
	yaml_load()
	json_load()
	queue_filters()
	layout_end(candidates_print())
}
