"""Takes out of the authors' gqf.c what the calls of the benchmark need, makes it static, and corrects what loses members.

    excerpt.py cqf|published_cqf|aqf|published_aqf FOLDER OUT

FOLDER holds the peers as README.md says. Locks, printing, resizing and saving stay behind, so that the compiler can put the rest
into the measuring loop. Of functions that are there several times, for slots of different widths, the first is the one for 8
bits and the last, which the published ones are made of, the one for any width.
"""

import pathlib
import re
import sys

CQF = "splatlab-cqf/src/gqf.c"
AQF = "splatlab-adaptiveqf/src/gqf.c"
ERASE = "remove_replace_slots_and_shift_remainders_and_runends_and_offsets"

MACROS = "MAX_VALUE BITMASK NUM_SLOTS_TO_LOCK METADATA_WORD GET_NO_LOCK GET_KEY_HASH".split()
BITS = "popcnt popcntv bitrank bitselect bitselectv is_runend is_occupied get_slot set_slot block_offset run_end".split()
SHIFTS = "offset_lower_bound find_first_empty_slot shift_into_b shift_remainders shift_runends".split()
CQF_MACROS = MACROS + ["DISTANCE_FROM_HOME_SLOT_CUTOFF"]
CQF_FUNCTIONS = ["get_block"] + BITS + SHIFTS + ["is_empty", "encode_counter", "decode_counter", "insert1", ERASE, "_remove",
                                                 "qf_init", "qf_insert", "qf_remove", "qf_count_key_value"]
AQF_MACROS = MACROS + ["METADATA_INC_MODE"]
AQF_FUNCTIONS = BITS + SHIFTS + ["is_extension", "is_counter", "is_runend_or_counter", "is_extension_or_counter", "bp",
                                 "might_be_empty", "get_slot_info", "insert_one_slot", "insert_using_ll_table",
                                 "qf_insert_using_ll_table", "qf_query_using_ll_table", ERASE, "_remove", "qf_init", "qf_remove"]
PEERS = {
    "cqf": (CQF, CQF_MACROS, CQF_FUNCTIONS),
    "published_cqf": (CQF, CQF_MACROS + ["GET_WAIT_FOR_LOCK", "REMAINDER_WORD"],
                      CQF_FUNCTIONS + ["_select64", "qf_spin_lock", "qf_spin_unlock", "modify_metadata"]),
    "aqf": (AQF, AQF_MACROS, AQF_FUNCTIONS),
    "published_aqf": (AQF, AQF_MACROS + ["REMAINDER_WORD"], AQF_FUNCTIONS + ["_select64"]),
}


def macro(text, name):
    found = re.search(rf"^#define {name}\b(?:.*\\\n)*.*\n", text, re.MULTILINE)
    if not found:
        sys.exit(f"excerpt.py: no macro {name}")
    return found.group()


def functions(text, name):
    """Signature and body of each of that name. A body ends with the first brace at the beginning of a line."""
    for start in re.finditer(rf"^[A-Za-z_][^\n;={{}}]*\b{name}\s*\(", text, re.MULTILINE):
        opening, ended = text.find("{", start.start()), text.find(";", start.start())
        if 0 <= opening and (ended < 0 or opening < ended):  # not a declaration
            end = text.index("\n}", opening) + 3
            signature = re.sub(r"//[^\n]*", "", text[start.start():opening]).rstrip()
            static = "" if re.search(r"\bstatic\b", signature) else "static "
            yield static + signature, text[opening:end]


def function(text, name, which=0):
    found = list(functions(text, name))
    if not found:
        sys.exit(f"excerpt.py: no function {name}")
    return found[which]


def select_table(text):
    found = re.search(r"^const uint8_t kSelectInByte.*?^};\n", text, re.MULTILINE | re.DOTALL)
    if not found:
        sys.exit("excerpt.py: no table kSelectInByte")
    return "static " + found.group()


def part(body, first, last):
    """Where a part of a body lies: from one line up to another."""
    begin = body.index(first)
    return begin, body.index(last, begin)


def corrected(peer, folder, name, body):
    # Erasing gives wrong offsets where runs cross several blocks; AdaptiveQF, by the same authors, has a loop that does not.
    if peer.endswith("cqf") and name == ERASE:
        lines = "\tuint64_t original_block", "\tint num_slots_freed"
        donor = function((folder / AQF).read_text(), ERASE)[1]
        begin, end = part(body, *lines)
        return body[:begin] + donor[slice(*part(donor, *lines))] + body[end:]
    # The item behind an extension was skipped.
    if peer.endswith("aqf") and name == "_remove":
        wrong = "(qf, ++current_index)) current_index++;"
        assert body.count(wrong) == 1
        return body.replace(wrong, "(qf, ++current_index));")
    return body


def main(peer, folder, out):
    source, macros, names = PEERS[peer]
    folder = pathlib.Path(folder)
    text = (folder / source).read_text()
    taken = [(name, *function(text, name, -1 if peer.startswith("published_") else 0)) for name in names]
    made = [macro(text, name) for name in macros]
    made += [select_table(text)] if "_select64" in names else []
    made += [f"{signature};\n" for _, signature, _ in taken]
    made += [f"{signature}\n{corrected(peer, folder, name, body)}" for name, signature, body in taken]
    pathlib.Path(out).write_text("\n".join(made))


if __name__ == "__main__":
    main(*sys.argv[1:])
