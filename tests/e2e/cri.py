# SPDX-License-Identifier: Apache-2.0
"""A client for every method of the CRI: keyword arguments in, a dict out, field names as in the CRI's api.proto."""

import sys

import grpc
from google.protobuf import json_format

sys.path.insert(0, "/cri")  # where mkroot.sh puts what protoc made of the CRI's api.proto
import cri_api_pb2  # noqa: E402

Error = grpc.RpcError


def _messages(descriptor):
    return getattr(cri_api_pb2, descriptor.name)


class Client:
    """client.RunPodSandbox(config={...}) calls the CRI method of that name."""

    def __init__(self, socket_path, patience):
        # A 1 MiB annotation comes back twice in a verbose status.
        options = [("grpc.max_receive_message_length", 64 << 20), ("grpc.max_send_message_length", 16 << 20)]
        self._channel = grpc.insecure_channel("unix:" + socket_path, options=options)
        self._patience = patience
        self._methods = {
            method.name: (service.full_name, method)
            for service in cri_api_pb2.DESCRIPTOR.services_by_name.values()
            for method in service.methods
        }

    def wait_ready(self):
        grpc.channel_ready_future(self._channel).result(timeout=self._patience)

    def close(self):
        self._channel.close()

    def __getattr__(self, name):
        if name.startswith("_") or name not in self._methods:
            raise AttributeError(name)
        service, method = self._methods[name]
        request_type = _messages(method.input_type)
        call = self._channel.unary_unary(
            "/%s/%s" % (service, name),
            request_serializer=request_type.SerializeToString,
            response_deserializer=_messages(method.output_type).FromString,
        )

        def invoke(**fields):
            reply = call(json_format.ParseDict(fields, request_type()), timeout=self._patience)
            return json_format.MessageToDict(reply, preserving_proto_field_name=True)

        return invoke
