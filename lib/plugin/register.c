/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Registration: RegisterPlugin goes out, its reply and Configure come in, in any order, within one
 * time-out.
 *
 * The happy path: sent -> the reply; READY once Configure is answered too. Failure modes: refused
 * (NRI_E_REJECTED with the runtime's text), no such method (NRI_E_UNSUPPORTED: no NRI runtime), or
 * one of the two did not come in time (NRI_E_TIMEOUT, which names what is missing: whoever reads it
 * must not take it for the runtime's own doing).
 */
#include "plugin/internal.h"

#define METHOD_REGISTER_PLUGIN 0u /* in the service Runtime */

static void timed_out(struct nri_core *core)
{
    const char *missing = "sent no Configure";

    if (!core->registered)
        missing = core->configure_came ? "did not answer RegisterPlugin, though it sent Configure"
                                       : "did not answer RegisterPlugin and sent no Configure";
    else if (core->configure_came)
        missing = "waits for on_configure, which is not complete";
    nri_core_fail(core, NRI_E_TIMEOUT,
                  "registration with %s timed out after %llu ms: the runtime %s", core->config.peer,
                  (unsigned long long)(core->config.registration_timeout / NRI_MSEC), missing);
}

static void registered(void *user, const struct nri_rpc_result *result)
{
    struct nri_core *core = user;

    if (core->state != NRI_PLUGIN_REGISTERING)
        return; /* the connection is going */
    if (result->code == 0) {
        core->registered = true;
        nri_core_log(core, NRI_LOG_INFO, "registered with %s as %s-%s", core->config.peer,
                     core->config.index, core->config.name);
        nri_core_become_ready(core);
    } else if (result->grpc == NRI_GRPC_UNIMPLEMENTED) {
        nri_core_fail(core, NRI_E_UNSUPPORTED, "%s is no NRI runtime: %s", core->config.peer,
                      result->text);
    } else if (result->grpc != 0) {
        nri_core_fail(core, NRI_E_REJECTED, "%s refused to register %s-%s: %s", core->config.peer,
                      core->config.index, core->config.name, result->text);
    } else if (result->code == NRI_E_TIMEOUT) {
        timed_out(core);
    } else {
        nri_core_fail(core, result->code, "registration with %s: %s", core->config.peer,
                      result->text);
    }
}

int nri_register_send(struct nri_core *core, struct nri_error *error)
{
    Nri__Pkg__Api__V1alpha1__RegisterPluginRequest request;

    nri__pkg__api__v1alpha1__register_plugin_request__init(&request);
    /* Packing only reads. */
    request.plugin_name = (char *)(uintptr_t)core->config.name;
    request.plugin_idx = (char *)(uintptr_t)core->config.index;
    request.nri_version = (char *)(uintptr_t)core->own_version;
    return nri_rpc_invoke(core->rpc, METHOD_REGISTER_PLUGIN, &request.base, core->now,
                          core->config.registration_timeout, NULL, 0, registered, core, error);
}

void nri_register_check_deadline(struct nri_core *core)
{
    if (core->state == NRI_PLUGIN_REGISTERING && core->failure.code == 0 &&
        core->now >= core->registration_deadline)
        timed_out(core);
}
