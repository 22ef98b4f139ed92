/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reading an object of the OCI runtime spec into a message of NRI's: a table says which member
 * becomes which field, and the field's descriptor says how. Members that are in no table are not
 * looked at, because OCI grows; null is the same as absent, as it is for the programs that write
 * such files.
 */
#ifndef NRI_MODEL_OCI_READ_H
#define NRI_MODEL_OCI_READ_H

#include "model/json_message.h"
#include "proto/nri.pb-c.h"

struct nri_oci_object;

enum nri_oci_how {
    NRI_OCI_PLAIN,
    NRI_OCI_PART,  /* the message holds more than this object: none is made when nothing is given */
    NRI_OCI_LINES, /* a text whose lines are put in front of those of the field, which is an
                      OptionalRepeatedString; never written */
    NRI_OCI_ALWAYS /* written when it is 0, too: OCI does not let it be absent */
};

struct nri_oci_member {
    const char *key;                     /* OCI's name */
    const char *field;                   /* NRI's name; NULL: the value's own members are fields */
    const struct nri_oci_object *object; /* of a message that is no wrapper: its members */
    enum nri_oci_how how;
};

struct nri_oci_object {
    const struct nri_oci_member *members;
    size_t count;
};

/* Fills a message of an object, which may not be any other value, and stands at `place`; NULL is
 * the whole document. Texts are shared with the document. 0, NRI_E_SYNTAX, NRI_E_RANGE,
 * NRI_E_NOMEM, NRI_E_LIMIT. */
int nri_oci_read(const struct nri_json_source *source, const struct nri_json_place *place,
                 const struct nri_oci_object *object, const struct nri_json *value,
                 ProtobufCMessage *message);

/* The whole configuration (oci_container.c). */
extern const struct nri_oci_object nri_oci_config;

/* linux.resources (oci_container.c). */
int nri_oci_read_resources(const struct nri_json_source *source, const struct nri_json_place *place,
                           const struct nri_json *value,
                           Nri__Pkg__Api__V1alpha1__LinuxResources *message);

#endif
