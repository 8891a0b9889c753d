# Prints where the manifest puts the sections that the reader needs, one a line, then what to say of a place that leads outside; or
# refuses. An awk that cannot hold NUL
# is told by MAJORDOMUS_NUL that the manifest holds one.
BEGIN {
	tables_load()
	bytes_load()
	yaml_load()
	if (ENVIRON["MAJORDOMUS_NUL"] != "") bytes_holds_nul(".ai/manifest.yaml")
	refusal = layout_read()
	if (refusal != "") layout_end(layout_refuse(10, refusal))
	print LAYOUT["knowledge"]
	print LAYOUT["sessions"]
	print TABLE["layout", "outside"]
}
