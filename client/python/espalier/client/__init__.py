"""The client: drives studies on a server, over gRPC. Loaded when it is first used; needs grpcio and protobuf, and nothing else."""
