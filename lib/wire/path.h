/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Where in a message something is wrong, such as CreateContainerRequest.container.env[3]: built
 * from the inside out, while the decoder or encoder returns from its recursion.
 */
#ifndef NRI_WIRE_PATH_H
#define NRI_WIRE_PATH_H

#include <protobuf-c/protobuf-c.h>

struct nri_path {
    char text[256];
    size_t start; /* the path is text[start..], NUL-terminated; what does not fit is missing in
                     front */
};

void nri_path_init(struct nri_path *path);
/* Puts a field in front, with the index of a repeated one. */
void nri_path_field(struct nri_path *path, const ProtobufCFieldDescriptor *field, size_t index);
/* Puts the outermost message's name in front; the result lives in the path. */
const char *nri_path_finish(struct nri_path *path, const ProtobufCMessageDescriptor *type);

#endif
