# Bytes: reading files whole, UTF-8, what text and JSON show, order. Everything runs under LC_ALL=C, so that a
# character is a byte. Mirrors src/ground/bytes.ts and readShared of src/host/folder.ts.

# Sets up. Call it first.
function bytes_load(   code) {
	BYTES_NUL = sprintf("%c", 0)
	# mawk and gawk keep NUL in a string. busybox awk and original-awk end the string there: what holds one must
	# be told to them (bytes_holds_nul).
	BYTES_KEEPS_NUL = length(BYTES_NUL) == 1 && index("a" BYTES_NUL "b", BYTES_NUL) == 2
	for (code = 1; code < 256; code++) BYTES_CODE[sprintf("%c", code)] = code
}

# Says that a file holds NUL, to an awk that cannot see it.
function bytes_holds_nul(path) {
	BYTES_WITH_NUL[BYTES_ROOT path] = 1
}

# Reads a file: its bytes are in BYTES_TEXT, and BYTES_PLAIN says that nothing but tab, line feed and printable ASCII is
# among them. Returns "", or why it cannot be used: "closed", "nul", "utf8".
#
# One getline takes it all: \001, which hardly any file holds, ends the record. Where it is the file's last byte this cannot
# be seen, and behind a last line feed it does no harm to front matter. `exact`: not there either.
#
# Paths are below BYTES_ROOT, which ends in a slash; it is empty for the working directory.
function bytes_read(path, exact,   status, rest, separator) {
	path = BYTES_ROOT path
	separator = RS
	RS = "\001"
	BYTES_TEXT = ""
	status = (getline BYTES_TEXT < path)
	if (status < 0) {
		RS = separator
		return "closed"
	}
	if (status > 0 && (exact || BYTES_TEXT !~ /\n$/ || (getline rest < path) > 0)) {
		close(path)
		bytes_read_by_lines(path)
	} else {
		close(path)
	}
	RS = separator
	if (BYTES_KEEPS_NUL ? index(BYTES_TEXT, BYTES_NUL) : (path in BYTES_WITH_NUL)) return "nul"
	BYTES_PLAIN = BYTES_TEXT !~ /[^\t\n -~]/
	return BYTES_PLAIN || bytes_is_utf8(BYTES_TEXT) ? "" : "utf8"
}

# The same where \001 may be in the file: by its lines, after a look at how it ends.
function bytes_read_by_lines(path,   line, last, records, marks) {
	while ((getline line < path) > 0) {
		last = line
		records++
	}
	close(path)
	RS = "\n"
	bytes_begin()
	while ((getline line < path) > 0) {
		marks += gsub(/\001/, "&", line)
		bytes_add(line "\n")
	}
	close(path)
	BYTES_TEXT = bytes_built()
	# As many records as marks: the file ends with a mark. Else it ends as its last record does.
	if (records == marks || last !~ /\n$/) BYTES_TEXT = substr(BYTES_TEXT, 1, length(BYTES_TEXT) - 1)
}

# Whether a text is well-formed UTF-8. NUL is not looked for.
function bytes_is_utf8(text) {
	if (text !~ /[\200-\377]/) return 1
	# No character class with a NUL in it, nor an interval: busybox awk and mawk have none.
	if (text ~ /[\300\301\365-\377]|\340[\200-\237]|\355[\240-\277]|\360[\200-\217]|\364[\220-\277]/) return 0
	if (text ~ /[\302-\337]([^\200-\277]|$)|[\340-\357][\200-\277]?([^\200-\277]|$)/) return 0
	if (text ~ /[\360-\364][\200-\277]?[\200-\277]?([^\200-\277]|$)/) return 0
	if (text ~ /(^|[^\200-\377])[\200-\277]|[\302-\337][\200-\277][\200-\277]/) return 0
	return text !~ /[\340-\357][\200-\277][\200-\277][\200-\277]|[\360-\364][\200-\277][\200-\277][\200-\277][\200-\277]/
}

# The bytes of a character, by its number. U+0000 becomes \300\200: no awk but mawk and gawk can hold it, and nothing
# well-formed looks so.
function bytes_of_character(code) {
	if (code == 0) return "\300\200"
	if (code < 128) return sprintf("%c", code)
	if (code < 2048) return sprintf("%c%c", 192 + int(code / 64), 128 + code % 64)
	if (code < 65536) return sprintf("%c%c%c", 224 + int(code / 4096), 128 + int(code / 64) % 64, 128 + code % 64)
	return sprintf("%c%c%c%c", 240 + int(code / 262144), 128 + int(code / 4096) % 64, 128 + int(code / 64) % 64, 128 + code % 64)
}

# The number that hexadecimal digits mean, or -1 where one of them is none.
function bytes_hexadecimal(digits,   at, digit, number) {
	for (at = 1; at <= length(digits); at++) {
		digit = index("0123456789abcdef", tolower(substr(digits, at, 1)))
		if (digit == 0) return -1
		number = number * 16 + digit - 1
	}
	return number + 0
}

# A string that grows piece by piece: appending to a long one copies it every time in mawk, original-awk and
# busybox awk, so that pieces are joined to middling ones first.
function bytes_begin() {
	BYTES_SHORT = BYTES_MIDDLE = BYTES_LONG = ""
}

function bytes_add(piece) {
	BYTES_SHORT = BYTES_SHORT piece
	if (length(BYTES_SHORT) < 256) return
	BYTES_MIDDLE = BYTES_MIDDLE BYTES_SHORT
	BYTES_SHORT = ""
	if (length(BYTES_MIDDLE) < 65536) return
	BYTES_LONG = BYTES_LONG BYTES_MIDDLE
	BYTES_MIDDLE = ""
}

function bytes_built() {
	return BYTES_LONG BYTES_MIDDLE BYTES_SHORT
}

# Where, from `at` on, the first mark stands that ends a piece of a scalar (behind the line where none does). It looks at
# windows that grow: a copy of all the rest at every mark would be quadratic on a long line.
function bytes_find(line, at, marks,   size, window, found) {
	for (size = 256; ; size += size) {
		window = substr(line, at, size)
		if (marks == "single") found = index(window, "'")
		else found = match(window, marks == "double" ? "[\"\\\\]" : "[,#{}[]|]")
		if (found) return at + found - 1
		at += length(window)
		if (length(window) < size) return at
	}
}

# Each control character (C0, DEL, C1) of a text as \xNN, one per byte (docs/contract.md, section 2).
function bytes_show(text) {
	if (text !~ /[^ -~]/ || text !~ /[\001-\037\177]|\302[\200-\237]|\300\200/) return text
	bytes_begin()
	bytes_replace(text, "show")
	return bytes_built()
}

# Each byte of a name that belongs to no well-formed UTF-8 sequence as \xNN; the rest as it is.
function bytes_show_ill_formed(name) {
	if (bytes_is_utf8(name)) return name
	bytes_begin()
	while (match(name, /[\200-\377]/)) {
		bytes_add(substr(name, 1, RSTART - 1))
		name = substr(name, RSTART)
		if (match(name, /^([\302-\337][\200-\277]|\340[\240-\277][\200-\277]|[\341-\354\356\357][\200-\277][\200-\277]|\355[\200-\237][\200-\277]|\360[\220-\277][\200-\277][\200-\277]|[\361-\363][\200-\277][\200-\277][\200-\277]|\364[\200-\217][\200-\277][\200-\277])/)) {
			bytes_add(substr(name, 1, RLENGTH))
			name = substr(name, RLENGTH + 1)
		} else {
			bytes_add(sprintf("\\x%02x", BYTES_CODE[substr(name, 1, 1)]))
			name = substr(name, 2)
		}
	}
	bytes_add(name)
	return bytes_built()
}

# A text as a JSON string, escaped as JSON.stringify does.
function bytes_json(text) {
	if (text !~ /[^ -~]/ && text !~ /["\\]/) return "\"" text "\""
	bytes_begin()
	bytes_replace(text, "json")
	return "\"" bytes_built() "\""
}

# A value as `yaml flatten` prints it: a backslash, C0, DEL and C1 escaped as in JSON.
function bytes_escape(text) {
	if (text !~ /[^ -~]/ && text !~ /\\/) return text
	bytes_begin()
	bytes_replace(text, "escape")
	return bytes_built()
}

# Adds a text with the bytes replaced that `form` replaces. It is taken in windows: cutting the rest of a long string off
# at every replacement would copy it every time.
function bytes_replace(text, form,   at, size, window, end) {
	size = length(text)
	for (at = 1; at <= size; at += 1024) {
		window = substr(text, at, 1024)
		# A sequence of two bytes is not cut in the middle.
		if (at + 1024 <= size && window ~ /[\300\302]$/) {
			window = window substr(text, at + 1024, 1)
			at++
		}
		while (match(window, /[\001-\037"\\\177]|\302[\200-\237]|\300\200/)) {
			end = RSTART + RLENGTH
			bytes_add(substr(window, 1, RSTART - 1) bytes_replacement(substr(window, RSTART, RLENGTH), form))
			window = substr(window, end)
		}
		bytes_add(window)
	}
}

function bytes_replacement(found, form,   code, letter) {
	code = BYTES_CODE[substr(found, 1, 1)]
	if (found == "\300\200") return form == "show" ? "\\x00" : "\\u0000"
	if (form == "show") {
		if (found == "\"" || found == "\\") return found
		if (length(found) == 1) return sprintf("\\x%02x", code)
		return sprintf("\\x%02x\\x%02x", code, BYTES_CODE[substr(found, 2)])
	}
	if (found == "\\") return "\\\\"
	if (found == "\"") return form == "json" ? "\\\"" : found
	if (length(found) == 2) return form == "json" ? found : sprintf("\\u00%02x", BYTES_CODE[substr(found, 2)])
	if (code == 127) return form == "json" ? found : "\\u007f"
	letter = code < 8 || code > 13 || code == 11 ? "" : substr("btn fr", code - 7, 1)
	return letter == "" ? sprintf("\\u%04x", code) : "\\" letter
}

# Puts the numbers 1 to `count` into order[1] to order[count].
function bytes_number(order, count,   at) {
	for (at = 1; at <= count; at++) order[at] = at
}

# Sorts the numbers in order[1] to order[count] by the byte order of what `key` holds of each; equal ones stay as they
# stand. These must be strings to awk (`x ""`): it compares what looks like numbers as numbers. A merge sort that begins with the runs that it
# finds, and goes round rather than deep: mawk's stack holds no deep recursion.
function bytes_sort(order, key, count,   other, start, at, runs, left, right, end, last, merged, into, one, two, one_key, two_key) {
	if (count == 0) return
	runs = start[1] = 1
	one_key = key[order[1]]
	for (at = 2; at <= count; at++) {
		two_key = key[order[at]]
		if (two_key < one_key) start[++runs] = at
		one_key = two_key
	}
	while (runs > 1) {
		start[runs + 1] = count + 1
		merged = 0
		into = 1
		for (at = 1; at <= runs; at += 2) {
			left = start[at]
			start[++merged] = left
			end = right = start[at + 1]
			if (at < runs) {
				last = start[at + 2]
				one_key = key[one = order[left]]
				two_key = key[two = order[right]]
				for (;;) {
					if (two_key < one_key) {
						other[into++] = two
						if (++right == last) break
						two_key = key[two = order[right]]
					} else {
						other[into++] = one
						if (++left == end) break
						one_key = key[one = order[left]]
					}
				}
				while (right < last) other[into++] = order[right++]
			}
			while (left < end) other[into++] = order[left++]
		}
		runs = merged
		for (at = 1; at <= count; at++) order[at] = other[at]
	}
}
