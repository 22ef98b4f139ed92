/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One change of one document, for the files of this room, one noun a file.
 *
 * The first failure sticks: what is called after it does nothing, and gives NULL. So a noun may
 * make and set one thing after another, and only apply.c looks whether it all went well. Values are
 * made in the document's arena. null in a document is the same as absent, as it is for the programs
 * that write such files.
 */
#ifndef NRI_OCI_EDIT_H
#define NRI_OCI_EDIT_H

#include <nri/oci.h>

#include "base/host.h"
#include "model/json_message.h"
#include "model/model.h"

#define NRI_OCI_MESSAGE(type) Nri__Pkg__Api__V1alpha1__##type

struct nri_oci_settings {
    struct nri_oci_options options; /* the caller's; `text` has its `json` */
    struct nri_json_settings text;
    struct nri_json_limits limits;
    nri_host_propagation look; /* when the options have none; NULL: nothing is looked at */
    void *look_context;
};

struct nri_oci_edit {
    struct nri_json_source source; /* the document's arena, its name, and the error */
    const struct nri_oci_settings *settings;
    const char *message; /* what is applied, in errors: ContainerAdjustment */
    struct nri_json *root;
    int failure;
};

static inline bool nri_oci_go(const struct nri_oci_edit *edit)
{
    return edit->settings->options.go_compatible != 0;
}

/* ---- where a member stands in the document ---- */

extern const struct nri_json_place nri_oci_process, nri_oci_linux, nri_oci_resources;
/* A member of one of these: NRI_OCI_PLACE(env, process, "env"). */
#define NRI_OCI_PLACE(noun, in, member)                                                            \
    static const struct nri_json_place noun##_place = {.parent = &nri_oci_##in, .name = (member)}

/* The member of that type; NULL when there is none, or on a failure: a wrong type, here or on the
 * way. */
struct nri_json *nri_oci_find(struct nri_oci_edit *edit, const struct nri_json_place *place,
                              enum nri_json_type type);
/* The same, made empty when it is not there, with all that encloses it. NULL: failed. */
struct nri_json *nri_oci_make(struct nri_oci_edit *edit, const struct nri_json_place *place,
                              enum nri_json_type type);
/* Sets the member, in what encloses it, which is made where it is not there. */
void nri_oci_put(struct nri_oci_edit *edit, const struct nri_json_place *place,
                 struct nri_json *value);
/* Removes the member, when it and all that encloses it is there. */
void nri_oci_drop(struct nri_oci_edit *edit, const struct nri_json_place *place);

/* ---- values ---- */

void nri_oci_set(struct nri_oci_edit *edit, struct nri_json *object, const char *key,
                 struct nri_json *value);
void nri_oci_append(struct nri_oci_edit *edit, struct nri_json *array, struct nri_json *value);
struct nri_json *nri_oci_new(struct nri_oci_edit *edit, enum nri_json_type type);
struct nri_json *nri_oci_int64(struct nri_oci_edit *edit, int64_t number);
struct nri_json *nri_oci_uint64(struct nri_oci_edit *edit, uint64_t number);
struct nri_json *nri_oci_bool(struct nri_oci_edit *edit, bool boolean);

/* A place in what is applied: linux.devices[3].path. */
struct nri_oci_where {
    const char *field;
    size_t index;       /* NRI_JSON_WHOLE: no list */
    const char *member; /* NULL: the whole element */
};
#define NRI_OCI_WHOLE(name) (&(const struct nri_oci_where){(name), NRI_JSON_WHOLE, NULL})
#define NRI_OCI_ELEMENT(name, index, member)                                                       \
    (&(const struct nri_oci_where){(name), (index), (member)})

/* A text of a message: UTF-8 without NUL, else the edit fails. */
struct nri_json *nri_oci_text(struct nri_oci_edit *edit, const struct nri_oci_where *where,
                              const char *text);
/* The same for bytes that were made of such texts. */
struct nri_json *nri_oci_bytes(struct nri_oci_edit *edit, const struct nri_oci_where *where,
                               const char *bytes, size_t length);
/* Sets a text, which is left out when it is empty. */
void nri_oci_set_text(struct nri_oci_edit *edit, struct nri_json *object, const char *key,
                      const struct nri_oci_where *where, const char *text);
struct nri_json *nri_oci_texts(struct nri_oci_edit *edit, const struct nri_oci_where *where,
                               char *const *texts, size_t count);
/* The name of an enum's number, else the edit fails; Go has "" for a number without one. */
struct nri_json *nri_oci_name(struct nri_oci_edit *edit, const struct nri_oci_where *where,
                              const ProtobufCEnumDescriptor *type, int number);
/* Whether a text is UTF-8 without NUL and not empty; else the edit fails. */
bool nri_oci_is_key(struct nri_oci_edit *edit, const struct nri_oci_where *where, const char *text);

/* Room in the document's arena; NULL: failed. */
void *nri_oci_alloc(struct nri_oci_edit *edit, size_t count, size_t size);

/* ---- failures ---- */

/* Of what is applied: "ContainerAdjustment.linux.devices[3].path: ...". */
void nri_oci_fail(struct nri_oci_edit *edit, int code, const struct nri_oci_where *where,
                  const char *format, ...) __attribute__((format(printf, 4, 5)));
/* Of the document, with its place. */
void nri_oci_blame(struct nri_oci_edit *edit, const struct nri_json_place *place,
                   const struct nri_json *value, int code, const char *format, ...)
    __attribute__((format(printf, 5, 6)));
/* When a value is not of a type: "must be a list, found a text". */
bool nri_oci_expect(struct nri_oci_edit *edit, const struct nri_json_place *place,
                    const struct nri_json *value, enum nri_json_type type);
/* The arena has failed. */
void nri_oci_no_memory(struct nri_oci_edit *edit);

#endif
