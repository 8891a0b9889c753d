# What the manifest says about the places of a layer (docs/contract.md, section 1): src/host/layout.ts.

# Says one line on standard error and returns the status, for layout_end. Through cat: not every awk has /dev/stderr of its
# own, and the system's cannot always be opened.
function layout_refuse(status, message) {
	print "majordomus: " bytes_show(message) | "cat 1>&2"
	return status
}

# Ends, once what was said is out.
function layout_end(status) {
	close("cat 1>&2")
	exit status
}

# Reads the manifest. Returns "", or the refusal. Then layout_section gives the places.
function layout_read(   reason) {
	# The shell knows whether it is a regular file; mawk ends where it is asked to read a directory.
	reason = index(" " ENVIRON["MAJORDOMUS_CLOSED"] " ", " manifest ") ? "closed" : bytes_read(".ai/manifest.yaml", 1)
	if (reason != "") return "cannot read '.ai/manifest.yaml': " TABLE["unreadable", reason]
	reason = yaml_file()
	if (reason != "") return "cannot read '.ai/manifest.yaml': line " YAML_LINE ": " TABLE["yaml", reason]
	LAYOUT["knowledge"] = "repo/knowledge"
	LAYOUT["sessions"] = "repo/sessions"
	LAYOUT["rules"] = "repo/rules"
	LAYOUT["adrs"] = "repo/adrs"
	reason = layout_section("knowledge")
	if (reason == "") reason = layout_section("sessions")
	if (reason == "") reason = layout_section("rules")
	if (reason == "") reason = layout_section("adrs")
	return reason
}

# Takes one section's path into LAYOUT[section], as a path below the root. Returns "", or the refusal.
function layout_section(section,   path, parts, count, at, detail) {
	path = yaml_value("sections." section)
	if (path == "") path = LAYOUT[section]
	detail = substr(path, 1, 1) == "/" ? TABLE["layout", "absolute"] : ""
	# original-awk splits at a line feed, too; what holds one is refused as holding a control character.
	if (index(path, "\n")) gsub(/\n/, "\001", path)
	count = split(path, parts, "/")
	LAYOUT[section] = ".ai"
	for (at = 1; at <= count; at++) {
		if (parts[at] == ".." && detail == "") detail = TABLE["layout", "parent"]
		if (parts[at] != "" && parts[at] != ".") LAYOUT[section] = LAYOUT[section] "/" parts[at]
	}
	if (detail == "" && index(path, " ")) detail = TABLE["layout", "space"]
	if (detail == "" && bytes_show(path) != path) detail = TABLE["layout", "control"]
	if (detail == "" && LAYOUT[section] == ".ai") detail = TABLE["layout", "empty"]
	return detail == "" ? "" : "cannot use sections." section " of '.ai/manifest.yaml': " detail
}
