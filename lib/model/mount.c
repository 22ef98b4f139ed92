/* SPDX-License-Identifier: Apache-2.0 */
#include "model/model.h"
#include "model/reader.h"

typedef Nri__Pkg__Api__V1alpha1__Mount mount_message;

static const mount_message empty_mount = NRI__PKG__API__V1ALPHA1__MOUNT__INIT;

static const mount_message *message_of(const nri_mount *mount)
{
    return mount != NULL ? (const void *)mount : &empty_mount;
}

const nri_mount *nri_mount_view(const mount_message *message)
{
    return (const void *)(message != NULL ? message : &empty_mount);
}

const char *nri_mount_destination(const nri_mount *mount)
{
    return nri_reader_text(message_of(mount)->destination);
}

const char *nri_mount_type(const nri_mount *mount)
{
    return nri_reader_text(message_of(mount)->type);
}

const char *nri_mount_source(const nri_mount *mount)
{
    return nri_reader_text(message_of(mount)->source);
}

size_t nri_mount_option_count(const nri_mount *mount)
{
    return message_of(mount)->n_options;
}

const char *nri_mount_option(const nri_mount *mount, size_t index)
{
    const mount_message *message = message_of(mount);
    return nri_reader_text_at(message->options, message->n_options, index);
}
