# A reader of one JSON object on one line, as strict as JSON.parse (docs/contract.md, section 3). It keeps the members
# of the object itself whose values are strings. Mirrors entryOf of src/ledger/events.ts.

function json_load(   at, letter) {
	split("\" 34 / 47 b 8 f 12 n 10 r 13 t 9", letter, " ")
	for (at = 1; at in letter; at += 2) JSON_ESCAPE[letter[at]] = sprintf("%c", letter[at + 1] + 0)
	JSON_ESCAPE["\\"] = "\\"
}

# Reads a line, without its line feed. Returns whether it is whole: an object, well-formed UTF-8, no lone surrogate in a
# string. Then json_value(key) gives its strings; of a repeated key the last counts.
function json_object(line,   parts, at, size, mark, depth, open, wanted, key, is_key) {
	JSON_LINE++
	# The commonest line by a shortcut: strings alone, of printable ASCII without an escape.
	if (line ~ /^\{"[a-z_]+":"[^"\\]*"(,"[a-z_]+":"[^"\\]*")*\}$/ && line !~ /[^ -~]/) {
		size = split(line, parts, "\"")
		for (at = 2; at < size; at += 4) json_set(parts[at], parts[at + 2] "")
		return 1
	}
	if (BYTES_KEEPS_NUL && index(line, BYTES_NUL)) return 0
	if (line !~ /^[ \t\r]*\{/ || !bytes_is_utf8(line)) return 0
	# `wanted` is what may come next: a "value", a "value or end" of an array, a "key", a "key or end" of an object, a
	# "colon", or what is "after" a value. The open brackets stand in an array: mawk's stack holds no deep recursion.
	wanted = "value"
	size = length(line)
	for (at = 1; at <= size; at = JSON_NEXT) {
		mark = substr(line, at, 1)
		JSON_NEXT = at + 1
		if (mark == " " || mark == "\t" || mark == "\r") continue
		if (wanted == "after") {
			if (depth == 0) return 0
			if (mark == ",") wanted = open[depth] == "{" ? "key" : "value"
			else if (mark != (open[depth] == "{" ? "}" : "]")) return 0
			else depth--
		} else if (wanted == "colon") {
			if (mark != ":") return 0
			wanted = "value"
		} else if ((mark == "}" && wanted == "key or end") || (mark == "]" && wanted == "value or end")) {
			depth--
			wanted = "after"
		} else if (mark == "\"") {
			is_key = wanted ~ /^key/
			if (!json_string(line, at + 1)) return 0
			if (is_key) key = JSON_STRING
			else if (depth == 1 && open[1] == "{") json_set(key, JSON_STRING)
			wanted = is_key ? "colon" : "after"
		} else if (wanted ~ /^key/) {
			return 0
		} else if (mark == "{" || mark == "[") {
			if (depth == 1) json_set(key, "")
			open[++depth] = mark
			wanted = mark == "{" ? "key or end" : "value or end"
		} else {
			if (!json_word(line, at)) return 0
			if (depth == 1) json_set(key, "")
			wanted = "after"
		}
	}
	return wanted == "after" && depth == 0
}

# A member that is a string; "" where there is none, or it is no string.
function json_value(key) {
	return JSON_SEEN[key] == JSON_LINE ? JSON_VALUE[key] : ""
}

function json_set(key, value) {
	JSON_SEEN[key] = JSON_LINE
	JSON_VALUE[key] = value
}

# Reads a number, true, false or null: JSON_NEXT is behind it.
function json_word(line, at,   text) {
	text = substr(line, at, 64)
	if (text !~ /[, \t\r}]|]/) text = substr(line, at)
	if (!match(text, /^(-?(0|[1-9][0-9]*)(\.[0-9]+)?([eE][+-]?[0-9]+)?|true|false|null)/)) return 0
	JSON_NEXT = at + RLENGTH
	return 1
}

# Reads a string from behind its quote into JSON_STRING: JSON_NEXT is behind its closing quote.
function json_string(line, at,   end, piece, letter, code, low) {
	bytes_begin()
	for (;;) {
		end = bytes_find(line, at, "double")
		letter = substr(line, end, 1)
		if (letter == "") return 0
		piece = substr(line, at, end - at)
		if (piece ~ /[\001-\037]/) return 0
		bytes_add(piece)
		if (letter == "\"") break
		letter = substr(line, end + 1, 1)
		at = end + 2
		if (letter == "u") {
			code = json_unit(line, at)
			at += 4
			# A high surrogate and a low one are one character; any other surrogate is lone.
			if (code >= 55296 && code <= 56319 && substr(line, at, 2) == "\\u") {
				low = json_unit(line, at + 2)
				if (low >= 56320 && low <= 57343) {
					code = 65536 + (code - 55296) * 1024 + low - 56320
					at += 6
				}
			}
			if (code < 0 || (code >= 55296 && code <= 57343)) return 0
			bytes_add(bytes_of_character(code))
		} else if (letter in JSON_ESCAPE) {
			bytes_add(JSON_ESCAPE[letter])
		} else {
			return 0
		}
	}
	JSON_STRING = bytes_built()
	JSON_NEXT = end + 1
	return 1
}

# The number of a \u escape from its digits on, or -1.
function json_unit(line, at) {
	line = substr(line, at, 4)
	return length(line) == 4 ? bytes_hexadecimal(line) : -1
}
