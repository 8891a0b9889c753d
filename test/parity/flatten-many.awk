# `yaml flatten` of many documents in one process, for the fuzzer: each is ended by \002, and so is each answer, which is
# what the command prints, or `!` and the reason. It is used with the libraries of shell/awk.
BEGIN {
	RS = "\002"
	bytes_load()
	tables_load()
	yaml_load()
	YAML_KEEPS = 1
}

{
	BYTES_TEXT = $0
	BYTES_PLAIN = BYTES_TEXT !~ /[^\t\n -~]/
	if (!BYTES_PLAIN && !bytes_is_utf8(BYTES_TEXT)) {
		printf "!%s\002", TABLE["unreadable", "utf8"]
		next
	}
	reason = ENVIRON["MAJORDOMUS_FRONT"] == "" ? yaml_file() : queue_front_matter()
	if (ENVIRON["MAJORDOMUS_FRONT"] != "") {
		if (reason != "") {
			printf "!%s\002", TABLE["unreadable", reason]
			next
		}
		reason = queue_yaml()
	}
	if (reason != "") {
		printf "!line %d: %s\002", YAML_LINE, TABLE["yaml", reason]
		next
	}
	for (at = 1; at <= YAML_COUNT; at++) print YAML_PATH[at] "=" (YAML_LIST[at] ? "[]" : bytes_escape(YAML_TEXT[at]))
	printf "\002"
}
