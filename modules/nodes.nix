# The machines of the cluster; embedded, each is a network namespace with CPUs of its own.
{ lib, ... }:
let
  inherit (lib) mkOption types;

  node.options = {
    cpuWeight = mkOption {
      type = types.positiveInt;
      default = 1;
      example = 4;
      description = "The node's share of the machine's CPUs against the other nodes; every node gets at least one where there are enough.";
    };

    cpus = mkOption {
      type = types.nullOr (types.strMatching {
        pattern = "[0-9]+(-[0-9]+)?(,[0-9]+(-[0-9]+)?)*";
        description = "a list of CPUs as the kernel writes it";
        sample = "0-3,8";
      });
      default = null;
      example = "0-3,8";
      description = "The CPUs of the node, instead of a share by cpuWeight. No two nodes may have one in common.";
    };

    labels = mkOption {
      type = types.attrsOf types.str;
      default = { };
      example = { "example.org/disk" = "fast"; };
      description = "Labels of the Kubernetes node, beside those that the kubelet sets.";
    };
  };
in
{
  options.nodes = mkOption {
    type = types.attrsOf (types.submodule node);
    default = { };
    example = { fabric.cpuWeight = 4; client = { }; };
    description = "The nodes of the cluster by name.";
  };
}
