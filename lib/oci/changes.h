/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What an adjustment wants of the keys of one list: each is set or removed, and one that is both is
 * set, so that removals come first whatever their order. A later setting of a key replaces an
 * earlier one. Applying takes a step for each element of the document and for each change.
 */
#ifndef NRI_OCI_CHANGES_H
#define NRI_OCI_CHANGES_H

#include "base/map.h"
#include "oci/edit.h"

struct nri_oci_change {
    const char *key; /* NUL-terminated, without a removal marker */
    size_t length;
    size_t index; /* of the message's entry that sets it */
    bool set, placed;
    bool met; /* an element of the document has the key */
};

struct nri_oci_changes {
    struct nri_oci_edit *edit;
    struct nri_map map;
    struct nri_oci_change *list; /* in the order in which keys came up */
    size_t count, sets;
};

/* For at most so many changes. The memory is the document's. */
void nri_oci_changes_init(struct nri_oci_changes *changes, struct nri_oci_edit *edit, size_t most);
void nri_oci_changes_add(struct nri_oci_changes *changes, const char *key, size_t length,
                         size_t index, bool removed);
/* A key of a message, of which one "-" in front says that it is removed: checked and added. */
void nri_oci_changes_add_marked(struct nri_oci_changes *changes, const struct nri_oci_where *where,
                                const char *text);
struct nri_oci_change *nri_oci_changes_find(const struct nri_oci_changes *changes, const char *key,
                                            size_t length);

/* How a list of the document is changed. */
struct nri_oci_list {
    const struct nri_json_place *place;
    const char *key; /* the member of an element that has its key; NULL: key_of() says it */
    bool at_end;     /* what is set goes to the end, also where its key was there */
    /* The key of an element; false when it has none, and stays. */
    bool (*key_of)(struct nri_oci_edit *edit, const struct nri_json_place *place,
                   const struct nri_json *element, const char **key, size_t *length);
    /* The element for what is set: a new one, or `old`, which has its key, changed. */
    struct nri_json *(*make)(struct nri_oci_edit *edit, const void *context, size_t index,
                             struct nri_json *old);
    /* Is told of each element that goes; may be NULL. */
    void (*gone)(struct nri_oci_edit *edit, void *state, const struct nri_json *element);
    const void *context;
    void *state;
};
void nri_oci_changes_apply(struct nri_oci_changes *changes, const struct nri_oci_list *list);

/* How an object of the document is changed, whose members are the keys. */
void nri_oci_changes_apply_members(struct nri_oci_changes *changes,
                                   const struct nri_json_place *place,
                                   struct nri_json *(*make)(struct nri_oci_edit *edit,
                                                            const void *context, size_t index),
                                   const void *context);

/* The text of a member of an element, whose type is checked; false when it is absent. */
bool nri_oci_element_text(struct nri_oci_edit *edit, const struct nri_json_place *place,
                          const struct nri_json *element, const char *name, const char **text,
                          size_t *length);

#endif
