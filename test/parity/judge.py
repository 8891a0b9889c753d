# What PyYAML, a YAML 1.1 processor, reads: a JSON list of documents on standard input gives a JSON list of leaves, as
# lists of path and value (null for an empty sequence), or of the error in words. Every scalar is a string.
import json
import sys

import yaml

Loader = getattr(yaml, "CBaseLoader", yaml.BaseLoader) if "--fast" in sys.argv else yaml.BaseLoader


def leaves(path, value, found):
    if isinstance(value, dict):
        for key, below in value.items():
            leaves(path + "." + key if path else key, below, found)
    elif isinstance(value, list) and value:
        for index, below in enumerate(value):
            leaves("%s.%d" % (path, index), below, found)
    else:
        found.append([path, None if isinstance(value, list) else value])
    return found


def judged(text):
    try:
        value = yaml.load(text, Loader)
    except yaml.YAMLError as error:
        return str(getattr(error, "problem", error))
    return [] if value in (None, "") else leaves("", value, [])


json.dump([judged(text) for text in json.load(sys.stdin)], sys.stdout)
