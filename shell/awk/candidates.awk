# The listing of one repository (docs/contract.md, section 8), from what main-candidates.awk has of find: LISTED[1] to
# [LISTED_COUNT], and LISTED_ALL where find came to its end. What it takes from the environment, that says too.

# Prints it. Returns the exit status; 64 where the manifest puts the sections elsewhere than they were looked for.
function candidates_print(   at, refusal, folder, name_at, listed, kind, session, sessions, open, opens) {
	for (at = 1; at <= LISTED_COUNT && !BYTES_KEEPS_NUL; at++) {
		if (substr(LISTED[at], 1, 4) == "nul ") bytes_holds_nul(substr(LISTED[at], 5))
	}
	refusal = layout_read()
	if (refusal != "") return layout_refuse(10, refusal)
	if (LAYOUT["knowledge"] "" != ENVIRON["MAJORDOMUS_KNOWLEDGE"] "" || LAYOUT["sessions"] "" != ENVIRON["MAJORDOMUS_SESSIONS"] "") return 64
	folder = LAYOUT["knowledge"] "/candidates/"
	if (candidates_closed("candidates")) return candidates_refuse(LAYOUT["knowledge"] "/candidates")
	if (!LISTED_ALL) return layout_refuse(13, "cannot read '" LAYOUT["knowledge"] "/candidates': find failed")
	name_at = length(folder) + 3
	for (at = 1; at <= LISTED_COUNT; at++) {
		listed = LISTED[at]
		kind = substr(listed, 1, 4)
		if (kind == ".ai/") {
			if (substr(listed, length(listed) - 2) == ".md") candidates_take(listed, folder substr(listed, name_at), substr(listed, name_at), 0)
		} else if (kind == "link") {
			if (substr(listed, 6, 4) == ".ai/" && listed ~ /\.md$/) candidates_take(listed, folder substr(listed, name_at + 5), substr(listed, name_at + 5), 1)
		} else if (kind == "./.a") {
			if (listed ~ /\.md$/) session[++sessions] = listed ""
		} else if (kind == "././") {
			if (listed ~ /\.yaml$/) open[++opens] = listed ""
		}
	}
	if (QUEUE_UNKNOWN && candidates_closed("sessions")) return candidates_refuse(LAYOUT["sessions"])
	queue_learn_from(session, sessions + 0, 1)
	if (QUEUE_UNKNOWN && candidates_closed("open")) return candidates_refuse(".ai/local/state/sessions-open")
	queue_learn_from(open, opens + 0, 0)
	if (QUEUE_UNKNOWN && candidates_closed("ledger")) return candidates_refuse(".ai/local/state/ledger.jsonl")
	queue_learn_from_ledger(ENVIRON["MAJORDOMUS_LEDGER"])
	queue_arrange()
	if (ENVIRON["MAJORDOMUS_FORM"] == "json") queue_print_json()
	else if (ENVIRON["MAJORDOMUS_FORM"] == "rows") queue_print_rows()
	else queue_print_text()
	if (QUEUE_BAD) return layout_refuse(10, "cannot read every candidate: " QUEUE_BAD " unreadable")
	return 0
}

# Takes in one file of the candidates folder.
function candidates_take(file, path, name, is_link) {
	if (!bytes_is_utf8(name)) queue_unreadable(path, TABLE["unreadable", "name"])
	else if (is_link) queue_unreadable(path, TABLE["unreadable", "link"])
	else queue_read(file, path)
}

# Whether a place may not be read; it matters only where it is needed.
function candidates_closed(what) {
	return index(" " ENVIRON["MAJORDOMUS_CLOSED"] " ", " " what " ")
}

function candidates_refuse(path) {
	return layout_refuse(13, "cannot read '" path "': permission denied")
}
