# Which files hold NUL, for an awk that cannot see it. Standard input, its parts ended by lines `//`: the paths, a line
# without a slash going on with the name before it; what `wc -c` prints of them, of which only the sizes count, for some
# print a name as it is and others quoted; then the files one behind the other, each NUL a line feed and every other byte
# something else. Prints lines `nul PATH`. Exit status 1, and nothing printed, where a size is missing.
$0 == "//" && part < 2 {
	part++
	next
}

part == 2 {
	if (sizes != paths) exit 1
	at += length($0)
	while (at >= end && file <= paths) end += size[++file]
	if (file <= paths && file != told) printf "nul %s\n", path[told = file]
	at++
	next
}

index($0, "/") {
	if (part) size[++sizes] = $1 + 0
	else path[++paths] = $0
	next
}

!part {
	path[paths] = path[paths] "\n" $0
}
