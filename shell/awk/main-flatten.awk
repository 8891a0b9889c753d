# `yaml flatten`. Standard input is the file and then a full stop and a line feed: so its last byte, whatever it is, does
# not end a record unseen.
#
# From the environment: MAJORDOMUS_FILE (how messages name the file), MAJORDOMUS_FRONT (not empty: its front matter),
# MAJORDOMUS_FORM (text or json), MAJORDOMUS_NUL (for an awk that cannot see NUL: "some" or "none" is in the file).
#
# Exit status beside the contract's: 65, this awk needs MAJORDOMUS_NUL.
BEGIN {
	bytes_load()
	# A byte that stands nowhere in UTF-8. Not \377: original-awk takes characters as signed, and that one for the end of
	# the file.
	RS = "\376"
}

{
	if (NR == 1) BYTES_TEXT = $0
	else stray = 1
	if (BYTES_KEEPS_NUL && index($0, BYTES_NUL)) nul = 1
}

END {
	if (!BYTES_KEEPS_NUL && ENVIRON["MAJORDOMUS_NUL"] == "") exit 65
	tables_load()
	yaml_load()
	if (nul || ENVIRON["MAJORDOMUS_NUL"] == "some") refuse(TABLE["unreadable", "nul"])
	BYTES_TEXT = substr(BYTES_TEXT, 1, length(BYTES_TEXT) - 2)
	BYTES_PLAIN = !stray && BYTES_TEXT !~ /[^\t\n -~]/
	if (stray || !bytes_is_utf8(BYTES_TEXT)) refuse(TABLE["unreadable", "utf8"])
	YAML_KEEPS = 1
	if (ENVIRON["MAJORDOMUS_FRONT"] == "") {
		reason = yaml_file()
	} else {
		reason = queue_front_matter()
		if (reason != "") refuse(TABLE["unreadable", reason])
		reason = queue_yaml()
	}
	if (reason != "") refuse("line " YAML_LINE ": " TABLE["yaml", reason])
	if (ENVIRON["MAJORDOMUS_FORM"] == "json") {
		printf "{"
		for (at = 1; at <= YAML_COUNT; at++) {
			printf "%s", (at > 1 ? "," : "") "\"" YAML_PATH[at] "\":" (YAML_LIST[at] ? "[]" : bytes_json(YAML_TEXT[at]))
		}
		print "}"
	} else {
		for (at = 1; at <= YAML_COUNT; at++) print YAML_PATH[at] "=" (YAML_LIST[at] ? "[]" : bytes_escape(YAML_TEXT[at]))
	}
}

function refuse(reason) {
	layout_end(layout_refuse(10, ENVIRON["MAJORDOMUS_FILE"] ": " reason))
}
