# The review queue (docs/contract.md, section 8): src/knowledge/candidates.ts, queue.ts and listing.ts.
#
# Records are numbered 1 to QUEUE_RECORDS as they are read: QUEUE_ID[n], QUEUE_STATUS[n] and so on, each a string, "" where
# absent. What is only printed is together in QUEUE_REST[n], \377 between: that byte is in no value, and big arrays are what
# takes time. Unreadable files are QUEUE_BAD_PATH[n] and QUEUE_BAD_REASON[n]. Branches are QUEUE_BRANCH[episode].

# Notes a file that cannot be a record. `path` as it is printed, but for its bytes.
function queue_unreadable(path, reason) {
	QUEUE_BAD++
	QUEUE_BAD_PATH[QUEUE_BAD] = path ""
	QUEUE_BAD_REASON[QUEUE_BAD] = reason
}

# Reads one file: notes a record, an unreadable file, or nothing for one that says `kind: context`.
function queue_read(file, path,   reason, status, episode, record) {
	reason = bytes_read(file, 0)
	if (reason == "") reason = queue_front_matter()
	if (reason != "") {
		queue_unreadable(path, TABLE["unreadable", reason])
		return
	}
	reason = queue_yaml()
	if (reason != "") {
		queue_unreadable(path, "line " YAML_LINE ": " TABLE["yaml", reason])
		return
	}
	if (yaml_value("kind") == "context") return
	status = yaml_value("status")
	if (yaml_value("id") == "") {
		queue_unreadable(path, TABLE["unreadable", "no-id"])
	} else if (!(("status", status) in TABLE)) {
		queue_unreadable(path, TABLE["unreadable", "status"])
	} else if (QUEUE_FILTERS == "" || queue_is_kept()) {
		record = ++QUEUE_RECORDS
		QUEUE_ID[record] = yaml_value("id") ""
		QUEUE_STATUS[record] = status
		QUEUE_ABOUT[record] = yaml_value("about") ""
		QUEUE_EPISODE[record] = episode = queue_episode()
		QUEUE_REST[record] = path "\377" yaml_value("class") "\377" yaml_value("epistemics") "\377" yaml_value("date") "\377" yaml_value("title") "\377" yaml_value("route")
		# original-awk ends a piece at a line feed, too, when it splits at a byte: so here is none.
		if (index(QUEUE_REST[record], "\n")) gsub(/\n/, "\376", QUEUE_REST[record])
		if (status == "candidate" && episode != "" && !(episode in QUEUE_BRANCH)) {
			QUEUE_BRANCH[episode] = ""
			QUEUE_UNKNOWN++
		}
	}
}

# Takes the filters from the environment: MAJORDOMUS_FILTERS names those that are given, a space before and behind each.
function queue_filters() {
	QUEUE_FILTERS = ENVIRON["MAJORDOMUS_FILTERS"]
	if (index(QUEUE_FILTERS, " min-episodes ")) QUEUE_LEAST = ENVIRON["MAJORDOMUS_MIN_EPISODES"] + 0
}

# Whether the record just read passes the filters that look at one record: src/knowledge/filters.ts.
function queue_is_kept() {
	if (index(QUEUE_FILTERS, " about ") && yaml_value("about") "" != ENVIRON["MAJORDOMUS_ABOUT"] "") return 0
	if (index(QUEUE_FILTERS, " route ") && yaml_value("route") "" != ENVIRON["MAJORDOMUS_ROUTE"] "") return 0
	return !index(QUEUE_FILTERS, " episode ") || queue_episode() "" == ENVIRON["MAJORDOMUS_EPISODE"] ""
}

# Finds the front matter of what bytes_read has left: QUEUE_LINES[1] to [QUEUE_LAST], the file's lines from its second on.
# Returns "", or why there is none.
function queue_front_matter(   start, end, matter, count, at) {
	start = BYTES_PLAIN || substr(BYTES_TEXT, 1, 3) != "\357\273\277" ? 1 : 4
	if (substr(BYTES_TEXT, start, 4) == "---\n") {
		# The usual fences, with nothing behind the dashes.
		matter = substr(BYTES_TEXT, start + 3)
		end = index(matter, "\n---\n")
		if (end && !index(substr(matter, 1, end - 1), "\n---")) {
			# An empty string, which gives no line, was no line or a blank one.
			QUEUE_LAST = split(substr(matter, 2, end - 2), QUEUE_LINES, "\n")
			return ""
		}
	}
	count = split(substr(BYTES_TEXT, start), QUEUE_LINES, "\n")
	if (count == 0 || !queue_is_fence(QUEUE_LINES[1])) return "no-front-matter"
	for (at = 2; at <= count; at++) {
		if (queue_is_fence(QUEUE_LINES[at])) {
			QUEUE_LAST = at - 2
			for (at = 1; at <= QUEUE_LAST; at++) QUEUE_LINES[at] = QUEUE_LINES[at + 1]
			return ""
		}
	}
	return "endless"
}

function queue_is_fence(line) {
	return substr(line, 1, 3) == "---" && line ~ /^---[ \t]*\r?$/
}

# Reads the front matter found. Returns "" or the reason, YAML_LINE being its line in the file.
function queue_yaml(   reason) {
	yaml_begin(1, BYTES_PLAIN)
	reason = yaml_document(QUEUE_LINES, 1, QUEUE_LAST, 1)
	YAML_LINE++
	return reason
}

# The first `session:` that a record is derived from.
function queue_episode(   at, path, value) {
	for (at = 0; ; at++) {
		path = "provenance.derived_from." at
		if (YAML_SEEN[path] != YAML_DOCUMENT) return ""
		value = YAML_VALUE[path]
		if (substr(value, 1, 8) == "session:") return substr(value, 9)
	}
}

# Gives an episode a branch, unless it has one or nobody needs it.
function queue_learn(episode, branch) {
	if (branch == "" || !(episode in QUEUE_BRANCH) || QUEUE_BRANCH[episode] != "") return
	QUEUE_BRANCH[episode] = branch
	QUEUE_UNKNOWN--
}

# Learns from files, paths[1] to paths[count], in byte order: session records by their front matter, or whole YAML files.
function queue_learn_from(paths, count, has_front_matter,   order, at, reason) {
	if (!QUEUE_UNKNOWN) return
	bytes_number(order, count)
	bytes_sort(order, paths, count)
	for (at = 1; at <= count && QUEUE_UNKNOWN; at++) {
		reason = bytes_read(paths[order[at]], !has_front_matter)
		if (reason == "" && has_front_matter) reason = queue_front_matter()
		if (reason == "") reason = has_front_matter ? queue_yaml() : yaml_file()
		if (reason == "") queue_learn(yaml_value("session_id"), yaml_value("branch"))
	}
}

# Learns from the ledger's whole `session.started` lines.
function queue_learn_from_ledger(path,   source, line, from_command, separator) {
	if (!QUEUE_UNKNOWN || path == "") return
	separator = RS
	RS = "\n"
	source = BYTES_ROOT path
	if (!BYTES_KEEPS_NUL) {
		# \001 is as wrong in JSON as NUL, and these awks can see it.
		source = "tr '\\000' '\\001' <'" source "'"
		from_command = 1
	}
	while (QUEUE_UNKNOWN && (from_command ? (source | getline line) : (getline line < source)) > 0) {
		# Only these can be what we look for: the second spells a letter of it by an escape.
		if (!index(line, "session.started") && !index(line, "\\u00")) continue
		# At most 65,536 bytes with the line feed.
		if (length(line) >= 65536 || !json_object(line) || json_value("event") != "session.started") continue
		if (json_value("ts") !~ /^[0-9][0-9][0-9][0-9]-[0-9][0-9]-[0-9][0-9]T[0-9][0-9]:[0-9][0-9]:[0-9][0-9]Z$/) continue
		queue_learn(json_value("session"), json_value("branch"))
	}
	close(source)
	RS = separator
}

# Puts records and unreadable files in order, and records into groups.
function queue_arrange(   at, record, about, group) {
	queue_order()
	bytes_number(QUEUE_BAD_ORDER, QUEUE_BAD)
	bytes_sort(QUEUE_BAD_ORDER, QUEUE_BAD_PATH, QUEUE_BAD)
	for (at = 1; at <= QUEUE_RECORDS; at++) {
		record = QUEUE_ORDER[at]
		if (QUEUE_STATUS[record] == "candidate") QUEUE_AWAITING++
		about = QUEUE_ABOUT[record]
		if (about == "" || QUEUE_STATUS[record] == "verified") continue
		if (about in QUEUE_GROUP) {
			group = QUEUE_GROUP[about]
			QUEUE_NEXT[QUEUE_GROUP_LAST[group]] = record
		} else {
			group = QUEUE_GROUP[about] = ++QUEUE_GROUPS
			QUEUE_GROUP_ABOUT[group] = about
			QUEUE_GROUP_FIRST[group] = record
		}
		QUEUE_GROUP_LAST[group] = record
		if (QUEUE_STATUS[record] == "candidate") QUEUE_GROUP_AWAITING[group]++
		else QUEUE_GROUP_REJECTED[group]++
	}
	bytes_number(QUEUE_GROUP_ORDER, QUEUE_GROUPS)
	bytes_sort(QUEUE_GROUP_ORDER, QUEUE_GROUP_ABOUT, QUEUE_GROUPS)
	if (QUEUE_LEAST) queue_keep_recurring()
}

# Keeps the groups of at least QUEUE_LEAST episodes, and hides every record that is in none of them.
function queue_keep_recurring(   at, group, kept, record, about) {
	for (at = 1; at <= QUEUE_GROUPS; at++) {
		group = QUEUE_GROUP_ORDER[at]
		if (queue_count_episodes(group) < QUEUE_LEAST) delete QUEUE_GROUP[QUEUE_GROUP_ABOUT[group]]
		else QUEUE_GROUP_ORDER[++kept] = group
	}
	QUEUE_GROUPS = kept + 0
	QUEUE_AWAITING = 0
	for (record = 1; record <= QUEUE_RECORDS; record++) {
		about = QUEUE_ABOUT[record]
		if (!(about in QUEUE_GROUP)) QUEUE_HIDDEN[record] = 1
		else if (QUEUE_STATUS[record] == "candidate") QUEUE_AWAITING++
	}
}

# The number of episodes behind a group.
function queue_count_episodes(group,   record, episode, count) {
	for (record = QUEUE_GROUP_FIRST[group]; record; record = record in QUEUE_NEXT ? QUEUE_NEXT[record] : 0) {
		episode = QUEUE_EPISODE[record]
		if (episode == "" || QUEUE_COUNTED[episode] == group) continue
		QUEUE_COUNTED[episode] = group
		count++
	}
	return count + 0
}

# Puts records in the order of their ids, then of their paths. Two of one id are rare: only then are paths looked at.
function queue_order(   at, path) {
	bytes_number(QUEUE_ORDER, QUEUE_RECORDS)
	bytes_sort(QUEUE_ORDER, QUEUE_ID, QUEUE_RECORDS)
	for (at = 2; at <= QUEUE_RECORDS && QUEUE_ID[QUEUE_ORDER[at]] != QUEUE_ID[QUEUE_ORDER[at - 1]]; at++) continue
	if (at > QUEUE_RECORDS) return
	for (at = 1; at <= QUEUE_RECORDS; at++) {
		queue_take(at)
		path[at] = QUEUE_FIELD[1] ""
	}
	bytes_number(QUEUE_ORDER, QUEUE_RECORDS)
	bytes_sort(QUEUE_ORDER, path, QUEUE_RECORDS)
	bytes_sort(QUEUE_ORDER, QUEUE_ID, QUEUE_RECORDS)
}

# The episodes behind a group, by first appearance: QUEUE_EPISODES[1] to what it returns.
function queue_episodes(group,   record, episode, count) {
	for (record = QUEUE_GROUP_FIRST[group]; record; record = record in QUEUE_NEXT ? QUEUE_NEXT[record] : 0) {
		episode = QUEUE_EPISODE[record]
		if (episode == "" || QUEUE_SEEN[episode] == group) continue
		QUEUE_SEEN[episode] = group
		QUEUE_EPISODES[++count] = episode
	}
	return count + 0
}

# A value as text shows it; a missing one is `-`.
function queue_shown(value) {
	return value == "" ? "-" : bytes_show(value)
}

# Takes what else a record holds into QUEUE_FIELD: path, class, epistemics, date, title, route.
function queue_take(record,   at) {
	split(QUEUE_REST[record], QUEUE_FIELD, "\377")
	if (!index(QUEUE_REST[record], "\376")) return
	for (at = 1; at <= 6; at++) gsub(/\376/, "\n", QUEUE_FIELD[at])
}

function queue_route(record) {
	queue_take(record)
	return QUEUE_FIELD[6]
}

function queue_branch(record) {
	return QUEUE_EPISODE[record] in QUEUE_BRANCH ? QUEUE_BRANCH[QUEUE_EPISODE[record]] : ""
}

# Prints the text of `knowledge candidates`.
function queue_print_text(   at, record, group, count, position) {
	for (at = 1; at <= QUEUE_RECORDS; at++) {
		record = QUEUE_ORDER[at]
		if (QUEUE_STATUS[record] != "candidate" || record in QUEUE_HIDDEN) continue
		queue_take(record)
		printf "%-46s %-10s %-10s %-24s ", queue_shown(QUEUE_ID[record]), queue_shown(QUEUE_FIELD[2]), queue_shown(QUEUE_FIELD[4]), queue_shown(queue_branch(record))
		print queue_shown(QUEUE_FIELD[5])
	}
	print "knowledge candidates: " (QUEUE_AWAITING + 0) " awaiting review"
	for (at = 1; at <= QUEUE_GROUPS; at++) {
		group = QUEUE_GROUP_ORDER[at]
		record = QUEUE_GROUP_LAST[group]
		count = queue_episodes(group)
		print "about " bytes_show(QUEUE_GROUP_ABOUT[group]) "  route " queue_shown(queue_route(record)) "  awaiting " (QUEUE_GROUP_AWAITING[group] + 0) "  rejected " (QUEUE_GROUP_REJECTED[group] + 0) "  episodes " count
		for (record = QUEUE_GROUP_FIRST[group]; record; record = record in QUEUE_NEXT ? QUEUE_NEXT[record] : 0) {
			print (QUEUE_STATUS[record] == "candidate" ? "  awaiting  " : "  rejected  ") bytes_show(QUEUE_ID[record])
		}
		printf "  episodes "
		if (count == 0) printf " -"
		for (position = 1; position <= count; position++) printf " %s", bytes_show(QUEUE_EPISODES[position])
		print ""
	}
	for (at = 1; at <= QUEUE_BAD; at++) {
		print "unreadable " bytes_show(bytes_show_ill_formed(QUEUE_BAD_PATH[QUEUE_BAD_ORDER[at]])) ": " QUEUE_BAD_REASON[QUEUE_BAD_ORDER[at]]
	}
}

# Prints the one line of `knowledge candidates --json`, piece by piece: a long string would be slow to build.
function queue_print_json(   at, record, group, count, position, comma) {
	printf "{\"schema\":1,\"candidates\":["
	for (at = 1; at <= QUEUE_RECORDS; at++) {
		record = QUEUE_ORDER[at]
		if (QUEUE_STATUS[record] != "candidate" || record in QUEUE_HIDDEN) continue
		queue_take(record)
		printf "%s", comma "{\"id\":" bytes_json(QUEUE_ID[record]) ",\"class\":" bytes_json(QUEUE_FIELD[2]) ",\"status\":\"candidate\""
		printf "%s", ",\"epistemics\":" bytes_json(QUEUE_FIELD[3]) ",\"date\":" bytes_json(QUEUE_FIELD[4])
		printf "%s", ",\"episode\":" bytes_json(QUEUE_EPISODE[record])
		printf "%s", ",\"branch\":" (queue_branch(record) == "" ? "null" : bytes_json(queue_branch(record)))
		printf "%s", ",\"path\":" bytes_json(QUEUE_FIELD[1]) ",\"title\":" bytes_json(QUEUE_FIELD[5])
		if (QUEUE_ABOUT[record] != "") printf "%s", ",\"about\":" bytes_json(QUEUE_ABOUT[record])
		if (QUEUE_FIELD[6] != "") printf "%s", ",\"route\":" bytes_json(QUEUE_FIELD[6])
		printf "}"
		comma = ","
	}
	printf "],\"groups\":["
	for (at = 1; at <= QUEUE_GROUPS; at++) {
		group = QUEUE_GROUP_ORDER[at]
		printf "%s", (at > 1 ? "," : "") "{\"about\":" bytes_json(QUEUE_GROUP_ABOUT[group]) ",\"route\":" bytes_json(queue_route(QUEUE_GROUP_LAST[group]))
		queue_print_json_ids(group, "candidates", "candidate")
		queue_print_json_ids(group, "rejected", "superseded")
		printf ",\"episodes\":["
		count = queue_episodes(group)
		for (position = 1; position <= count; position++) printf "%s", (position > 1 ? "," : "") bytes_json(QUEUE_EPISODES[position])
		printf "]}"
	}
	printf "],\"unreadable\":["
	for (at = 1; at <= QUEUE_BAD; at++) {
		printf "%s", (at > 1 ? "," : "") "{\"path\":" bytes_json(bytes_show_ill_formed(QUEUE_BAD_PATH[QUEUE_BAD_ORDER[at]]))
		printf "%s", ",\"reason\":" bytes_json(QUEUE_BAD_REASON[QUEUE_BAD_ORDER[at]]) "}"
	}
	print "]}"
}

function queue_print_json_ids(group, name, status,   record, comma) {
	printf "%s", ",\"" name "\":["
	for (record = QUEUE_GROUP_FIRST[group]; record; record = record in QUEUE_NEXT ? QUEUE_NEXT[record] : 0) {
		if (QUEUE_STATUS[record] != status) continue
		printf "%s", comma bytes_json(QUEUE_ID[record])
		comma = ","
	}
	printf "]"
}

# Prints every record as one row, then every unreadable file: what shell/lib/majordomus.sh says.
function queue_print_rows(   at, record) {
	for (at = 1; at <= QUEUE_RECORDS; at++) {
		record = QUEUE_ORDER[at]
		queue_take(record)
		print "record" queue_cell(QUEUE_ID[record]) queue_cell(QUEUE_FIELD[2]) queue_cell(QUEUE_STATUS[record]) queue_cell(QUEUE_FIELD[3]) queue_cell(QUEUE_FIELD[4]) queue_cell(QUEUE_EPISODE[record]) queue_cell(queue_branch(record)) queue_cell(QUEUE_FIELD[1]) queue_cell(QUEUE_FIELD[5]) queue_cell(QUEUE_ABOUT[record]) queue_cell(QUEUE_FIELD[6])
	}
	for (at = 1; at <= QUEUE_BAD; at++) {
		print "unreadable" queue_cell(QUEUE_BAD_PATH[QUEUE_BAD_ORDER[at]]) queue_cell(QUEUE_BAD_REASON[QUEUE_BAD_ORDER[at]])
	}
}

# A missing value is `-`: `read` would take two tabs for one.
function queue_cell(value) {
	return "\t" (value == "" ? "-" : bytes_escape(value))
}
