# The lab's address ranges. All lie in 198.18.0.0/15, which RFC 2544 sets aside for benchmarks,
# so that no lab collides with a site's own networks.
{ lib, ... }:
let
  inherit (lib) mkOption types;
in
{
  options.network = {
    podCidr = mkOption {
      type = types.ipv4Network;
      default = "198.18.0.0/16";
      example = "198.18.0.0/17";
      description = "The network that pods take their addresses from; each node is given a /24 of it.";
    };

    serviceCidr = mkOption {
      type = types.ipv4Network;
      default = "198.19.64.0/18";
      example = "198.19.0.0/18";
      description = "The network that Kubernetes services take their addresses from.";
    };

    nodeCidr = mkOption {
      type = types.ipv4Network;
      default = "198.19.200.0/24";
      example = "198.19.210.0/24";
      description = "The network between the nodes; the control plane has its first address.";
    };

    dnsAddress = mkOption {
      type = types.ipv4Address;
      default = "198.19.64.10";
      example = "198.19.64.53";
      description = "The service address of the cluster's DNS server; it lies in network.serviceCidr.";
    };
  };
}
