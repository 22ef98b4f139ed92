// SPDX-License-Identifier: Apache-2.0
// As consumer.c, in C++: the handle in a unique_ptr, a handler that is a lambda.
// consumer MISSING_SOCKET: the path must not exist.
#include <nri/nri.h>

#include <iostream>
#include <memory>
#include <stdexcept>
#include <string>

namespace {

struct close_plugin {
    void operator()(nri_plugin *plugin) const
    {
        nri_plugin_close(plugin, nullptr, nullptr);
    }
};
using plugin_ptr = std::unique_ptr<nri_plugin, close_plugin>;

plugin_ptr make_plugin(const std::string &index, const std::string &socket, int &created)
{
    nri_plugin_ops ops;
    nri_plugin_ops_init(&ops, sizeof ops);
    ops.on_create_container = [](nri_request *request, void *user) {
        ++*static_cast<int *>(user);
        return nri_adjustment_add_env(nri_request_adjustment(request), "HELLO", "nri");
    };

    nri_plugin_options options;
    nri_plugin_options_init(&options, sizeof options);
    options.name = "consumer";
    options.index = index.c_str();
    options.socket_path = socket.c_str();
    options.ignore_environment = 1;

    nri_plugin *plugin = nullptr;
    nri_error *error = nullptr;
    if (nri_plugin_new(&plugin, &ops, &options, &created, &error) != NRI_OK) {
        std::string text = nri_error_get_text(error);
        nri_error_free(error);
        throw std::invalid_argument(text);
    }
    return plugin_ptr(plugin);
}

bool refuses_bad_index(const std::string &socket)
{
    int created = 0;
    try {
        make_plugin("5", socket, created);
    } catch (const std::invalid_argument &error) {
        return *error.what() != '\0';
    }
    return false;
}

bool names_missing_socket(const std::string &socket)
{
    int created = 0;
    plugin_ptr plugin = make_plugin("10", socket, created);
    int code = nri_plugin_run(plugin.get());
    std::string text = nri_error_get_text(nri_plugin_last_error(plugin.get()));
    return code == NRI_E_NOT_FOUND && text.find(socket) != std::string::npos && created == 0 &&
           nri_plugin_user(plugin.get()) == &created;
}

} // namespace

int main(int argc, char **argv)
{
    if (argc != 2 || std::string(nri_version()) != NRI_VERSION_STRING)
        return 2;
    if (!refuses_bad_index(argv[1])) {
        std::cerr << "consumer: index \"5\" accepted\n";
        return 1;
    }
    if (!names_missing_socket(argv[1])) {
        std::cerr << "consumer: a missing socket is not reported as such\n";
        return 1;
    }
    std::cout << "consumer: libnri " << nri_version() << "\n";
    return 0;
}
