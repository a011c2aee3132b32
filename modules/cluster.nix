# The Kubernetes cluster that a lab stands on, and the programs it is made of.
{ lib, packages, ... }:
let
  inherit (lib) mkDefault mkOption types;

  # Programs by the folder they stand in.
  from = folder: names: builtins.listToAttrs (map (name: { inherit name; value = mkDefault "${folder}/${name}"; }) names);
in
{
  options.cluster = {
    provider = mkOption {
      type = types.enum [ "embedded" ];
      default = "embedded";
      example = "embedded";
      description = "Where the cluster comes from; embedded: Tare brings it up on this machine.";
    };

    kubernetesVersion = mkOption {
      type = types.strMatching { pattern = "[0-9]+[.][0-9]+[.][0-9]+"; description = "a version"; sample = "1.29.1"; };
      default = "1.29.1";
      example = "1.30.2";
      description = "The version of Kubernetes that packages.kubernetes holds, as reports state it.";
    };

    readyTimeoutSeconds = mkOption {
      type = types.positiveNumber;
      default = 60;
      example = 180;
      description = "How long every node may take to become Ready, in seconds.";
    };

    etcdFsync = mkOption {
      type = types.bool;
      default = false;
      example = true;
      description = "Whether etcd waits for the disk on every write. Off, a power cut can lose the cluster's state, which a lab never needs again.";
    };

    tools = mkOption {
      type = types.attrsOf types.path;
      default = { };
      defaultText = "the programs of Tare's own packages";
      example = { etcd = "/opt/etcd/bin/etcd"; };
      description = "The programs that the cluster is made of, name to absolute path. One can be replaced by itself.";
    };

    nodePath = mkOption {
      type = types.listOf types.path;
      default = [ ];
      defaultText = "the folders of Tare's own packages";
      example = [ "/opt/kata/bin" ];
      description = "More folders in the PATH of a node's daemons.";
    };
  };

  config.cluster = {
    tools =
      from "${packages.system}/usr/bin" [ "ip" "nsenter" "unshare" "mount" "umount" ]
      // from "${packages.busybox}/bin" [ "busybox" ]
      // from "${packages.etcd}/bin" [ "etcd" ]
      // from "${packages.kubernetes}/bin" [
        "kube-apiserver"
        "kube-controller-manager"
        "kube-proxy"
        "kube-scheduler"
        "kubectl"
        "kubelet"
      ]
      // from "${packages.containerd}/bin" [ "containerd" "containerd-shim-runc-v2" "ctr" ]
      // from "${packages.python}/bin" [ "python" ]
      // { cni = mkDefault "${packages.cni-plugins}/bin"; };

    # The system's folders hold both back ends of iptables; bring-up finds out which one the kernel has.
    nodePath = [
      "${packages.system}/usr/sbin"
      "${packages.system}/usr/bin"
      "${packages.busybox}/bin"
    ];
  };
}
