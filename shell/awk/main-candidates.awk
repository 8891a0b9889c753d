# `knowledge candidates`. Standard input is what find prints of three directories, told apart by how their paths begin:
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
	if ($0 == ".ai/manifest.yaml") listed_all = 1
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
	for (at = 1; at <= LISTED_COUNT && !BYTES_KEEPS_NUL; at++) {
		if (substr(LISTED[at], 1, 4) == "nul ") bytes_holds_nul(substr(LISTED[at], 5))
	}
	refusal = layout_read()
	if (refusal != "") layout_refuse(10, refusal)
	if (LAYOUT["knowledge"] "" != ENVIRON["MAJORDOMUS_KNOWLEDGE"] "" || LAYOUT["sessions"] "" != ENVIRON["MAJORDOMUS_SESSIONS"] "") exit 64
	folder = LAYOUT["knowledge"] "/candidates/"
	insist_open("candidates", LAYOUT["knowledge"] "/candidates")
	if (!listed_all) layout_refuse(13, "cannot read '" LAYOUT["knowledge"] "/candidates': find failed")
	name_at = length(folder) + 3
	for (at = 1; at <= LISTED_COUNT; at++) {
		listed = LISTED[at]
		kind = substr(listed, 1, 4)
		if (kind == ".ai/") {
			if (substr(listed, length(listed) - 2) == ".md") candidate(listed, substr(listed, name_at), 0)
		} else if (kind == "link") {
			if (substr(listed, 6, 4) == ".ai/" && listed ~ /\.md$/) candidate(listed, substr(listed, name_at + 5), 1)
		} else if (kind == "./.a") {
			if (listed ~ /\.md$/) session[++sessions] = listed ""
		} else if (kind == "././") {
			if (listed ~ /\.yaml$/) open[++opens] = listed ""
		}
	}
	if (QUEUE_UNKNOWN) insist_open("sessions", LAYOUT["sessions"])
	queue_learn_from(session, sessions + 0, 1)
	if (QUEUE_UNKNOWN) insist_open("open", ".ai/local/state/sessions-open")
	queue_learn_from(open, opens + 0, 0)
	if (QUEUE_UNKNOWN) insist_open("ledger", ".ai/local/state/ledger.jsonl")
	queue_learn_from_ledger(ENVIRON["MAJORDOMUS_LEDGER"])
	queue_arrange()
	if (ENVIRON["MAJORDOMUS_FORM"] == "json") queue_print_json()
	else if (ENVIRON["MAJORDOMUS_FORM"] == "rows") queue_print_rows()
	else queue_print_text()
	if (QUEUE_BAD) layout_refuse(10, "cannot read every candidate: " QUEUE_BAD " unreadable")
}

# Takes in one file of the candidates.
function candidate(file, name, is_link) {
	if (!bytes_is_utf8(name)) queue_unreadable(folder name, TABLE["unreadable", "name"])
	else if (is_link) queue_unreadable(folder name, TABLE["unreadable", "link"])
	else queue_read(file, folder name)
}

# Refuses where what is needed now may not be read.
function insist_open(what, path) {
	if (index(" " ENVIRON["MAJORDOMUS_CLOSED"] " ", " " what " ")) layout_refuse(13, "cannot read '" path "': permission denied")
}
