/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file
 * All of libnri's public headers.
 */
#ifndef NRI_NRI_H
#define NRI_NRI_H

#include <nri/adjustment.h>
#include <nri/alloc.h>
#include <nri/api.h>
#include <nri/container.h>
#include <nri/error.h>
#include <nri/event.h>
#include <nri/feature.h>
#include <nri/field.h>
#include <nri/log.h>
#include <nri/plugin.h>
#include <nri/pod.h>
#include <nri/request.h>
#include <nri/resources.h>
#include <nri/text.h>
#include <nri/update.h>
#include <nri/version.h>

#endif
