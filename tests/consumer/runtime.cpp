// SPDX-License-Identifier: Apache-2.0
// As runtime.c, in C++17: the handles in unique_ptrs, operations that are lambdas, and the plugin
// over a socketpair on a thread of its own.
#include <nri/nri.h>

#include <iostream>
#include <memory>
#include <stdexcept>
#include <string>
#include <sys/socket.h>
#include <thread>

namespace {

struct closer {
    void operator()(nri_runtime *runtime) const
    {
        nri_runtime_close(runtime, nullptr, nullptr);
    }
    void operator()(nri_plugin *plugin) const
    {
        nri_plugin_close(plugin, nullptr, nullptr);
    }
    void operator()(nri_pod *pod) const
    {
        nri_pod_free(pod);
    }
    void operator()(nri_container *container) const
    {
        nri_container_free(container);
    }
    void operator()(char *json) const
    {
        nri_json_free(json);
    }
};
template <typename T> using owned = std::unique_ptr<T, closer>;

void check(int code, const char *what)
{
    if (code != NRI_OK)
        throw std::runtime_error(std::string(what) + ": " + nri_strerror(code));
}

struct manager {
    owned<nri_pod> pod;
    owned<nri_container> container;
    int connected = 0;
    std::string trouble = "nothing was created", merged;
};

void created(nri_runtime *runtime, nri_outcome *outcome, void *user)
{
    auto &self = *static_cast<manager *>(user);
    char *text = nullptr;
    self.trouble = nri_outcome_text(outcome);
    if (nri_adjustment_to_json(nri_outcome_adjustment(outcome), nullptr, &text, nullptr, nullptr) ==
        NRI_OK)
        self.merged = owned<char>(text).get();
    nri_runtime_stop(runtime);
}

nri_runtime_ops operations()
{
    nri_runtime_ops ops;
    nri_runtime_ops_init(&ops, sizeof ops);
    ops.enumerate = [](nri_runtime *, nri_enumeration *list, void *user) {
        return nri_enumeration_add_pod(list, static_cast<manager *>(user)->pod.get());
    };
    ops.plugin_connected = [](nri_runtime *runtime, nri_runtime_plugin *, void *user) {
        auto &self = *static_cast<manager *>(user);
        if (++self.connected < 2)
            return;
        nri_runtime_event event;
        nri_runtime_event_init(&event, sizeof event);
        event.event = NRI_EVENT_CREATE_CONTAINER;
        event.pod = self.pod.get();
        event.container = self.container.get();
        if (nri_runtime_call(runtime, &event, created, &self) != NRI_OK)
            nri_runtime_stop(runtime);
    };
    return ops;
}

nri_plugin_ops handlers()
{
    nri_plugin_ops ops;
    nri_plugin_ops_init(&ops, sizeof ops);
    ops.on_create_container = [](nri_request *request, void *user) {
        return nri_adjustment_add_env(nri_request_adjustment(request),
                                      static_cast<const char *>(user), "1");
    };
    return ops;
}

owned<nri_plugin> make_guest(int fd, char *variable)
{
    const nri_plugin_ops ops = handlers();
    nri_plugin_options options;
    nri_plugin_options_init(&options, sizeof options);
    options.name = "guest";
    options.index = "20";
    options.fd = fd;
    options.use_fd = 1;
    nri_plugin *plugin = nullptr;
    check(nri_plugin_new(&plugin, &ops, &options, variable, nullptr), "nri_plugin_new");
    return owned<nri_plugin>(plugin);
}

// What the plugins' answers are merged to.
std::string merge()
{
    char builtin_variable[] = "BUILTIN", guest_variable[] = "GUEST";
    manager self;
    nri_pod *pod = nullptr;
    nri_container *container = nullptr;
    check(nri_pod_new(&pod, nullptr), "nri_pod_new");
    self.pod.reset(pod);
    check(nri_container_new(&container, nullptr), "nri_container_new");
    self.container.reset(container);
    check(nri_pod_set_id(pod, "pod0"), "nri_pod_set_id");
    check(nri_container_set_id(container, "ctr0"), "nri_container_set_id");

    nri_runtime_options options;
    nri_runtime_options_init(&options, sizeof options);
    options.no_external = options.no_launch = 1;
    const nri_runtime_ops ops = operations();
    const nri_plugin_ops builtin = handlers();
    nri_runtime *made = nullptr;
    check(nri_runtime_new(&made, &ops, &options, &self, nullptr), "nri_runtime_new");
    owned<nri_runtime> runtime(made);
    check(nri_runtime_add_builtin(made, &builtin, "builtin", "10", nullptr, builtin_variable),
          "nri_runtime_add_builtin");

    int ends[2];
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0)
        throw std::runtime_error("socketpair");
    owned<nri_plugin> guest = make_guest(ends[0], guest_variable);
    // On the loop's thread, once it is started.
    auto attach = [](nri_runtime *runtime_, void *fd) {
        if (nri_runtime_attach_fd(runtime_, *static_cast<int *>(fd)) != NRI_OK)
            nri_runtime_stop(runtime_);
    };
    check(nri_runtime_post(made, attach, &ends[1]), "nri_runtime_post");
    std::thread thread([&guest] { (void)nri_plugin_run(guest.get()); });
    const int code = nri_runtime_run(made);
    nri_plugin_stop(guest.get());
    thread.join();
    check(code, "nri_runtime_run");
    if (!self.trouble.empty())
        throw std::runtime_error(self.trouble);
    return self.merged;
}

} // namespace

int main()
{
    try {
        const std::string merged = merge();
        if (merged != R"({"env":[{"key":"BUILTIN","value":"1"},{"key":"GUEST","value":"1"}]})")
            throw std::runtime_error("merged: " + merged);
    } catch (const std::exception &error) {
        std::cerr << "runtime: " << error.what() << "\n";
        return 1;
    }
    std::cout << "runtime: libnri " << nri_version() << "\n";
    return 0;
}
