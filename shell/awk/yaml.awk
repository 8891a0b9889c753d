# The reader of the YAML subset (docs/contract.md, section 11), src/format/yaml-read.ts function by function: they move
# together. Columns count from 1 here, from 0 there. A function that can refuse returns "" or the name of the reason
# in TABLE["yaml", ...].
#
# A document is read by yaml_begin, then yaml_line for each line, or by yaml_document. Then yaml_value(path) gives a leaf.
# With YAML_KEEPS set, the leaves are also YAML_PATH, YAML_TEXT and YAML_LIST (it is an empty sequence), 1 to YAML_COUNT.

function yaml_load(   at, letter) {
	YAML_DEPTH_LIMIT = 32
	YAML_KEY_LIMIT = 128
	# The escapes of one letter; the one that gives NUL is none here.
	split("a 7 b 8 t 9 n 10 v 11 f 12 r 13 e 27 / 47 \" 34 N 133 _ 160 L 8232 P 8233", letter, " ")
	for (at = 1; at in letter; at += 2) YAML_ESCAPE[letter[at]] = bytes_of_character(letter[at + 1] + 0)
	YAML_ESCAPE[" "] = " "
	YAML_ESCAPE["\t"] = "\t"
	YAML_ESCAPE["\\"] = "\\"
	YAML_HEXADECIMAL["x"] = 2
	YAML_HEXADECIMAL["u"] = 4
	YAML_HEXADECIMAL["U"] = 8
	at = "& anchor * alias ! tag | block-scalar > block-scalar { flow-mapping [ nested-flow @ indicator ` indicator"
	at = at " % indicator , indicator ] indicator } indicator # indicator"
	split(at, letter, " ")
	for (at = 1; at in letter; at += 2) YAML_INDICATOR[letter[at]] = letter[at + 1]
}

# Begins a document. `opened`: a `---` has opened it already; `plain`: nothing but tab, line feed and printable ASCII is in it.
function yaml_begin(opened, plain) {
	YAML_DOCUMENT++
	YAML_PLAIN = plain
	YAML_BEGUN = opened
	YAML_HAS_ENTRIES = 0
	YAML_OPEN = ""
	YAML_COUNT = 0
	YAML_DEPTH = 1
	YAML_SEQUENCE[1] = 0
	YAML_COLUMN[1] = 1
	YAML_PREFIX[1] = ""
}

# Reads `lines[from]` to `lines[to]`, of which all but, perhaps, the last were ended by a line feed (`ended` says whether
# that one was). YAML_LINE is then the line that the reason is about.
function yaml_document(lines, from, to, ended,   at, line, reason) {
	for (at = from; at <= to; at++) {
		line = lines[at]
		if (!YAML_PLAIN && (at < to || ended) && line ~ /\r$/) line = substr(line, 1, length(line) - 1)
		reason = yaml_line(line)
		if (reason != "") {
			YAML_LINE = at
			return reason
		}
	}
	return ""
}

# A whole file that is YAML, as bytes_read leaves it: a byte order mark may lead it.
function yaml_file(   lines, count, text) {
	text = BYTES_TEXT
	if (!BYTES_PLAIN && substr(text, 1, 3) == "\357\273\277") text = substr(text, 4)
	count = split(text, lines, "\n")
	yaml_begin(0, BYTES_PLAIN)
	if (count && lines[count] == "") return yaml_document(lines, 1, count - 1, 1)
	return yaml_document(lines, 1, count, 0)
}

# A leaf that is a string; "" where there is none, or it is no string.
function yaml_value(path) {
	return YAML_SEEN[path] == YAML_DOCUMENT ? YAML_VALUE[path] : ""
}

function yaml_set(path, value, is_list) {
	YAML_SEEN[path] = YAML_DOCUMENT
	YAML_VALUE[path] = value
	if (YAML_KEEPS) {
		YAML_COUNT++
		YAML_PATH[YAML_COUNT] = path
		YAML_TEXT[YAML_COUNT] = value
		YAML_LIST[YAML_COUNT] = is_list
	}
}

function yaml_line(line,   column, first, next_mark) {
	# The commonest lines by a shortcut, with the same result as the rest: `key: plain` and `key: "quoted"` of the root.
	if (line ~ /^[A-Za-z_][A-Za-z0-9_-]*: [A-Za-z0-9_.\/]([ -"$-9;-~]*[!"$-9;-~])?$/) {
		return yaml_root_leaf(line, index(line, ":"), 2, length(line))
	}
	if (line ~ /^[A-Za-z_][A-Za-z0-9_-]*: "[ !#-~]*"$/ && !index(line, "\\")) {
		return yaml_root_leaf(line, index(line, ":"), 3, length(line) - 1)
	}
	if (!YAML_PLAIN && match(line, /[\001-\010\013-\037\177]|\302[\200-\237]|\342\200[\250\251]|\357\273\277|\357\277[\276\277]/)) {
		return yaml_character_reason(substr(line, RSTART, RLENGTH))
	}
	if (!match(line, /[^ ]/)) return ""
	column = RSTART
	first = substr(line, column, 1)
	if (first == "#") return ""
	if (first == "\t") return "tab"
	if (column == 1 && first !~ /[A-Za-z_]/) {
		next_mark = substr(line, 1, 3)
		if (next_mark == "---" && yaml_blank(line, 4)) return yaml_marker(line)
		if (next_mark == "..." && yaml_blank(line, 4)) return "document-end"
		if (first == "%") return "directive"
		if (line ~ /^(<<<<<<<|=======|>>>>>>>|\|\|\|\|\|\|\|)( |$)/) return "conflict"
	}
	YAML_BEGUN = 1
	return yaml_entry(line, column, first == "-" && yaml_blank(line, column + 1))
}

# A leaf of the root on one line whose key ends before `colon` and whose value is from `skip` behind it to `last`.
function yaml_root_leaf(line, colon, skip, last,   key) {
	YAML_OPEN = ""
	YAML_DEPTH = YAML_BEGUN = YAML_HAS_ENTRIES = 1
	if (colon > YAML_KEY_LIMIT + 1) return "long-key"
	key = substr(line, 1, colon - 1)
	if (YAML_SEEN[key] == YAML_DOCUMENT) return "repeated-key"
	yaml_set(key, substr(line, colon + skip, last - colon - skip + 1), 0)
	return ""
}

function yaml_marker(line) {
	if (YAML_BEGUN) return "second-document"
	if (match(substr(line, 4), /[^ ]/)) return substr(line, RSTART + 3, 1) == "\t" ? "tab" : "marker"
	YAML_BEGUN = 1
	return ""
}

# Finds or opens the block that a line belongs to, then reads it as an entry of that block.
function yaml_entry(line, column, is_entry,   open, reason) {
	open = YAML_OPEN
	YAML_OPEN = ""
	if (open == "key" && (is_entry ? column >= YAML_OPEN_COLUMN : column > YAML_OPEN_COLUMN)) {
		if (!is_entry && !yaml_looks_like_key(line, column)) return yaml_key_reason(line, column, "multi-line")
		if (!is_entry && column < YAML_OPEN_COLUMN + 2) return "indentation"
		reason = yaml_open_block(is_entry, column)
		return reason == "" ? yaml_content(line, column, is_entry) : reason
	}
	if (open == "dash" && column > YAML_OPEN_COLUMN) {
		if (is_entry) return "bare-entry"
		if (!yaml_looks_like_key(line, column)) return yaml_key_reason(line, column, "multi-line")
		if (column < YAML_OPEN_COLUMN + 2) return "indentation"
		reason = yaml_open_block(0, column)
		return reason == "" ? yaml_content(line, column, 0) : reason
	}
	if (column > YAML_COLUMN[YAML_DEPTH]) {
		if (is_entry || yaml_looks_like_key(line, column) || !YAML_HAS_ENTRIES) return "indentation"
		return yaml_key_reason(line, column, "multi-line")
	}
	# A sequence may stand at its parent's column: there a key ends it.
	while (YAML_COLUMN[YAML_DEPTH] > column || (YAML_COLUMN[YAML_DEPTH] == column && YAML_SEQUENCE[YAML_DEPTH] && !is_entry && yaml_parent_at(column))) YAML_DEPTH--
	if (YAML_COLUMN[YAML_DEPTH] != column) return "indentation"
	return yaml_content(line, column, is_entry)
}

# Whether a mapping at this column holds the innermost block.
function yaml_parent_at(column) {
	return YAML_DEPTH > 1 && !YAML_SEQUENCE[YAML_DEPTH - 1] && YAML_COLUMN[YAML_DEPTH - 1] == column
}

function yaml_open_block(is_sequence, column) {
	# The path is a leaf no more; it was the last one.
	YAML_VALUE[YAML_OPEN_PATH] = ""
	if (YAML_KEEPS) YAML_COUNT--
	return yaml_push(is_sequence, column, YAML_OPEN_PATH ".")
}

function yaml_push(is_sequence, column, prefix) {
	if (YAML_DEPTH >= YAML_DEPTH_LIMIT) return "depth"
	YAML_DEPTH++
	YAML_SEQUENCE[YAML_DEPTH] = is_sequence
	YAML_COLUMN[YAML_DEPTH] = column
	YAML_PREFIX[YAML_DEPTH] = prefix
	YAML_ENTRIES[YAML_DEPTH] = 0
	return ""
}

# Reads a line as an entry of the innermost block, which stands at its column.
function yaml_content(line, column, is_entry,   path, at, reason) {
	YAML_HAS_ENTRIES = 1
	if (!YAML_SEQUENCE[YAML_DEPTH]) return is_entry ? "entry" : yaml_keyed(line, column)
	if (!is_entry) return "no-entry"
	path = YAML_PREFIX[YAML_DEPTH] YAML_ENTRIES[YAML_DEPTH]++
	# The commonest entry by a shortcut: a plain word.
	if (line ~ /^ *- [A-Za-z0-9_.\/]([!"$-~]*[!"$-9;-~])?$/) {
		yaml_set(path, substr(line, column + 2), 0)
		return ""
	}
	at = yaml_skip_spaces(line, column + 1)
	if (substr(line, at, 1) == "-" && yaml_blank(line, at + 1)) return "nested-entry"
	if (yaml_looks_like_key(line, at)) {
		YAML_SEEN[path] = YAML_DOCUMENT
		YAML_VALUE[path] = ""
		reason = yaml_push(0, at, path ".")
		return reason == "" ? yaml_keyed(line, at) : reason
	}
	return yaml_leaf(path, line, at, "dash", column)
}

function yaml_keyed(line, column,   path) {
	if (!yaml_looks_like_key(line, column)) return yaml_key_reason(line, column, "no-key")
	if (YAML_KEY_LENGTH > YAML_KEY_LIMIT) return "long-key"
	path = YAML_PREFIX[YAML_DEPTH] substr(line, column, YAML_KEY_LENGTH)
	if (YAML_SEEN[path] == YAML_DOCUMENT) return "repeated-key"
	return yaml_leaf(path, line, yaml_skip_spaces(line, column + YAML_KEY_LENGTH + 1), "key", column)
}

# A key, its colon, and then the end or a blank (a tab is a blank here, and refused as one later).
function yaml_looks_like_key(line, column) {
	if (column > 1) line = substr(line, column)
	if (!match(line, /^[A-Za-z_][A-Za-z0-9_-]*:([ \t]|$)/)) return 0
	YAML_KEY_LENGTH = index(line, ":") - 1
	return 1
}

# Why a line that should be a key is none; `otherwise` where nothing in it says more.
function yaml_key_reason(line, column, otherwise,   first) {
	line = substr(line, column)
	first = substr(line, 1, 1)
	if (first == "\"" || first == "'") return otherwise == "no-key" ? "quoted-key" : otherwise
	if (first == "?" && yaml_blank(line, 2)) return "complex-key"
	if (first == "&" || first == "*" || first == "!" || first == "{") return YAML_INDICATOR[first]
	if (line ~ /^[A-Za-z_][A-Za-z0-9_-]*[ \t]+:([ \t]|$)/) return "blank-before-colon"
	return index(line, "\t") ? "tab" : otherwise
}

# The value of an entry: nothing (its block may follow), a flow sequence, or a scalar.
function yaml_leaf(path, line, at, open, column,   first, reason) {
	first = substr(line, at, 1)
	if (first == "" || first == "#") {
		yaml_set(path, "", 0)
		YAML_OPEN = open
		YAML_OPEN_PATH = path
		YAML_OPEN_COLUMN = column
		return ""
	}
	if (first == "[") return yaml_flow(path, line, at + 1)
	reason = yaml_scalar(line, at, first)
	if (reason == "") yaml_set(path, YAML_SCALAR, 0)
	return reason
}

function yaml_scalar(line, at, first,   comment, text, reason) {
	if (first == "\"" || first == "'") {
		reason = yaml_quoted(line, at, first)
		return reason == "" ? yaml_trailing(line, YAML_NEXT, "after-quote") : reason
	}
	text = substr(line, at)
	comment = index(text, " #")
	if (comment) text = substr(text, 1, comment - 1)
	text = yaml_trim(text)
	reason = yaml_plain_reason(text, 0)
	if (reason == "") YAML_SCALAR = text
	return reason
}

# Reads a flow sequence of scalars from behind its bracket.
function yaml_flow(path, line, from,   at, entries, mark, reason) {
	if (YAML_DEPTH >= YAML_DEPTH_LIMIT) return "depth"
	at = yaml_skip_spaces(line, from)
	if (substr(line, at, 1) == "]") {
		yaml_set(path, "", 1)
		return yaml_trailing(line, at + 1, "after-bracket")
	}
	YAML_SEEN[path] = YAML_DOCUMENT
	YAML_VALUE[path] = ""
	for (entries = 0; ; entries++) {
		reason = yaml_flow_item(line, at)
		if (reason != "") return reason
		yaml_set(path "." entries, YAML_SCALAR, 0)
		at = yaml_skip_spaces(line, YAML_NEXT)
		mark = substr(line, at, 1)
		if (mark == "]") return yaml_trailing(line, at + 1, "after-bracket")
		if (mark == "\t") return "tab"
		if (mark != ",") return mark == "" || mark == "#" ? "open-flow" : "after-quote"
		at = yaml_skip_spaces(line, at + 1)
	}
}

# Reads one item of a flow sequence: YAML_NEXT is where it ends.
function yaml_flow_item(line, at,   first, end, mark, text, reason) {
	first = substr(line, at, 1)
	if (first == "") return "open-flow"
	if (first == "\"" || first == "'") return yaml_quoted(line, at, first)
	if (first == "," || first == "]") return "empty-item"
	for (end = at; ; end++) {
		end = bytes_find(line, end, "flow")
		mark = substr(line, end, 1)
		if (mark == "" || mark == "," || mark == "]") break
		if (mark == "[") return "nested-flow"
		if (mark == "{" || mark == "}") return "flow-mapping"
		if (substr(line, end - 1, 1) == " ") return "open-flow"
	}
	text = yaml_trim(substr(line, at, end - at))
	reason = yaml_plain_reason(text, 1)
	if (reason != "") return reason
	YAML_SCALAR = text
	YAML_NEXT = end
	return ""
}

# Reads a quoted scalar from its quote: YAML_NEXT is where it ends.
function yaml_quoted(line, at, quote) {
	bytes_begin()
	return quote == "\"" ? yaml_double_quoted(line, at + 1) : yaml_single_quoted(line, at + 1)
}

function yaml_single_quoted(line, at,   end) {
	for (;;) {
		end = bytes_find(line, at, "single")
		if (substr(line, end, 1) == "") return "open-quote"
		bytes_add(substr(line, at, end - at))
		if (substr(line, end + 1, 1) != "'") break
		bytes_add("'")
		at = end + 2
	}
	YAML_SCALAR = bytes_built()
	YAML_NEXT = end + 1
	return ""
}

function yaml_double_quoted(line, at,   end, letter, digits, code) {
	for (;;) {
		end = bytes_find(line, at, "double")
		letter = substr(line, end, 1)
		if (letter == "") return "open-quote"
		bytes_add(substr(line, at, end - at))
		if (letter == "\"") break
		letter = substr(line, end + 1, 1)
		if (letter == "") return "open-quote"
		at = end + 2
		if (letter in YAML_HEXADECIMAL) {
			digits = YAML_HEXADECIMAL[letter]
			code = length(substr(line, at, digits)) < digits ? -1 : bytes_hexadecimal(substr(line, at, digits))
			# No NUL, no surrogate, nothing beyond U+10FFFF.
			if (code <= 0 || code > 1114111 || (code >= 55296 && code <= 57343)) return "escape"
			bytes_add(bytes_of_character(code))
			at += digits
		} else if (letter in YAML_ESCAPE) {
			bytes_add(YAML_ESCAPE[letter])
		} else {
			return "escape"
		}
	}
	YAML_SCALAR = bytes_built()
	YAML_NEXT = end + 1
	return ""
}

# Why a plain scalar is not in the subset; in a flow sequence more beginnings are refused.
function yaml_plain_reason(text, flow,   first) {
	first = substr(text, 1, 1)
	if (first in YAML_INDICATOR) return YAML_INDICATOR[first]
	if (first == "-" || first == "?" || first == ":") {
		if (!flow && first == "-" && substr(text, 2, 1) == " ") return "nested-entry"
		if (flow || yaml_blank(text, 2)) return "indicator"
	}
	if (index(text, "\t")) return "tab"
	return text ~ /:( |$)/ ? "colon" : ""
}

function yaml_character_reason(found) {
	if (found == "\r") return "carriage-return"
	if (found == "\357\273\277") return "byte-order-mark"
	if (substr(found, 1, 1) == "\357") return "noncharacter"
	return substr(found, 1, 1) == "\342" ? "separator" : "control"
}

# What may stand behind a closing quote or bracket: blanks, and after one a comment.
function yaml_trailing(line, from, otherwise,   at, mark) {
	at = yaml_skip_spaces(line, from)
	mark = substr(line, at, 1)
	if (mark == "") return ""
	if (mark == "\t") return "tab"
	return at > from && mark == "#" ? "" : otherwise
}

# The first column from `at` on that holds no space.
function yaml_skip_spaces(line, at) {
	while (substr(line, at, 1) == " ") at++
	return at
}

function yaml_trim(text,   end) {
	end = length(text)
	while (substr(text, end, 1) == " ") end--
	return end == length(text) ? text : substr(text, 1, end)
}

# Whether a line ends, or has a blank, at a column.
function yaml_blank(line, at,   mark) {
	mark = substr(line, at, 1)
	return mark == " " || mark == "" || mark == "\t"
}
