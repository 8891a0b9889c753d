# Shows the control characters of a message; a line feed in it is one.
BEGIN {
	bytes_load()
}

{
	printf "%s%s", (NR > 1 ? "\\x0a" : ""), bytes_show($0)
}

END {
	print ""
}
