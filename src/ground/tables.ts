// Written by build/tables.ts from share/tables.tsv: change it there.

export const unreadableWords = {
  "name": "its name is not UTF-8",
  "link": "symbolic link",
  "closed": "cannot be read",
  "nul": "NUL byte",
  "utf8": "invalid UTF-8",
  "no-front-matter": "no front matter",
  "endless": "front matter does not end",
  "no-id": "no id",
  "status": "status is none of candidate, verified, superseded",
} as const;

export const yamlWords = {
  "tab": "tab character",
  "control": "control character",
  "carriage-return": "carriage return that ends no line",
  "separator": "line or paragraph separator",
  "byte-order-mark": "byte order mark after the first byte",
  "noncharacter": "U+FFFE or U+FFFF",
  "conflict": "merge conflict marker",
  "second-document": "second document",
  "marker": "text after the document marker",
  "document-end": "document end",
  "directive": "directive",
  "anchor": "anchor",
  "alias": "alias",
  "tag": "tag",
  "block-scalar": "block scalar",
  "flow-mapping": "flow mapping",
  "nested-flow": "nested flow sequence",
  "open-flow": "flow sequence that does not close on its line",
  "empty-item": "empty item in a flow sequence",
  "multi-line": "scalar on more than one line",
  "complex-key": "complex key",
  "quoted-key": "quoted key",
  "blank-before-colon": "blank before the colon of a key",
  "no-key": "no key",
  "long-key": "key longer than 128 bytes",
  "repeated-key": "repeated key",
  "entry": "sequence entry where a key is expected",
  "no-entry": "key where a sequence entry is expected",
  "nested-entry": "sequence opened on another's line",
  "bare-entry": "sequence below a bare entry",
  "indentation": "indentation that fits no parent",
  "depth": "nesting deeper than 32",
  "open-quote": "quote that does not close",
  "after-quote": "text after a closing quote",
  "after-bracket": "text after a closing bracket",
  "escape": "escape that YAML does not have",
  "indicator": "plain scalar that begins with an indicator",
  "colon": "plain scalar with a colon before a blank or at its end",
} as const;

export const statusWords = {
  "candidate": "candidate",
  "verified": "verified",
  "superseded": "superseded",
} as const;

export const routeWords = {
  "platform": "platform",
  "enforcement": "enforcement",
  "generator": "generator",
  "documentation": "documentation",
  "project": "project",
} as const;

export const olderEventWords = {
  "task.checkpoint": "task.checkpoint",
  "task.gate": "task.gate",
  "task.refused": "task.refused",
} as const;

export const layoutWords = {
  "absolute": "an absolute path",
  "parent": "a '..' segment",
  "space": "a space",
  "control": "a control character",
  "empty": "no path",
  "outside": "leads outside the repository",
} as const;
