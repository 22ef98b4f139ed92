#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""faults.py LIB OUT SCENARIOS RESULTS SKIP -- COMPILER COMMAND...

Plants faults in merging, one after the other, and demands that the comparison with Go's results sees each. A fault is a
text of one file below LIB that is replaced; it stands there once, or this fails. COMPILER COMMAND builds merge-diff from
the faulty file, which takes the place of the word FAULTY, and everything else; its output is OUT. SKIP names the scenarios that Go itself does
not always answer the same.
"""
import pathlib
import subprocess
import sys

FAULTS = [
    ("a field without keys never conflicts", "owners.c",
     "    if (from != NULL)\n        verdict = claim(merge, field, from, holder->cleared,",
     "    if (from != NULL && owners == NULL)\n        verdict = claim(merge, field, from, holder->cleared,"),
    ("a key conflicts with nobody's", "owners.c",
     "    if (verdict < 0)\n        return conflict(merge, error, from, field, key);",
     "    if (verdict < 0)\n        verdict = NRI_CLAIM_NEW;"),
    ("the names in a conflict are swapped", "owners.c", "merge->plugin,\n                         other,",
     "other,\n                         merge->plugin,"),
    ("a plugin may not set what it cleared itself", "owners.c",
     "    if (cleared && strcmp(owner, merge->plugin) == 0)", "    if (cleared && owner == NULL)"),
    ("whoever comes may set what another cleared", "owners.c",
     "    if (cleared && strcmp(owner, merge->plugin) == 0)", "    if (cleared)"),
    ("a cleared key has no owner for validators", "owners_list.c",
     'nri_arena_text2(arena, "-", cleared ? 1 : 0,', 'nri_arena_text2(arena, "-", cleared ? 0 : 0,'),
    ("hooks have the last plugin as owner", "owners_list.c",
     "    for (size_t i = 0; i < owners->hook_count; i++) {\n        const size_t size",
     "    for (size_t i = owners->hook_count - 1; i < owners->hook_count; i++) {\n        const size_t size"),
    ("a removal leaves what was collected", "merge_list.c",
     "    if (slot != NRI_NO_SLOT)\n        nri_slots_drop(list_of(merge, rule), slot);",
     "    if (slot == NRI_NO_SLOT)\n        nri_slots_drop(list_of(merge, rule), 0);"),
    ("a removal of a mount is not forwarded", "merge_list.c", "rule->field == NRI_FIELD_MOUNTS ||",
     "rule->field == NRI_FIELD_NONE ||"),
    ("a removal is forwarded beside what is set instead", "merge_list.c",
     "if (!instead && !forward(", "if (!forward("),
    ("a removal in a map keeps its value", "merge_list.c",
     "        item = blank(merge, item);\n", ""),
    ("a removal in a map clears no owner", "merge_list.c",
     "if (removed_in(merge, rule, key, items) && !clear(merge, rule, key))",
     "if (removed_in(merge, rule, key, items) && merge == NULL)"),
    ("an empty first argument stays", "merge_create.c", "merge->adjust.args = adjust->args + skip;\n"
     "        merge->adjust.n_args = adjust->n_args - skip;",
     "merge->adjust.args = adjust->args;\n        merge->adjust.n_args = adjust->n_args;"),
    ("a set value does not undo the removal of RDT", "merge_create.c",
     "            merge->rdt.remove = false;", "            merge->rdt.remove = merge->rdt.remove;"),
    ("hooks of one stage are lost", "merge_create.c",
     "stage < NRI_HOOK_STAGES; stage++) {\n        void *const *items", "stage + 1 < NRI_HOOK_STAGES; stage++) {\n        void *const *items"),
    ("two memory limits are confused", "rule.c", "MEMORY(SWAP_LIMIT, swap)", "MEMORY(SWAP_LIMIT, kernel)"),
    ("a CPU period is owned as the quota", "rule.c", "CPU(MESSAGE, CPU_PERIOD, period)",
     "CPU(MESSAGE, CPU_QUOTA, period)"),
    ("an update may always fail when one may", "merge_update.c",
     "(*found)->ignore_failure && message->ignore_failure",
     "(*found)->ignore_failure || message->ignore_failure"),
    ("an ignored conflict fails the request", "merge_update.c",
     "if ((code == NRI_E_CONFLICT || code == NRI_E_UNSUPPORTED) && message->ignore_failure)",
     "if ((code == NRI_E_CONFLICT || code == NRI_E_UNSUPPORTED) && message == NULL)"),
    ("the container that is created may be updated", "merge_update.c",
     "merge->event == NRI_EVENT_CREATE_CONTAINER && is_requested",
     "merge->event == NRI_EVENT_STOP_CONTAINER && is_requested"),
    ("the requested container's update is not the last", "merge_result.c",
     "    if (merge->own != NULL)\n        (*list)[(*count)++] = &merge->own->message;",
     "    if (merge->own != NULL && *count > 0) {\n        (*list)[*count] = (*list)[0];\n"
     "        (*list)[0] = &merge->own->message;\n        ++*count;\n    } else if (merge->own != NULL)\n"
     "        (*list)[(*count)++] = &merge->own->message;"),
    ("an update forgets what was asked for", "merge_update.c",
     "    if (base != NULL)\n        update->resources = *base;\n", ""),
    ("a variable that is set stays beside the old one", "visible.c",
     "if (rule->list != NRI_LIST_ENV)\n        return nri_key_of(item);",
     "if (rule->list == NRI_LIST_ENV)\n        return nri_key_from(item);\n"
     "    if (rule->list != NRI_LIST_ENV)\n        return nri_key_of(item);"),
    ("later plugins do not see hooks", "visible.c",
     "        return show_hooks(merge, copy, value);", "        return show_hooks != NULL;"),
    ("later plugins see what was removed", "visible.c", "    return mark || counts(edit, key, item);",
     "    return !mark && counts(edit, key, item);"),
]


def main():
    split = sys.argv.index("--")
    lib, out, scenarios, results, skip = sys.argv[1:split]
    skipped = set(pathlib.Path(skip).read_text().split())
    missed = 0
    for number, (what, name, old, new) in enumerate(FAULTS, 1):
        text = pathlib.Path(lib, name).read_text()
        if text.count(old) != 1:
            print(f"fault {number} ({what}): its text stands {text.count(old)} times in {name}")
            missed += 1
            continue
        faulty = pathlib.Path(out).parent / f"fault{number}_{name}"
        faulty.write_text(text.replace(old, new))
        command = [str(faulty) if word == "FAULTY" else word for word in sys.argv[split + 1:]]
        subprocess.run(command + ["-o", out], check=True)
        done = subprocess.run([out, "compare", scenarios, results], capture_output=True, text=True, timeout=120)
        seen = set(done.stdout.split()) - skipped
        print(f"fault {number}: {what}: {'%d scenarios' % len(seen) if seen else 'NOT DETECTED'}", flush=True)
        missed += not seen
        faulty.unlink()
    print(f"{len(FAULTS) - missed} of {len(FAULTS)} faults detected")
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())
